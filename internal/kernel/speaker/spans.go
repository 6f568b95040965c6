package speaker

import (
	"slices"
	"strings"
)

// Span is the stretch text[Start:End].
type Span struct{ Start, End int }

// Spans returns, in order and without overlap, the stretches of text outside
// code and quoted lines: where mentions and file references may start. Code is
// a CommonMark fence (one of a list item too; unclosed it runs to the end of
// its container) or a backtick span; a quoted line starts with ">" after at
// most three spaces. Indented code without a fence is prose: people indent
// prose more often than code.
func Spans(text string) []Span {
	var spans []Span
	for _, p := range prose(text) {
		if !p.quoted {
			spans = append(spans, p.Span)
		}
	}
	return spans
}

// stretch is a Span of prose, quoted or not.
type stretch struct {
	Span
	quoted bool
}

// prose returns the stretches of text outside code.
func prose(text string) []stretch {
	s := &scanner{text: text}
	own := &block{scanner: s}
	var quote *block // of the quoted lines being read; nil between them
	for start := 0; start < len(text); {
		end, next := lineEnd(text, start)
		line := text[start:end]
		if n := quoteMarkers(line); n > 0 && !own.inFence(line) {
			own.endParagraph()
			if quote == nil {
				quote = &block{scanner: s, quoted: true}
			}
			quote.read(start+n, end, next)
		} else {
			if quote != nil {
				quote.endParagraph()
				quote = nil
			}
			own.read(start, end, next)
		}
		start = next
	}
	if quote != nil {
		quote.endParagraph()
	}
	own.endParagraph()
	return s.out
}

type scanner struct {
	text string
	out  []stretch
}

func (s *scanner) emit(start, end int, quoted bool) {
	if start >= end {
		return
	}
	if n := len(s.out); n > 0 && s.out[n-1].End == start && s.out[n-1].quoted == quoted {
		s.out[n-1].End = end
		return
	}
	s.out = append(s.out, stretch{Span{start, end}, quoted})
}

// block follows the block structure of consecutive lines, as far as it decides
// where code begins and ends.
type block struct {
	*scanner
	quoted    bool
	items     []int // columns where the content of the open list items begins
	fence     fence
	paragraph []Span // its lines so far; backtick spans do not leave it
}

// fence is an open code fence; n is 0 when there is none.
type fence struct {
	char byte
	n    int
	base int // content column of the list item that holds it
}

// inFence tells whether line belongs to the open fence. A line left of its
// list item has ended both.
func (b *block) inFence(line string) bool {
	if b.fence.n == 0 {
		return false
	}
	n, col := indent(line, 0)
	return n == len(line) || col >= b.fence.base
}

func (b *block) read(start, end, next int) {
	line := b.text[start:end]
	if b.inFence(line) {
		if b.fence.closedBy(line) {
			b.fence = fence{}
		}
		return
	}
	b.fence = fence{}
	at, col := indent(line, 0)
	if at == len(line) {
		b.endParagraph()
		b.emit(start, next, b.quoted)
		return
	}
	for len(b.items) > 0 && col < b.items[len(b.items)-1] {
		b.items = b.items[:len(b.items)-1]
	}
	for at < len(line) && col-b.base() <= 3 {
		rest := line[at:]
		if f, ok := opensFence(rest); ok {
			b.endParagraph()
			f.base = b.base()
			b.fence = f
			return
		}
		w := listMarker(rest)
		if w == 0 {
			if isHeading(rest) {
				b.endParagraph()
				b.paragraph = append(b.paragraph, Span{start, next})
				b.endParagraph()
				return
			}
			break
		}
		b.endParagraph()
		n, content := indent(rest[w:], col+w)
		item := content
		if item > col+w+4 || w+n == len(rest) {
			item = col + w + 1
		}
		b.items = append(b.items, item)
		at, col = at+w+n, content
	}
	b.paragraph = append(b.paragraph, Span{start, next})
}

func (b *block) base() int {
	if len(b.items) == 0 {
		return 0
	}
	return b.items[len(b.items)-1]
}

// endParagraph emits what lies outside the paragraph's backtick spans.
func (b *block) endParagraph() {
	runs := b.backtickRuns()
	code := 0 // where the last backtick span ends
	for _, line := range b.paragraph {
		i := max(line.Start, code)
		from := i
		for i < line.End {
			skip := strings.IndexAny(b.text[i:line.End], "\\`")
			if skip < 0 {
				break
			}
			i += skip
			if b.text[i] == '\\' {
				i = min(i+2, line.End) // whatever is escaped, no run begins there
				continue
			}
			n := runLength(b.text[i:line.End])
			i += n
			starts := runs[n]
			at, _ := slices.BinarySearch(starts, i)
			if at == len(starts) {
				continue // nothing closes it: literal text
			}
			b.emit(from, i-n, b.quoted)
			code = starts[at] + n
			i, from = code, code
		}
		b.emit(from, line.End, b.quoted)
	}
	b.paragraph = b.paragraph[:0]
}

// backtickRuns maps the lengths of the paragraph's backtick runs to where such
// runs start, in order. A lookup per run keeps hostile text from costing more
// than its length.
func (b *block) backtickRuns() map[int][]int {
	var runs map[int][]int
	for _, line := range b.paragraph {
		for i := line.Start; i < line.End; {
			skip := strings.IndexByte(b.text[i:line.End], '`')
			if skip < 0 {
				break
			}
			i += skip
			if runs == nil {
				runs = map[int][]int{}
			}
			n := runLength(b.text[i:line.End])
			runs[n] = append(runs[n], i)
			i += n
		}
	}
	return runs
}

// lineEnd returns where the line at start ends and where the next one begins.
// Lines end with LF, CRLF or CR.
func lineEnd(text string, start int) (end, next int) {
	n := strings.IndexAny(text[start:], "\r\n")
	if n < 0 {
		return len(text), len(text)
	}
	end = start + n
	if strings.HasPrefix(text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// indent returns how many bytes of blanks s starts with and the column after
// them when s begins at column col. Tabs stop at every fourth column.
func indent(s string, col int) (n, end int) {
	for n < len(s) && (s[n] == ' ' || s[n] == '\t') {
		if s[n] == '\t' {
			col += 4 - col%4
		} else {
			col++
		}
		n++
	}
	return n, col
}

// quoteMarkers returns the length of the ">" markers, nested ones too, that
// line starts with.
func quoteMarkers(line string) int {
	end := 0
	for {
		n, col := indent(line[end:], 0)
		if col > 3 || end+n == len(line) || line[end+n] != '>' {
			return end
		}
		end += n + 1
		if strings.HasPrefix(line[end:], " ") {
			end++
		}
	}
}

func opensFence(s string) (fence, bool) {
	n := runLength(s)
	if n < 3 || s[0] != '`' && s[0] != '~' {
		return fence{}, false
	}
	if s[0] == '`' && strings.Contains(s[n:], "`") {
		return fence{}, false
	}
	return fence{char: s[0], n: n}, true
}

func (f fence) closedBy(line string) bool {
	at, col := indent(line, 0)
	s := line[at:]
	if s == "" || col-f.base > 3 || s[0] != f.char {
		return false
	}
	n := runLength(s)
	return n >= f.n && strings.Trim(s[n:], " \t") == ""
}

// listMarker returns the length of the list marker that s starts with, or 0.
func listMarker(s string) int {
	n := 0
	for n < len(s) && n < 9 && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n == len(s) {
		return 0
	}
	if n == 0 && !strings.ContainsRune("-+*", rune(s[0])) || n > 0 && s[n] != '.' && s[n] != ')' {
		return 0
	}
	n++
	if n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

func isHeading(s string) bool {
	n := runLength(s)
	return s[0] == '#' && n <= 6 && (n == len(s) || s[n] == ' ' || s[n] == '\t')
}

// runLength returns how often the first byte of s is repeated at its start.
func runLength(s string) int {
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}
