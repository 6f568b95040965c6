package audit

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"

	"jp/internal/scene/prose"
)

// text is a draft made ready: masked is raw with a NUL for every byte of code
// and addresses, so that places are the same in both.
type text struct {
	raw, masked string
	words       []word
	sentences   []sentence
}

// word is a word without case, or one character of a script without blanks
// between its words.
type word struct {
	span
	text   string
	glyph  bool
	joined bool // to the word before, by nothing but blanks
}

// sentence is a sentence without the marks and blanks around it.
type sentence struct {
	span
	words  []word
	speech bool // it begins in quotes
	item   bool // of a list, a table or a quoted block, or a heading
}

func read(raw string) text {
	t := text{raw: raw, masked: mask(raw)}
	t.words = tokens(t.masked)
	speech, at := spoken(t.masked), 0
	for _, s := range split(t.masked) {
		from := sort.Search(len(t.words), func(i int) bool { return t.words[i].start >= s.start })
		to := from + sort.Search(len(t.words)-from, func(i int) bool { return t.words[from+i].start >= s.end })
		if s.words = t.words[from:to]; !sayable(s.words) {
			continue
		}
		for at < len(speech) && speech[at].end <= s.words[0].start {
			at++
		}
		s.speech = at < len(speech) && speech[at].start < s.words[0].start
		t.sentences = append(t.sentences, s)
	}
	return t
}

// sayable tells whether there is more than numbers.
func sayable(words []word) bool {
	for _, w := range words {
		if r, _ := utf8.DecodeRuneInString(w.text); !unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

// split cuts a masked text into sentences. One never goes over a line's end.
func split(masked string) []sentence {
	var list []span
	from, joins := 0, false
	for it := sentences.FromString(masked); it.Next(); {
		// A quote that opens without a blank before it is of the next sentence.
		end := from + len(strings.TrimRight(masked[from:it.End()], "“„«「『"))
		if joins {
			list[len(list)-1].end = end
		} else {
			list = append(list, span{from, end})
		}
		joins = abbreviation(strings.TrimRight(masked[from:end], " "))
		from = end
	}
	var kept []sentence
	for _, s := range list {
		if start, body, item := core(masked, s); body != "" {
			kept = append(kept, sentence{span: span{start, start + len(body)}, item: item})
		}
	}
	return kept
}

// abbreviation tells whether s ends in one that a name follows, or is the
// number of an item.
func abbreviation(s string) bool {
	s, ok := strings.CutSuffix(s, ".")
	if !ok || strings.Trim(s, "0123456789 ") == "" {
		return ok
	}
	switch strings.ToLower(s[strings.LastIndexAny(s, " \t\"“(*_\x00")+1:]) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "hr", "sr", "sra", "sig", "mme", "г", "св":
		return true
	}
	return false
}

// core returns a sentence without what is around it: blanks, what makes the
// line an item, and marks of Markdown that do not close within.
func core(masked string, s span) (start int, body string, item bool) {
	body = strings.TrimRight(masked[s.start:s.end], " \t\r\n\x00\u00a0\u3000")
	end := s.start + len(body)
	body = strings.TrimLeft(body, " \t\x00\u00a0\u3000")
	if s.start == 0 || masked[s.start-1] == '\n' {
		rest := marker(body)
		item, body = rest != body, rest
	}
	for _, mark := range []string{"*", "_"} {
		if rest := strings.TrimLeft(body, mark); rest != body && !strings.Contains(rest, mark) {
			body = strings.TrimLeft(rest, " ")
		} else if rest := strings.TrimRight(body, mark); rest != body && !strings.Contains(rest, mark) {
			end -= len(body) - len(strings.TrimRight(rest, " "))
			body = strings.TrimRight(rest, " ")
		}
	}
	return end - len(body), body, item
}

// marker cuts what makes a line an item of a list, a heading, a quoted block or
// a row of a table.
func marker(line string) string {
	rest := strings.TrimLeft(line, "#>|-+*")
	if rest == line {
		if digits := strings.TrimLeft(line, "0123456789"); digits != line && strings.HasPrefix(digits, ".") {
			rest = digits[1:]
		}
	}
	if core := strings.TrimLeft(rest, " \t"); core != rest && rest != line {
		return core
	}
	return line
}

// tokens returns the words of a masked text.
func tokens(masked string) []word {
	list := make([]word, 0, len(masked)/5)
	from := 0
	for at := 0; at < len(masked); {
		r, size := utf8.DecodeRuneInString(masked[at:])
		if !wordly(r) {
			at += size
			continue
		}
		w := word{span: span{at, at + size}, glyph: glyph(r)}
		for at += size; at < len(masked); at += size {
			r, size = utf8.DecodeRuneInString(masked[at:])
			if !continues(w, r, masked[at+size:]) {
				break
			}
			w.end = at + size
		}
		w.text = fold(masked[w.start:w.end])
		w.joined = len(list) > 0 && strings.Trim(masked[from:w.start], " \u00a0") == ""
		from = w.end
		list = append(list, w)
	}
	return list
}

// continues tells whether r is still of the word, with next behind it.
func continues(w word, r rune, next string) bool {
	switch {
	case unicode.Is(unicode.M, r):
		return true
	case w.glyph:
		return false
	case r == '\'' || r == '’' || r == '.' || r == ',':
		after, _ := utf8.DecodeRuneInString(next)
		if r == '.' || r == ',' {
			return unicode.IsDigit(after) && w.end > w.start
		}
		return unicode.IsLetter(after) && !glyph(after)
	}
	return wordly(r) && !glyph(r)
}

func wordly(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == 'ー'
}

// glyph tells the scripts that put no blanks between words.
func glyph(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー')
}

// fold takes the differences away that do not matter for what a word is.
func fold(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "’", "'")
}

// spoken returns the stretches in quotes. What is not closed ends with its
// paragraph.
func spoken(masked string) []span {
	var list []span
	var closes string
	open, breaks := 0, 0
	for i, r := range masked {
		switch {
		case r == '\n':
			if breaks++; breaks == 2 && closes != "" {
				list, closes = append(list, span{open, i}), ""
			}
		case unicode.IsSpace(r):
			continue
		default:
			breaks = 0
		}
		if closes == "" {
			closes, open = prose.Closing(r), i
		} else if strings.ContainsRune(closes, r) {
			list, closes = append(list, span{open, i}), ""
		}
	}
	if closes != "" {
		list = append(list, span{open, len(masked)})
	}
	return list
}
