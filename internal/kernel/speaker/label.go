package speaker

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unnamed is the label of a human without a name.
const unnamed = "user"

// maxLabel is how many characters of a human's name a label keeps.
const maxLabel = 64

// HumanLabel makes an author's name fit for a label: control characters, line
// breaks and square brackets become spaces, the ends are trimmed, at most 64
// characters stay. A name of which nothing is left is "user".
func HumanLabel(author string) string {
	label := strings.Map(func(r rune) rune {
		if r == '[' || r == ']' || unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(author, "\uFFFD"))
	label = strings.TrimSpace(label)
	if runes := []rune(label); len(runes) > maxLabel {
		label = strings.TrimSpace(string(runes[:maxLabel]))
	}
	if label == "" {
		return unnamed
	}
	return label
}

// EscapeLabels puts a backslash before the bracket of every line that begins
// like "[label]:" of one of the labels, so that text cannot pass for somebody
// else's. Case and blanks before the bracket are ignored, as a reader would.
func EscapeLabels(text string, labels []string) string {
	if !strings.Contains(text, "]:") {
		return text
	}
	var out strings.Builder
	from := 0
	for start := 0; start < len(text); {
		at, _ := indent(text[start:], 0)
		if at += start; beginsWithLabel(text[at:], labels) {
			out.WriteString(text[from:at])
			out.WriteByte('\\')
			from = at
		}
		// Every break that a reader may see as one, not only LF.
		n := strings.IndexAny(text[at:], "\n\r\v\f\u0085\u2028\u2029")
		if n < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at+n:])
		start = at + n + size
	}
	out.WriteString(text[from:])
	return out.String()
}

func beginsWithLabel(s string, labels []string) bool {
	if s == "" || s[0] != '[' {
		return false
	}
	// Labels hold neither brackets nor line breaks.
	end := strings.IndexAny(s, "]\r\n")
	if end < 0 || !strings.HasPrefix(s[end:], "]:") {
		return false
	}
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, s[1:end]) })
}
