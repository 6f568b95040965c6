package lore

// automaton finds every occurrence of many literals in one pass over a text,
// whose cost does not depend on how many they are (Aho and Corasick 1975).
//
// Node 0 is the root. Nodes are numbered level by level, so that the children
// of one stand side by side, in the order of their bytes. A table of moves per
// node would be quicker to walk and much slower to build; it is built for
// every exchange and walked over a few kilobytes.
type automaton struct {
	first []int32 // a node's first child; its last stands before the next node's first
	label []byte  // the byte that leads to a node
	fail  []int32 // the node of the longest proper suffix
	ends  []int32 // the literal that ends at a node, or -1
	next  []int32 // the nearest node on the way of fail at which one ends, or 0
	start [256]int32
}

// newAutomaton takes literals that are sorted, unique and not empty. Their
// numbers are their indices.
func newAutomaton(literals []string) *automaton {
	size := nodes(literals)
	a := &automaton{
		first: make([]int32, 0, size+1), label: make([]byte, 0, size), fail: make([]int32, 0, size),
		ends: make([]int32, 0, size), next: make([]int32, 0, size),
	}
	spans := append(make([]span, 0, size), span{0, int32(len(literals)), 0})
	a.add(0, 0)
	for n := 0; n < len(spans); n++ {
		s := spans[n]
		a.first = append(a.first, int32(len(a.label)))
		// Shorter comes first: only the first literal can end here.
		if s.lo < s.hi && len(literals[s.lo]) == int(s.depth) {
			a.ends[n] = s.lo
			s.lo++
		}
		for s.lo < s.hi {
			c := literals[s.lo][s.depth]
			end := s.lo + 1
			for end < s.hi && literals[end][s.depth] == c {
				end++
			}
			// What the suffix leads to is of a level that is there already.
			fail := int32(0)
			if n > 0 {
				fail = a.step(a.fail[n], c)
			} else {
				a.start[c] = int32(len(a.label))
			}
			a.add(c, fail)
			spans = append(spans, span{s.lo, end, s.depth + 1})
			s.lo = end
		}
		a.next[n] = a.fail[n]
		if f := a.fail[n]; a.ends[f] < 0 {
			a.next[n] = a.next[f]
		}
	}
	a.first = append(a.first, int32(len(a.label)))
	return a
}

// span is a stretch of literals that have their first depth bytes in common.
type span struct{ lo, hi, depth int32 }

// nodes counts the beginnings that literals have.
func nodes(literals []string) int {
	n, last := 1, ""
	for _, l := range literals {
		same := 0
		for same < min(len(l), len(last)) && l[same] == last[same] {
			same++
		}
		n += len(l) - same
		last = l
	}
	return n
}

func (a *automaton) add(label byte, fail int32) {
	a.label = append(a.label, label)
	a.fail = append(a.fail, fail)
	a.ends = append(a.ends, -1)
	a.next = append(a.next, 0)
}

// step is where a byte leads from a node.
func (a *automaton) step(n int32, c byte) int32 {
	for n != 0 {
		for i, end := a.first[n], a.first[n+1]; i < end && a.label[i] <= c; i++ {
			if a.label[i] == c {
				return i
			}
		}
		n = a.fail[n]
	}
	return a.start[c]
}

// find tells of every occurrence: the literal, and where in the text it ends.
func (a *automaton) find(text string, found func(literal, end int)) {
	n := int32(0)
	for i := range len(text) {
		n = a.step(n, text[i])
		for m := n; m != 0; m = a.next[m] {
			if a.ends[m] >= 0 {
				found(int(a.ends[m]), i+1)
			}
		}
	}
}
