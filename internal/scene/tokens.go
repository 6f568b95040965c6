package scene

import "unicode/utf8"

// Tokens estimates how many tokens a text costs: a quarter of its characters,
// rounded, and at least one when there are any. Sizes, budgets and the prompt
// inspector count by it.
func Tokens(text string) int {
	n := utf8.RuneCountInString(text)
	if n == 0 {
		return 0
	}
	return max((n+2)/4, 1)
}
