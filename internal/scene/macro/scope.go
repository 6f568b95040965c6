package macro

import (
	"strings"
	"time"
)

// mostText bounds what Resolve and Stored make of a text, in bytes: a macro
// that would pass it stays, so that no card can fill the memory.
const mostText = 8 << 20

// Scope is what the macros of a text stand for. An empty User, Char or Cast is
// none: its macro stays as it is written.
type Scope struct {
	User, Char, Cast string
	// Description is put in place of {{description}}, its own macros replaced,
	// where a {{description}} in turn is nothing. An empty one is one, if
	// HasDescription is set.
	Description    string
	HasDescription bool
	// Original is the same for {{original}}: what a card's text replaces.
	Original    string
	HasOriginal bool
	Now         time.Time
	// Dice returns the dice of a macro: those of the nth occurrence, from 0,
	// of that text. A nil Dice leaves roll, random and pick.
	Dice func(text string, nth int) func(n int) int
}

// Resolve replaces {{user}}, {{char}}, {{cast}}, {{description}}, {{original}}
// and all that Inline does. What stands in place of a macro is not read again,
// but for the description and the original.
func Resolve(text string, s Scope) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return fill(text, s, false)
}

// Stored replaces {{user}}, {{char}} and {{cast}}: all that is still open in a
// text that was rolled when it was stored.
func Stored(text string, s Scope) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return fill(text, s, true)
}

func fill(text string, s Scope, stored bool) string {
	p := inliner{text: text, ends: pairs(text), now: s.Now, scope: &s, stored: stored, most: max(mostText, len(text))}
	p.expand(0, len(text))
	return string(p.out)
}

// name writes what a macro without arguments stands for in the scope.
func (p *inliner) name(name string) (known bool) {
	s := p.scope
	switch name {
	case "user":
		return s.User != "" && p.write(s.User)
	case "char":
		return s.Char != "" && p.write(s.Char)
	case "cast":
		return s.Cast != "" && p.write(s.Cast)
	case "description":
		return s.HasDescription && !p.stored && p.nest(s.Description, func(s *Scope) { s.Description = "" })
	case "original":
		return s.HasOriginal && !p.stored && p.nest(s.Original, func(s *Scope) { s.Original = "" })
	}
	return false
}

// nest writes a text with its macros replaced. It counts its macros anew, so
// that its dice show what they show where it stands alone.
func (p *inliner) nest(text string, without func(*Scope)) bool {
	if len(p.out)+len(text) > p.most {
		return false
	}
	inner := *p.scope
	without(&inner)
	q := inliner{text: text, ends: pairs(text), now: p.now, scope: &inner, most: p.most, out: p.out}
	q.expand(0, len(text))
	p.out = q.out
	return true
}

// longKey is how much of a macro's text tells it from others; nested macros
// would make whole texts cost the square of their length.
const longKey = 1 << 10

// throw takes the dice of the macro text[i:end]; false when there are none.
func (p *inliner) throw(i, end int) bool {
	if p.scope == nil {
		return true // Inline's, one set for all
	}
	if p.scope.Dice == nil {
		return false
	}
	text := p.text[i:min(end, i+longKey)]
	if p.seen == nil {
		p.seen = map[string]int{}
	}
	p.dice = p.scope.Dice(text, p.seen[text])
	p.seen[text]++
	return true
}
