package term

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxOpen is how many bytes of a paragraph may wait for the end of an inline
// mark before they are shown as they are.
const maxOpen = 2048

// prose shows a paragraph while it is being written. It is cut into pieces at
// spaces (and between CJK letters) where no inline mark is open; a piece is
// rendered on its own and never changes any more. Where the cuts are depends
// on the text alone.
type prose struct {
	page  *page
	flow  *flow
	piece []byte // since the last cut
	last  rune   // last rune of piece, 0 when it is empty
	blank int    // spaces at the end of what was fed
}

// feed takes text of one line.
func (p *prose) feed(s string) {
	for _, r := range s {
		switch {
		case r == ' ' || r == '\t':
			p.blank++
			if len(p.piece) == 0 || p.closed() {
				p.cut()
				p.flow.gap()
				continue
			}
		case cjk(r) && cjk(p.last) && p.closed():
			p.cut()
			fallthrough
		default:
			p.blank = 0
		}
		p.piece = utf8.AppendRune(p.piece, r)
		p.last = r
	}
}

// newline ends a line inside the paragraph.
func (p *prose) newline() {
	body, backslash := strings.CutSuffix(string(p.piece), `\`)
	hard := p.blank >= 2 || backslash
	p.blank = 0
	if !p.closed() {
		p.piece = append(p.piece, '\n')
		p.last = '\n'
		return
	}
	if backslash {
		p.piece = []byte(body)
	}
	p.cut()
	if hard {
		p.flow.hard()
	} else {
		p.flow.gap()
	}
}

// end ends the paragraph.
func (p *prose) end() {
	p.cut()
	p.flow.end()
}

// cut renders the piece.
func (p *prose) cut() {
	if len(p.piece) == 0 {
		return
	}
	if !bytes.ContainsAny(p.piece, marks) {
		p.flow.text(string(p.piece), "")
	} else {
		src := append([]byte(nil), p.piece...)
		doc := p.page.parse(p.page.prose, src)
		for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
			p.page.inline(p.flow, n, src, "")
		}
	}
	p.piece, p.last = p.piece[:0], 0
}

const marks = "\\`*_~[]<>&!"

func (p *prose) closed() bool {
	return len(p.piece) > maxOpen || !bytes.ContainsAny(p.piece, marks) || closed(string(p.piece))
}

func cjk(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && unicode.IsLetter(r)
}

// closed tells whether a space after s cannot lie inside a code span, a link,
// an HTML tag or an emphasis that s began. It follows CommonMark closely and
// errs on the side of waiting.
func closed(s string) bool {
	var open []delimiter
	brackets := 0
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; c {
		case '\\':
			n = 2
		case '`':
			n = runLength(s[i:])
			end := codeEnd(s[i+n:], n)
			if end < 0 {
				return false
			}
			n += end
		case '<':
			if i+1 < len(s) && (isLetter(s[i+1]) || strings.IndexByte("/!?", s[i+1]) >= 0) {
				end := strings.IndexByte(s[i:], '>')
				if end < 0 {
					return false
				}
				n = end + 1
			}
		case '[':
			brackets++
		case ']':
			if brackets > 0 {
				brackets--
				end := targetEnd(s[i+1:])
				if end < 0 {
					return false
				}
				n += end
			}
		case '*', '_', '~':
			n = runLength(s[i:])
			open = delimit(open, s, i, n)
		}
		i += n
	}
	return brackets == 0 && len(open) == 0
}

type delimiter struct {
	char  byte
	count int
}

// delimit matches the run of delimiters at s[i:i+n] with the open ones.
func delimit(open []delimiter, s string, i, n int) []delimiter {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	if i == 0 {
		before = ' '
	}
	if i+n == len(s) {
		after = ' '
	}
	left := !unicode.IsSpace(after) && (!punct(after) || unicode.IsSpace(before) || punct(before))
	right := !unicode.IsSpace(before) && (!punct(before) || unicode.IsSpace(after) || punct(after))
	opens, closes := left, right
	if s[i] == '_' {
		opens, closes = left && (!right || punct(before)), right && (!left || punct(after))
	}
	count := n
	for j := len(open) - 1; closes && j >= 0 && count > 0; j-- {
		if open[j].char != s[i] {
			continue
		}
		use := min(count, open[j].count)
		count -= use
		open[j].count -= use
		open = open[:j+1]
		if open[j].count == 0 {
			open = open[:j]
		}
	}
	if opens && count > 0 {
		open = append(open, delimiter{s[i], count})
	}
	return open
}

func punct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func runLength(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// codeEnd is the offset behind the run of exactly n backticks in s, or -1.
func codeEnd(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		got := runLength(s[i:])
		i += got
		if got == n {
			return i
		}
	}
	return -1
}

// targetEnd is the length of the "(…)" or "[…]" that s begins with, 0 if it
// begins with neither, -1 if it has no end.
func targetEnd(s string) int {
	if s == "" || s[0] != '(' && s[0] != '[' {
		return 0
	}
	closer := byte(')')
	if s[0] == '[' {
		closer = ']'
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			depth++
		case closer:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
