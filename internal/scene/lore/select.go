package lore

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"jp/internal/scene"
)

// maxDepth is how many entries may lead to one, each by what it says.
const maxDepth = 3

// Select returns what texts, oldest first, fire within a budget of tokens; nil
// is no limit.
//
// Every text is looked at by itself: no key matches across two. A secondary key
// may stand in another text than its entry's key. Then what was kept of
// recursive Worlds is looked at, for three rounds at most; it may fire entries
// of any World. Each round fills what the ones before left of the budget,
// constants first, then by priority; what has no room does not keep out what
// has. What is dropped fires nothing.
func (x *Index) Select(texts []string, budget *int) Selection {
	s := x.search(budget)
	seeds := s.keep(s.constants())
	for _, text := range texts {
		s.look(text, source{entry: -1})
	}
	seeds = append(seeds, s.keep(s.fired(0))...)
	for depth := 1; depth <= maxDepth; depth++ {
		slices.Sort(seeds)
		for _, i := range seeds {
			if x.recursive[i] {
				s.look(x.entries[i].Content, source{i, depth})
			}
		}
		seeds = s.keep(s.fired(depth))
	}
	return s.selection()
}

// search is one Select under way.
type search struct {
	*Index
	inExact, inFolded []uint8 // what finders have seen
	running           running
	fates             []fate
	touched           []int32 // entries of which a key was seen in this round
	left              int     // of the budget
}

// fate is what becomes of an entry.
type fate struct {
	state      state
	key, other sighting // of a key, and of a secondary one
	depth      int
}

type state uint8

const (
	quiet state = iota
	kept
	dropped
	skipped // nobody knows: its expressions would take too long
)

// source is what is looked at: an entry that was kept, or a text, -1.
type source struct {
	entry int32
	depth int
}

// sighting is where a key was seen first; of one round, the first key.
type sighting struct {
	seen bool
	use  use
	from source
}

func (x *Index) search(budget *int) *search {
	s := &search{
		Index:   x,
		inExact: x.exact.states(), inFolded: x.folded.states(),
		running: running{patterns: x.patterns.list, state: make([]machine, len(x.patterns.list)), left: maxWork},
		fates:   make([]fate, len(x.entries)),
		left:    math.MaxInt,
	}
	if budget != nil {
		s.left = *budget
	}
	return s
}

// look finds the keys in a text.
func (s *search) look(text string, from source) {
	found := func(u use) { s.see(u, from) }
	if len(s.inExact) > 0 {
		s.exact.find(spell(text, false), s.inExact, found)
	}
	if len(s.inFolded) > 0 {
		s.folded.find(spell(text, true), s.inFolded, found)
	}
	for _, n := range s.patterns.due(text) {
		u := s.patterns.list[n].use
		f := &s.fates[u.entry]
		if f.state == kept || f.state == dropped {
			continue
		}
		switch matched, ran := s.running.match(n, text); {
		case matched:
			found(u)
		case !ran:
			f.state = skipped
		}
	}
}

func (s *search) see(u use, from source) {
	f := &s.fates[u.entry]
	first := &f.key
	if int(u.key) >= len(s.entries[u.entry].Keys) {
		first = &f.other
	}
	if !first.seen || first.from.depth == from.depth && u.key < first.use.key {
		*first = sighting{true, u, from}
		s.touched = append(s.touched, u.entry)
	}
}

func (s *search) constants() []int32 {
	var list []int32
	for i, e := range s.entries {
		if e.Constant {
			list = append(list, int32(i))
		}
	}
	return list
}

// fired are the entries for which enough was seen in a round, in order.
func (s *search) fired(depth int) []int32 {
	slices.Sort(s.touched)
	var list []int32
	for _, i := range slices.Compact(s.touched) {
		f := &s.fates[i]
		if f.state == kept || f.state == dropped || !f.key.seen || s.selective[i] && !f.other.seen {
			continue
		}
		f.depth = depth
		list = append(list, i)
	}
	s.touched = s.touched[:0]
	return list
}

// keep holds entries against the budget and returns those with room.
func (s *search) keep(list []int32) []int32 {
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(s.entries[b].Priority, s.entries[a].Priority) })
	return slices.DeleteFunc(list, func(i int32) bool {
		cost := scene.Tokens(s.entries[i].Content)
		if cost > s.left {
			s.fates[i].state = dropped
			return true
		}
		s.left -= cost
		s.fates[i].state = kept
		return false
	})
}

func (s *search) selection() Selection {
	var all Selection
	for i, e := range s.entries {
		f := &s.fates[i]
		if f.state == quiet {
			continue
		}
		hit := Hit{Entry: e, Why: s.why(int32(i)), Depth: f.depth}
		switch {
		case f.state != kept:
			all.Dropped = append(all.Dropped, hit)
		case !e.Constant:
			all.Keyword = append(all.Keyword, hit)
		case e.AtDepth:
			all.AtDepth = append(all.AtDepth, hit)
		default:
			all.Constant = append(all.Constant, hit)
		}
	}
	return all
}

// why says what fired an entry.
func (s *search) why(i int32) string {
	f := &s.fates[i]
	switch {
	case s.entries[i].Constant:
		return "constant"
	case f.state == skipped:
		return "not looked for everywhere: its expressions take too long"
	case s.selective[i]:
		return "key " + s.told(f.key) + " and " + s.told(f.other)
	}
	return "key " + s.told(f.key)
}

// told says what was seen where.
func (s *search) told(at sighting) string {
	key := clipped(s.key(at.use))
	if at.from.entry < 0 {
		return "“" + key + "”"
	}
	return "“" + key + "” in entry “" + clipped(called(s.entries[at.from.entry])) + "”"
}

// called is what people know an entry by.
func called(e scene.Entry) string {
	for _, name := range append([]string{e.Name}, e.Keys...) {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return e.ID
}

// clipped is a text of any length as part of a sentence.
func clipped(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 80 && utf8.RuneCountInString(text) > 80 {
		text = string([]rune(text)[:79]) + "…"
	}
	return text
}
