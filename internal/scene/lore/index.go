package lore

import (
	"slices"

	"jp/internal/scene"
)

// Index is the lore of the Worlds that are on, ready to be looked for. It does
// not change and may be used by many goroutines.
type Index struct {
	entries   []scene.Entry
	recursive []bool // by entry: what it says may fire others
	selective []bool // by entry: it needs a secondary key
	exact     *finder
	folded    *finder
	patterns  patterns
}

// Compile makes the index of the entries that are enabled and of one of the
// worlds. They come in the order of lore blocks.
func Compile(worlds []scene.World, entries []scene.Entry) *Index {
	x := &Index{
		entries:   make([]scene.Entry, 0, len(entries)),
		recursive: make([]bool, 0, len(entries)),
		selective: make([]bool, 0, len(entries)),
	}
	recursive := map[string]bool{}
	for _, w := range worlds {
		recursive[w.ID] = w.Recursive
	}
	var exact, folded []wanted
	for _, e := range entries {
		recurses, on := recursive[e.WorldID]
		if !on || !e.Enabled {
			continue
		}
		n := int32(len(x.entries))
		x.entries = append(x.entries, e)
		x.recursive = append(x.recursive, recurses)
		keys := slices.Concat(e.Keys, e.SecondaryKeys)
		if e.Constant {
			keys = nil // it is there without
		}
		selective := false
		for i, key := range keys {
			if x.want(&exact, &folded, use{n, int32(i), e.WholeWords}, key) && i >= len(e.Keys) {
				selective = e.Selective
			}
		}
		x.selective = append(x.selective, selective)
	}
	x.exact, x.folded = newFinder(exact), newFinder(folded)
	x.patterns.gate()
	return x
}

// want has a key looked for; false when it is blank.
func (x *Index) want(exact, folded *[]wanted, u use, key string) bool {
	e := x.entries[u.entry]
	literal := trimmed(key, e.CaseInsensitive)
	if literal == "" {
		return false
	}
	if expr, ok := expression(e, key); ok {
		x.patterns.add(u, expr)
		return true
	}
	list := exact
	if e.CaseInsensitive {
		list = folded
	}
	*list = append(*list, wanted{literal, u})
	return true
}

// key is the key that a use is of, as it is written.
func (x *Index) key(u use) string {
	e := x.entries[u.entry]
	if i := int(u.key) - len(e.Keys); i >= 0 {
		return e.SecondaryKeys[i]
	}
	return e.Keys[u.key]
}
