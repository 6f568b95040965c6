package lore

import "jp/internal/scene"

// Index is the lore of the Worlds that are on, ready to be looked for. It does
// not change and may be used by many goroutines.
type Index struct {
	entries []scene.Entry
}

// Compile makes the index of the enabled entries of worlds; entries come in the
// order of lore blocks.
func Compile(worlds []scene.World, entries []scene.Entry) *Index {
	x := &Index{}
	on := map[string]bool{}
	for _, w := range worlds {
		on[w.ID] = true
	}
	for _, e := range entries {
		if e.Enabled && on[e.WorldID] {
			x.entries = append(x.entries, e)
		}
	}
	return x
}

// Select returns what the texts, oldest first, fire within a budget of tokens;
// nil is no limit.
func (x *Index) Select(texts []string, budget *int) Selection {
	var s Selection
	for _, e := range x.entries {
		if !e.Constant {
			continue
		}
		list := &s.Constant
		if e.AtDepth {
			list = &s.AtDepth
		}
		*list = append(*list, Hit{Entry: e, Why: "constant"})
	}
	return s
}
