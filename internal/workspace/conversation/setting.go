package conversation

import (
	"sort"

	"jp/internal/workspace/config"
)

// Config returns the configuration now: the base and all deltas in order. Like
// every tree that comes from a Stream it is shared and must not be changed.
func (s *Stream) Config() config.Tree { return s.fold(len(s.deltas)) }

// ConfigAt returns the configuration in force at entry i: the base and the
// deltas before it.
func (s *Stream) ConfigAt(i int) config.Tree { return s.fold(s.deltasBefore(i)) }

func (s *Stream) deltasBefore(i int) int { return sort.SearchInts(s.deltas, i) }

// fold returns base and the first n deltas merged. A delta that cannot be read
// counts as empty, so that the rest can be looked at; Check reports it.
func (s *Stream) fold(n int) config.Tree {
	if s.trees == nil {
		var base map[string]any
		_ = unmarshal(s.baseRaw, &base) // an object, as it was checked to be
		s.trees = []config.Tree{config.Stored(base)}
	}
	for len(s.trees) <= n {
		tree := s.trees[len(s.trees)-1]
		ev, err := s.Event(s.deltas[len(s.trees)-1])
		if err == nil && len(ev.Delta) > 0 {
			tree = config.Merge(tree, ev.Delta)
		}
		s.trees = append(s.trees, tree)
	}
	return s.trees[n]
}

// AppendConfig makes target the configuration from here on, by a delta that
// holds only what differs. Without a difference nothing is appended and
// changed is false.
func (s *Stream) AppendConfig(target config.Tree) (changed bool, err error) {
	delta := config.Diff(s.Config(), target)
	if len(delta) == 0 {
		return false, nil
	}
	_, err = s.Append(Event{Kind: ConfigDelta, Delta: delta})
	return err == nil, err
}

// provider returns whose models participant spoke with at entry i; empty when
// the configuration does not say.
func (s *Stream) provider(participant string, i int) string {
	key := voice{participant, s.deltasBefore(i)}
	if p, ok := s.providers[key]; ok {
		return p
	}
	p := ""
	tree := s.fold(key.deltas)
	if a, ok := config.AssistantTree(tree, participant); ok {
		if model, ok := a["model"].(config.Tree); ok {
			p = providerOf(tree, model["id"])
		}
	}
	if s.providers == nil {
		s.providers = map[voice]string{}
	}
	s.providers[key] = p
	return p
}

// voice is a participant between two deltas.
type voice struct {
	participant string
	deltas      int
}

func providerOf(tree config.Tree, id any) string {
	switch id := id.(type) {
	case config.Tree:
		p, _ := id["provider"].(string)
		return p
	case string: // older conversations kept names and aliases
		if m, err := config.ResolveModel(tree, id); err == nil {
			return m.Provider
		}
	}
	return ""
}
