package lore

import (
	"slices"
	"strings"
)

// use is a key of an entry, by their numbers; secondary keys count on behind
// the others.
type use struct {
	entry, key int32
	whole      bool // only where it stands as a word
}

// finder finds literals and tells whose they are.
type finder struct {
	literals []string
	from     []int // where in uses a literal's begin; one more than literals
	uses     []use // of one literal, those as a word stand last
	auto     *automaton
}

// wanted is a literal that is yet to be sorted in.
type wanted struct {
	literal string
	use     use
}

func newFinder(list []wanted) *finder {
	slices.SortFunc(list, func(a, b wanted) int {
		c := strings.Compare(a.literal, b.literal)
		switch {
		case c != 0 || a.use.whole == b.use.whole:
			return c
		case b.use.whole:
			return -1
		}
		return 1
	})
	f := &finder{uses: make([]use, len(list))}
	for i, w := range list {
		if i == 0 || w.literal != list[i-1].literal {
			f.literals = append(f.literals, w.literal)
			f.from = append(f.from, i)
		}
		f.uses[i] = w.use
	}
	f.from = append(f.from, len(list))
	f.auto = newAutomaton(f.literals)
	return f
}

// states are those of a search that has seen nothing.
func (f *finder) states() []uint8 { return make([]uint8, len(f.literals)) }

// The states of a literal in a search that goes on over several texts.
const (
	inPart  = 1 << iota // it was there
	inWhole             // it was there as a word, or nobody asks
)

// find tells of every use that a text fulfils for the first time. seen has a
// state for each literal.
func (f *finder) find(text string, seen []uint8, found func(use)) {
	f.auto.find(text, func(literal, end int) {
		state := seen[literal]
		if state&inWhole != 0 {
			return
		}
		uses := f.uses[f.from[literal]:f.from[literal+1]]
		if state == 0 {
			seen[literal] = inPart
			for _, u := range uses {
				if !u.whole {
					found(u)
				}
			}
		}
		if uses[len(uses)-1].whole && !isWhole(text, end-len(f.literals[literal]), end) {
			return
		}
		seen[literal] |= inWhole
		for _, u := range uses {
			if u.whole {
				found(u)
			}
		}
	})
}

// trimmed is a key as it is looked for.
func trimmed(key string, ignoreCase bool) string {
	return strings.TrimSpace(spell(key, ignoreCase))
}
