// Package prose tells where in a text of the scene code blocks and quoted
// speech begin and end, line by line and rune by rune, so that whoever looks
// for voices and for faults leaves the same stretches alone.
package prose

import "strings"

// Fence is the marks that opened a code block; "" is outside of one.
type Fence string

// Next returns the fence behind a line, and whether the line is of a code
// block, whose first and last lines are the marks.
func (f Fence) Next(line string) (after Fence, code bool) {
	marks, rest := marked(line)
	switch {
	case f != "":
		if strings.HasPrefix(marks, string(f)) && strings.TrimSpace(rest) == "" {
			return "", true
		}
		return f, true
	case marks != "" && (marks[0] == '~' || !strings.Contains(rest, "`")):
		return Fence(marks), true
	}
	return "", false
}

// marked splits a line that can open or close a code block.
func marked(line string) (marks, rest string) {
	body := strings.TrimLeft(line, " ")
	if len(line)-len(body) > 3 || len(body) < 3 || body[0] != '`' && body[0] != '~' {
		return "", ""
	}
	rest = strings.TrimLeft(body, body[:1])
	if n := len(body) - len(rest); n >= 3 {
		return body[:n], rest
	}
	return "", ""
}

// Closing returns the runes of which each ends the speech that r opens, "" when
// r opens none.
func Closing(r rune) string {
	switch r {
	case '"', '”':
		return string(r)
	case '“':
		return "”"
	case '„':
		return "“”"
	case '«':
		return "»"
	case '»':
		return "«"
	case '「':
		return "」"
	case '『':
		return "』"
	}
	return ""
}
