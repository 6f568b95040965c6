package audit

import (
	"cmp"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/internal/scene"
)

// How large expressions of users may be, in steps of the matcher: one, and all
// of a bank. Time is the text's length times this at worst.
const (
	maxPattern  = 1000
	maxPatterns = 10_000
)

// banned finds sentences with a phrase of the bank. Literals match whole words
// without regard to case, kind of apostrophe and blanks.
func banned(t text, bank []scene.Phrase) []hit {
	found := make([][]string, len(t.sentences))
	mark := func(start int, phrase string) {
		i, ok := slices.BinarySearchFunc(t.sentences, start, func(s sentence, at int) int {
			switch {
			case s.end <= at:
				return -1
			case s.start > at:
				return 1
			}
			return 0
		})
		if ok && !slices.Contains(found[i], phrase) {
			found[i] = append(found[i], phrase)
		}
	}
	literals(t, bank, mark)
	for _, re := range patterns(bank) {
		for _, s := range t.sentences {
			if m := re.FindStringIndex(t.masked[s.start:s.end]); m != nil && m[0] < m[1] {
				mark(s.start+m[0], t.raw[s.start+m[0]:s.start+m[1]])
			}
		}
	}
	var hits []hit
	for i, s := range t.sentences {
		if len(found[i]) > 0 {
			hits = append(hits, hit{s.span, "banned: “" + strings.Join(found[i], "”, “") + "”"})
		}
	}
	return hits
}

// patterns compiles what RE2 can run in bounded time and leaves out the rest.
func patterns(bank []scene.Phrase) []*regexp.Regexp {
	var list []*regexp.Regexp
	left := maxPatterns
	for _, p := range bank {
		if p.Kind != scene.RegexPhrase || strings.TrimSpace(p.Pattern) == "" || len(p.Pattern) > maxPattern {
			continue
		}
		source := "(?i)" + p.Pattern
		tree, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			continue
		}
		weight := weigh(tree)
		if weight > min(maxPattern, left) {
			continue
		}
		if re, err := regexp.Compile(source); err == nil {
			left -= weight
			list = append(list, re)
		}
	}
	return list
}

// weigh counts the steps that an expression compiles to, repetitions multiplied
// out, up to a number that is too many.
func weigh(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	if re.Op == syntax.OpCharClass {
		n = 1 + len(re.Rune)/8
	}
	for _, sub := range re.Sub {
		n = min(n+weigh(sub), maxPattern+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, maxPattern+1)
}

// literal is a variant of a phrase in the form of flat.
type literal struct {
	text   string
	before int    // bytes before its first word
	shown  string // as the user wrote it
}

// literals finds variants by their first word, so that time does not grow with
// the bank. Variants without a word are looked up one by one.
func literals(t text, bank []scene.Phrase, mark func(start int, phrase string)) {
	index := map[string][]literal{}
	var odd []literal
	for _, p := range bank {
		if p.Kind == scene.RegexPhrase {
			continue
		}
		for _, v := range p.Variants {
			l := literal{text: flatten(strings.TrimSpace(v)).text, shown: strings.TrimSpace(v)}
			if l.text == "" {
				continue
			}
			key, at := firstWord(l.text)
			if l.before = at; key == "" {
				odd = append(odd, l)
				continue
			}
			index[key] = append(index[key], l)
		}
	}
	if len(index)+len(odd) == 0 {
		return
	}
	f := flatten(t.masked)
	for key, at := range f.keys() {
		for _, l := range index[key] {
			if at >= l.before && strings.HasPrefix(f.text[at-l.before:], l.text) && f.ends(at-l.before+len(l.text)) {
				mark(f.origin(at), l.shown)
			}
		}
	}
	for _, l := range odd {
		for from := 0; ; {
			i := strings.Index(f.text[from:], l.text)
			if i < 0 {
				break
			}
			mark(f.origin(from+i), l.shown)
			from += i + len(l.text)
		}
	}
}

// flat is a text without case, with one kind of apostrophe and quote, and with
// one blank for many.
type flat struct {
	text  string
	marks []span // places in text (start) and in the source (end), where they part
}

func flatten(s string) flat {
	var b strings.Builder
	var f flat
	blank := false
	shift := 0
	for i, r := range s {
		if unicode.IsSpace(r) {
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		}
		blank = false
		if i-b.Len() != shift {
			shift = i - b.Len()
			f.marks = append(f.marks, span{b.Len(), i})
		}
		switch r {
		case '’', '‘':
			r = '\''
		case '“', '”':
			r = '"'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	f.text = b.String()
	return f
}

// origin is where in the source a place of the text is.
func (f flat) origin(at int) int {
	i, exact := slices.BinarySearchFunc(f.marks, at, func(m span, at int) int { return cmp.Compare(m.start, at) })
	if !exact {
		i--
	}
	if i < 0 {
		return at
	}
	return f.marks[i].end + at - f.marks[i].start
}

// keys yields each place where a phrase can begin: words, and characters of
// scripts in which a phrase may stand within a word.
func (f flat) keys() func(yield func(string, int) bool) {
	return func(yield func(string, int) bool) {
		for _, w := range tokens(f.text) {
			if !dense(w.text) {
				if !yield(w.text, w.start) {
					return
				}
				continue
			}
			for i, r := range w.text {
				if !yield(string(r), w.start+i) {
					return
				}
			}
		}
	}
}

// firstWord is the key under which a phrase is found, and where it stands.
func firstWord(s string) (string, int) {
	for key, at := range (flat{text: s}).keys() {
		return key, at
	}
	return "", 0
}

// ends tells whether a phrase may end here: not within a word.
func (f flat) ends(at int) bool {
	last, _ := utf8.DecodeLastRuneInString(f.text[:at])
	next, _ := utf8.DecodeRuneInString(f.text[at:])
	if dense(string(last)) || !wordly(last) {
		return true
	}
	return !wordly(next) && !unicode.Is(unicode.M, next) || glyph(next)
}

// dense tells the scripts in which words run together or take endings.
func dense(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return glyph(r) || unicode.Is(unicode.Hangul, r)
}
