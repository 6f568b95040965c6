package lore

import (
	"regexp"
	"regexp/syntax"
	"slices"

	"jp/internal/scene"
)

// What expressions may cost. RE2 takes time in proportion to the text and to
// the expression's instructions, so their product bounds it.
const (
	maxInstructions = 2_000
	maxWork         = 100_000_000 // instructions times bytes in one Select: about a second at the worst
	compiling       = 100         // bytes that take as long as making an instruction
	maxGates        = 64          // literals of which one must be there
)

// expression returns the regular expression that a key of an entry is, if it is
// one.
func expression(e scene.Entry, key string) (string, bool) {
	if expr, ok := Pattern(key); ok {
		return expr, true
	}
	if e.CaseInsensitive {
		return "(?i)" + key, e.Regex
	}
	return key, e.Regex
}

// compile returns an expression that can run here, and its instructions.
// Errors: *syntax.Error.
func compile(expr string) (*regexp.Regexp, int, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if len(prog.Inst) > maxInstructions {
		return nil, 0, &syntax.Error{Code: syntax.ErrLarge, Expr: expr}
	}
	re, err := regexp.Compile(expr)
	return re, len(prog.Inst), err
}

// patterns are the expressions among the keys, in the order of the entries.
type patterns struct {
	list []pattern
	// An expression is only run on a text with one of its literals, or when it
	// has none.
	ungated []int32
	gates   *finder
}

type pattern struct {
	expr string
	use  use
}

func (p *patterns) add(u use, expr string) { p.list = append(p.list, pattern{expr, u}) }

// gate finds the literals of all expressions. What is none is never due.
func (p *patterns) gate() {
	var list []wanted
	for i, pattern := range p.list {
		tree, err := syntax.Parse(pattern.expr, syntax.Perl)
		if err != nil {
			continue
		}
		need := needs(tree.Simplify())
		for _, literal := range need {
			list = append(list, wanted{literal, use{entry: int32(i)}})
		}
		if len(need) == 0 {
			p.ungated = append(p.ungated, int32(i))
		}
	}
	p.gates = newFinder(list)
}

// due are the expressions that are worth running on a text, in order.
func (p *patterns) due(text string) []int32 {
	due := slices.Clone(p.ungated)
	if seen := p.gates.states(); len(seen) > 0 {
		p.gates.find(fold(text), seen, func(u use) { due = append(due, u.entry) })
	}
	slices.Sort(due)
	return slices.Compact(due)
}

// needs returns literals, case folded, one of which is in every text that an
// expression matches; none when that cannot be told.
func needs(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{fold(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if n := needs(sub); shortest(n) > shortest(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			n := needs(sub)
			if len(n) == 0 || len(all)+len(n) > maxGates {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// shortest says how telling literals are.
func shortest(literals []string) int {
	if len(literals) == 0 {
		return 0
	}
	n := len(literals[0])
	for _, l := range literals {
		n = min(n, len(l))
	}
	return n
}

// running is how far the expressions of a search have come.
type running struct {
	patterns []pattern
	state    []machine // by pattern
	left     int       // work
	spent    bool      // there was too little left for one: no other is begun
}

type machine struct {
	expr *regexp.Regexp // nil until it is needed
	size int            // instructions
	over bool           // it has matched, or cannot run
}

// match tells whether an expression matches that has not before, and whether
// that was found out within the work that is left.
func (r *running) match(n int32, text string) (matched, ran bool) {
	m := &r.state[n]
	if m.over {
		return false, true
	}
	work := m.size * (len(text) + 1)
	if m.expr == nil {
		if r.spent {
			return false, false
		}
		var err error
		if m.expr, m.size, err = compile(r.patterns[n].expr); err != nil {
			m.over = true
			return false, true
		}
		work = m.size * (len(text) + 1 + compiling)
	}
	if work > r.left {
		r.spent = true
		return false, false
	}
	r.left -= work
	m.over = m.expr.MatchString(text)
	return m.over, true
}
