package audit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/internal/scene/prose"
)

// Words counts words, for the length guard. Chinese and Japanese count by the
// character, as people who write them do; four characters of Thai, Lao, Khmer
// and Burmese are taken for a word.
func Words(s string) int {
	n, run := 0, 0
	for _, w := range tokens(s) {
		r, _ := utf8.DecodeRuneInString(w.text)
		if w.glyph && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			run++
			continue
		}
		n++
	}
	return n + (run+3)/4
}

// Paragraphs counts what blank lines part, or what line breaks part in a text
// without blank lines. A code block is one, and so are items in a row.
func Paragraphs(s string) int { return len(blocks(s)) }

// blocks returns the paragraphs of a text.
func blocks(s string) []string {
	var list []string
	var fence prose.Fence
	begin, at, code := -1, 0, false
	for line := range strings.Lines(s) {
		after, is := fence.Next(line)
		fence, code = after, code || is
		blank := strings.TrimSpace(line) == ""
		if begin >= 0 && blank && fence == "" {
			list, begin = append(list, s[begin:at]), -1
		} else if begin < 0 && !blank {
			begin = at
		}
		at += len(line)
	}
	if begin >= 0 {
		list = append(list, s[begin:])
	}
	if len(list) == 1 && !code {
		return lines(list[0])
	}
	return list
}

// lines returns the lines of a text, items in a row as one.
func lines(s string) []string {
	var list []string
	begin, at, item := 0, 0, false
	for line := range strings.Lines(s) {
		is := marker(strings.TrimSpace(line)) != strings.TrimSpace(line)
		if at > begin && !(is && item) {
			list, begin = append(list, s[begin:at]), at
		}
		item = is
		at += len(line)
	}
	return append(list, s[begin:])
}
