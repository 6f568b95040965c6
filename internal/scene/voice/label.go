package voice

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much of what surrounds a name can belong to its label. Together with what
// is looked at behind it that is less than 32 characters.
const (
	maxIndent  = 3
	maxHashes  = 6
	maxMarks   = 4
	maxBlanks  = 2
	indents    = " \u00a0\u3000"
	blanks     = " \t\u00a0\u202f"
	openMarks  = "*_["
	closeMarks = "*_]"
	colons     = ":："
)

type answer int

const (
	no answer = iota
	yes
	maybe // more text decides
)

// name is a name as it stands in labels.
type name struct {
	text  string
	runes []rune
}

func newName(s string) name {
	s = strings.TrimSpace(s)
	return name{text: s, runes: []rune(s)}
}

// label tells whether s begins with a label of the name, and how long it is. A
// label is the name in any marks and with a colon in or behind them, or
// without a colon in bold or as a heading, when nothing else stands on the line:
//
//	Alice:  **Alice:**  **Alice**:  __Alice__:  [Alice]:  ### Alice
//
// While s is not final, yes and no hold for all that may follow.
func (n name) label(s string, final bool) (int, answer) {
	start := cursor{s: s, final: final}
	start.skip(indents, maxIndent)
	heading := start.heading()
	// A name may itself begin with marks, so each number of them is tried.
	for marks := 0; ; marks++ {
		c := start
		ok := n.marked(&c, s[start.at-marks:start.at], heading)
		if a := c.answer(ok); a != no {
			return c.at, a
		}
		if marks == maxMarks || start.skip(openMarks, 1) == 0 {
			return 0, start.answer(false)
		}
	}
}

// marked reads the name, what closes its marks, and the colon.
func (n name) marked(c *cursor, marks string, heading bool) bool {
	for _, want := range n.runes {
		if r, ok := c.next(); !ok || !same(r, want) {
			return false
		}
	}
	colon := c.colon()
	for i := len(marks) - 1; i >= 0; i-- {
		if c.skip(closeMarks[strings.IndexByte(openMarks, marks[i]):][:1], 1) == 0 {
			return false
		}
		colon = colon || c.colon()
	}
	alone := heading || strings.Contains(marks, "**") || strings.Contains(marks, "__")
	if heading || !colon && alone {
		return c.lineEnds()
	}
	return colon && c.speechFollows(n.runes[len(n.runes)-1])
}

// same compares without case.
func same(a, b rune) bool {
	if a == b {
		return true
	}
	for r := unicode.SimpleFold(a); r != a; r = unicode.SimpleFold(r) {
		if r == b {
			return true
		}
	}
	return false
}

// cursor reads s, and remembers when it wanted more of it.
type cursor struct {
	s     string
	at    int
	final bool
	short bool
}

func (c *cursor) answer(ok bool) answer {
	switch {
	case c.short:
		return maybe
	case ok:
		return yes
	}
	return no
}

func (c *cursor) peek() (rune, int, bool) {
	if c.at == len(c.s) || !c.final && !utf8.FullRuneInString(c.s[c.at:]) {
		c.short = c.short || !c.final
		return 0, 0, false
	}
	r, size := utf8.DecodeRuneInString(c.s[c.at:])
	return r, size, true
}

func (c *cursor) next() (rune, bool) {
	r, size, ok := c.peek()
	c.at += size
	return r, ok
}

// skip passes at most most characters of set, and returns how many.
func (c *cursor) skip(set string, most int) int {
	n := 0
	for n < most {
		r, size, ok := c.peek()
		if !ok || !strings.ContainsRune(set, r) {
			break
		}
		c.at += size
		n++
	}
	return n
}

// heading passes what makes a heading of a line.
func (c *cursor) heading() bool {
	from := c.at
	if c.skip("#", maxHashes) > 0 && c.skip(blanks, maxBlanks) > 0 {
		return true
	}
	c.at = from
	return false
}

// colon passes a colon, which in some languages stands after a blank.
func (c *cursor) colon() bool {
	from := c.at
	c.skip(blanks, maxBlanks)
	if c.skip(colons, 1) == 1 {
		return true
	}
	c.at = from
	return false
}

// lineEnds tells that nothing else stands on the line.
func (c *cursor) lineEnds() bool {
	from := c.at
	c.skip(blanks, maxBlanks)
	c.skip("\r", 1)
	r, _, ok := c.peek()
	c.at = from
	return !ok || r == '\n'
}

// speechFollows tells a label's colon from that of an address, a path in some
// language, or a time.
func (c *cursor) speechFollows(last rune) bool {
	r, _, ok := c.peek()
	return !ok || r != '/' && r != ':' && !(unicode.IsDigit(last) && unicode.IsDigit(r))
}
