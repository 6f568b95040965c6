package macro

import "strings"

// pairs finds the macros of a text: from where one begins to where its closing
// braces begin. Of more than two braces in a row the last two open, the first
// two close. Braces in a literal span are text.
func pairs(text string) map[int]int {
	ends := map[int]int{}
	var open []int
	for i := 0; i < len(text); {
		switch {
		case text[i] == '`':
			i += literal(text[i:])
		case strings.HasPrefix(text[i:], "{{") && !strings.HasPrefix(text[i+2:], "{"):
			open = append(open, i)
			i += 2
		case strings.HasPrefix(text[i:], "}}") && len(open) > 0:
			last := len(open) - 1
			ends[open[last]] = i
			open = open[:last]
			i += 2
		default:
			i++
			for i < len(text) && text[i] != '`' && text[i] != '{' && text[i] != '}' {
				i++
			}
		}
	}
	return ends
}

// literal is the length of the literal span that s begins with, its two
// backticks counted. A run of more backticks, or a single one without a partner
// on its line, is only itself.
func literal(s string) int {
	run := ticks(s)
	if run != 1 {
		return run
	}
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		if s[i] != '`' {
			continue
		}
		if n := ticks(s[i:]); n == 1 {
			return i + 1
		} else {
			i += n - 1
		}
	}
	return run
}

// ticks is how many backticks s begins with.
func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }
