package lore

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// spell writes a text in the one spelling in which keys are looked for: any
// stretch of white space is one space, an apostrophe is straight, what nobody
// sees is not there, and case is folded if it does not count. Keys and texts
// go through it alike, so nobody needs to know where a match stood before.
func spell(text string, ignoreCase bool) string {
	text = visible(text)
	if !ignoreCase {
		return text
	}
	text = fold(text)
	// The dot that lower case in other languages leaves of İ.
	return strings.ReplaceAll(text, "i\u0307", "i")
}

// visible is what spell does beside case.
func visible(text string) string {
	if !slices.ContainsFunc([]byte(text), func(c byte) bool { return c < ' ' || c >= utf8.RuneSelf }) && !strings.Contains(text, "  ") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, r := range text {
		if r < utf8.RuneSelf && r > ' ' {
			b.WriteByte(byte(r))
			space = false
			continue
		}
		switch {
		case unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		case unseen(r):
			continue
		case r == '‘' || r == '’' || r == 'ʼ':
			b.WriteByte('\'')
		default:
			b.WriteRune(r)
		}
		space = false
	}
	return norm.NFC.String(b.String())
}

// unseen tells of runes that change a text for no reader: soft hyphens, places
// where a line may break, the choice between a sign and its picture.
func unseen(r rune) bool {
	return r == '\u00ad' || r == '\u200b' || r == '\u2060' || r == '\ufeff' || r >= '\ufe00' && r <= '\ufe0f'
}

// fold removes case rune by rune, so that the fold of a part is part of the
// fold.
func fold(text string) string {
	i := 0
	for i < len(text) && text[i] < utf8.RuneSelf && (text[i] < 'A' || text[i] > 'Z') {
		i++
	}
	if i == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	b.WriteString(text[:i])
	for _, r := range text[i:] {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteByte(byte(r) + 'a' - 'A')
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
		case r == 'İ' || r == 'ı':
			// Which i a text means depends on its language, which nobody knows.
			b.WriteByte('i')
		default:
			b.WriteRune(foldRune(r))
		}
	}
	return b.String()
}

// foldRune is the same for all runes that differ only in case: the least. The
// alphabets that are read most go without the tables.
func foldRune(r rune) rune {
	switch {
	case r >= 'а' && r <= 'я', r >= 'à' && r <= 'þ' && r != '÷':
		return r - ' '
	case r >= 'А' && r <= 'Я', r >= '\u2e80' && r <= '\ua48f':
		return r
	}
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	if least >= 'A' && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// isWhole tells whether text[start:end] stands for itself, as a word does.
func isWhole(text string, start, end int) bool {
	return isEdge(text, start) && isEdge(text, end)
}

// isEdge tells whether a word may begin or end at a place. In scripts that put
// no spaces between words, or glue particles to them, it may anywhere.
func isEdge(text string, at int) bool {
	if at == 0 || at == len(text) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	switch {
	case before == ' ' || after == ' ':
		return true
	case before == joiner || after == joiner:
		return false
	}
	return !inWord(before) || !inWord(after) || isUnspaced(before) || isUnspaced(after)
}

// joiner makes one picture of two.
const joiner = '\u200d'

// inWord tells which runes words are made of. An underscore is none: in chats
// it is emphasis.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

func isUnspaced(r rune) bool {
	return r >= '\u0e00' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
