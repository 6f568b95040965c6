package speaker

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions returns the names that a person's text mentions, in order, doubles
// included. A mention starts at the beginning of the text or after white space
// (Unicode's), outside code and quoted lines, and is "@" and the longest run
// of the identifier grammar. A name directly followed by "/", "@", or "." and
// a letter or digit is a path, a handle or a domain and no mention; any other
// character merely ends it. "\@name" is literal.
func Mentions(text string) []string {
	var found []string
	for _, s := range Spans(text) {
		for at := range ats(text, s) {
			if name, ok := mentionAt(text, at); ok {
				found = append(found, name)
			}
		}
	}
	return found
}

// ats yields where the "@" of a span are.
func ats(text string, s Span) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := s.Start; i < s.End; i++ {
			n := strings.IndexByte(text[i:s.End], '@')
			if n < 0 {
				return
			}
			i += n
			if !yield(i) {
				return
			}
		}
	}
}

// mentionAt reads the mention that begins with the "@" at at.
func mentionAt(text string, at int) (name string, ok bool) {
	name = ident(text[at+1:])
	if name == "" || !startsWord(text, at) {
		return "", false
	}
	switch rest := text[at+1+len(name):]; {
	case strings.HasPrefix(rest, "/"), strings.HasPrefix(rest, "@"):
		return "", false
	case strings.HasPrefix(rest, "."):
		if r, _ := utf8.DecodeRuneInString(rest[1:]); unicode.IsLetter(r) || unicode.IsDigit(r) {
			return "", false
		}
	}
	return name, true
}

// startsWord tells whether at is the beginning of text or follows white space.
func startsWord(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return at == 0 || unicode.IsSpace(r)
}

// NearMiss is an "@name" that looks as if it should have addressed somebody.
type NearMiss struct {
	Text string // as typed, from the "@"
	Name string // whom it resembles
}

// NearMisses returns every "@" and a known name, case ignored, that Mentions
// did not read as a mention of that name: "(@dev", "@Dev", "@dev/kit", one in
// a quoted line. Code, e-mail addresses and the deliberate "\@dev" are none.
// The same text is returned once.
func NearMisses(text string, known []string) []NearMiss {
	var found []NearMiss
	seen := map[NearMiss]bool{}
	for _, p := range prose(text) {
		for at := range ats(text, p.Span) {
			typed := ident(text[at+1:])
			name, ok := resembles(typed, known)
			if !ok || deliberate(text[:at]) || isEmail(text[:at]) {
				continue
			}
			if _, ok := mentionAt(text, at); ok && !p.quoted && typed == name {
				continue
			}
			miss := NearMiss{"@" + typed, name}
			if !seen[miss] {
				seen[miss] = true
				found = append(found, miss)
			}
		}
	}
	return found
}

func resembles(typed string, known []string) (string, bool) {
	if typed == "" {
		return "", false
	}
	if slices.Contains(known, typed) {
		return typed, true
	}
	for _, k := range known {
		if strings.EqualFold(k, typed) {
			return k, true
		}
	}
	return "", false
}

func deliberate(before string) bool { return strings.HasSuffix(before, `\`) }

// isEmail tells whether an "@" after before belongs to an e-mail address: it
// follows a letter or digit. Letters of scripts that are written without
// spaces do not count, "请@dev看" is no address.
func isEmail(before string) bool {
	r, n := utf8.DecodeLastRuneInString(before)
	if r == '_' {
		r, _ = utf8.DecodeLastRuneInString(before[:len(before)-n])
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Files returns the paths of the file references ("file:PATH") in what a person
// typed, in order, doubles included. A reference starts where a mention may start and runs to white space; trailing .,;:!?)'" are not part
// of it, but a last . or .. that is a folder's name is. The path is as typed
// and untrusted: it may be a glob, absolute, or lead anywhere.
func Files(text string) []string {
	const scheme = "file:"
	var found []string
	for _, s := range Spans(text) {
		for i := s.Start; i < s.End; {
			n := strings.Index(text[i:s.End], scheme)
			if n < 0 {
				break
			}
			start := i + n
			i = start + len(scheme)
			if !startsWord(text, start) {
				continue
			}
			path := text[i:]
			if end := strings.IndexFunc(path, unicode.IsSpace); end >= 0 {
				path = path[:end]
			}
			path = trimPath(path)
			if path != "" {
				found = append(found, path)
			}
			i += len(path)
		}
	}
	return found
}

// trimPath drops the punctuation behind a path.
func trimPath(path string) string {
	cut := strings.TrimRight(path, `.,;:!?)'"`)
	rest := path[len(cut):]
	dots := len(rest) - len(strings.TrimLeft(rest, "."))
	if (cut == "" || strings.HasSuffix(cut, "/")) && dots <= len("..") {
		return cut + rest[:dots]
	}
	return cut
}
