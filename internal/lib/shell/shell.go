// Package shell writes words as a POSIX shell reads them, for commands that
// people copy out of our messages. Guaranteed: the shell reads a quoted text
// as exactly one word, and that word is the text. What no shell treats
// specially stays as it is, so that a plain word is easy to read.
package shell

import (
	"strings"
	"unicode"
)

// Quote returns s as one word. The empty text becomes two quotes.
func Quote(s string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
