package scene

import "unicode/utf8"

// Tokens estimates how many tokens a text costs: a quarter of its characters,
// rounded, and at least one when there are any. Sizes, budgets and the prompt
// inspector count by it.
func Tokens(text string) int { return TokensOf(utf8.RuneCountInString(text)) }

// TokensOf is Tokens of a text with so many characters.
func TokensOf(chars int) int {
	if chars <= 0 {
		return 0
	}
	return max((chars+2)/4, 1)
}
