// Package macro replaces the macros of cards, lore and messages: Inline when a
// text is stored, Stored when a stored text is sent, Resolve in all that is
// no message.
//
// A macro is {{name}} or {{name::argument::…}}; names count in any case and
// with space around them. What stands between two single backticks on a line
// is literal. A macro that is not known, or whose arguments make no sense,
// stays as it is written. Every text is read once from its start to its end:
// what a macro was replaced by is never read for macros again. The cost grows
// with the length of the text alone, however macros are nested.
package macro

import (
	"bytes"
	"strings"
	"time"
)

// Inline replaces the macros that need nothing but chance and the clock:
//
//	{{roll::NdM}}     the sum of N dice with M sides; N may be left out, +K or
//	                  -K may follow; N is 1 to 1000, M 1 to 1000000
//	{{random::a::b}}  one of the options, whose own macros are replaced; also
//	                  {{random:a,b}}
//	{{pick::a::b}}    the same
//	{{time}} {{date}} of now, in its zone, as 15:04 and 2006-01-02
//	{{trim}}          nothing, and no line ends around it either
//	{{// words}}      nothing
//
// dice returns a number from 0 to n-1. {{user}}, {{char}}, {{cast}} and
// {{description}} stay.
func Inline(text string, dice func(n int) int, now time.Time) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	p := inliner{text: text, ends: pairs(text), dice: dice, now: now}
	p.expand(0, len(text))
	return string(p.out)
}

// inliner is one run over a text.
type inliner struct {
	text string
	ends map[int]int // of a macro's first brace: where its closing braces begin
	dice func(n int) int
	now  time.Time
	out  []byte

	scope  *Scope         // nil for Inline
	stored bool           // names of the scope alone are known
	seen   map[string]int // macros that took dice, by their text
	most   int            // bytes; nothing is written beyond it. 0 is no bound
}

// expand writes text[i:end] with its macros replaced.
func (p *inliner) expand(i, end int) {
	for i < end {
		shut, ok := p.ends[i]
		if !ok {
			from := i
			i++
			for i < end && p.text[i] != '{' {
				i++
			}
			p.out = append(p.out, p.text[from:i]...)
			continue
		}
		trim, known := p.replace(i+2, shut)
		if !known {
			p.out = append(p.out, "{{"...)
			p.expand(i+2, shut)
			p.out = append(p.out, "}}"...)
		}
		i = shut + 2
		for trim && i < end && (p.text[i] == '\n' || p.text[i] == '\r') {
			i++
		}
	}
}

// replace writes what the macro text[i:end] stands for. It tells whether line
// ends behind it go, and whether the macro is known; if not, nothing is written.
func (p *inliner) replace(i, end int) (trim, known bool) {
	body := strings.TrimLeft(p.text[i:end], " \t\r\n")
	word := body[:letters(body)]
	rest := strings.TrimLeft(body[len(word):], " \t\r\n")
	name := strings.ToLower(word)
	if p.scope != nil && rest == "" && p.name(name) {
		return false, true
	}
	if p.stored {
		return false, false
	}
	if strings.HasPrefix(body, "//") {
		return false, true
	}
	at := end - len(rest)
	switch name {
	case "roll":
		return false, p.roll(i, end, rest)
	case "random", "pick":
		return false, p.pick(i, at, end)
	case "time":
		return false, rest == "" && p.write(p.now.Format("15:04"))
	case "date":
		return false, rest == "" && p.write(p.now.Format(time.DateOnly))
	case "trim":
		if rest != "" {
			return false, false
		}
		p.out = bytes.TrimRight(p.out, "\r\n")
		return true, true
	}
	return false, false
}

func (p *inliner) write(s string) bool {
	if p.most > 0 && len(p.out)+len(s) > p.most {
		return false
	}
	p.out = append(p.out, s...)
	return true
}

// pick writes one of the options in text[i:end] of the macro that begins at
// start.
func (p *inliner) pick(start, i, end int) bool {
	mark, trimmed := "::", false
	switch {
	case strings.HasPrefix(p.text[i:end], "::"):
		i += 2
	case strings.HasPrefix(p.text[i:end], ":"):
		i, mark, trimmed = i+1, ",", true
	default:
		return false
	}
	if !p.throw(start, end) {
		return false
	}
	options := p.split(i, end, mark)
	from, to := i, end
	if n := p.dice(len(options)); n >= 0 && n < len(options) {
		from, to = options[n][0], options[n][1]
	}
	if trimmed {
		s := p.text[from:to]
		from = to - len(strings.TrimLeft(s, " "))
		to = from + len(strings.TrimRight(p.text[from:to], " "))
	}
	p.expand(from, to)
	return true
}

// split cuts text[i:end] at the marks that stand in no inner macro and no
// literal span.
func (p *inliner) split(i, end int, mark string) [][2]int {
	var parts [][2]int
	from := i
	for i < end {
		switch shut, ok := p.ends[i]; {
		case ok:
			i = shut + 2
		case p.text[i] == '`':
			i += literal(p.text[i:end])
		case strings.HasPrefix(p.text[i:end], mark):
			parts = append(parts, [2]int{from, i})
			i += len(mark)
			from = i
		default:
			i++
		}
	}
	return append(parts, [2]int{from, end})
}

// letters is how many ASCII letters s begins with.
func letters(s string) int {
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return n
}
