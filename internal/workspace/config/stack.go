package config

import "slices"

// Layer is one file, variable or assignment.
type Layer struct {
	Origin
	Tree Tree

	file  string                  // canonical path of a file's layer
	over  bool                    // laid over the ones below as Overlay does
	lines func(path []string) int // line of a key, 0 when unknown; may be nil
}

// Stack is an ordered pile of checked layers, the highest last.
type Stack struct {
	layers []Layer
	note   func(string)
}

// Push lays a layer on top, with legacy conversation.tools as assistant.tools.
// Errors: it holds keys that the schema does not know or values of a wrong type
// (fault.Config, fault.Usage for an assignment), naming the place, the full key
// and the nearest key.
func (s *Stack) Push(l Layer) error {
	if err := l.check(); err != nil {
		return err
	}
	l.Tree = moveTools(l.Tree, func(tool string) {
		if s.note != nil {
			s.note(l.place([]string{"conversation", "tools", tool}).String() + ": conversation.tools." + tool +
				" is ignored, " + Reserved + ".tools." + tool + " stands in the same file")
		}
	})
	s.layers = append(s.layers, l)
	return nil
}

// Clone returns a stack that can be pushed to without changing s.
func (s *Stack) Clone() *Stack { return &Stack{layers: slices.Clone(s.layers), note: s.note} }

// Over returns a stack for a conversation that goes on: s, over it what the
// conversation's stream holds, by the rule of Overlay. The stream is not
// checked. s is not changed.
func (s *Stack) Over(stream Tree) *Stack {
	c := s.Clone()
	c.layers = append(c.layers, Layer{Origin: Origin{Kind: FromConversation}, Tree: stream, over: true})
	return c
}

// Under returns a stack for what is the machine's matter: s, and below it what
// the conversation's stream may say where s is silent, by the rule of
// TakeProviders. s is not changed.
func (s *Stack) Under(stream Tree) *Stack {
	said := TakeProviders(stream, Tree{})
	layer := Layer{Origin: Origin{Kind: FromConversation}, Tree: Tree{"providers": said["providers"]}}
	return &Stack{layers: append([]Layer{layer}, s.layers...), note: s.note}
}

// Merged folds the layers. It holds strategies that a later merge may still
// need, and no defaults: see Finalize. extends has done its work and is gone.
func (s *Stack) Merged() Tree {
	t := Tree{}
	own := true
	for _, l := range s.layers {
		if l.over {
			t, own = Overlay(t, l.Tree), false // it shares the stream's tables
			continue
		}
		t = mergeTable(schema(), t, l.Tree, own)
	}
	return without(t, "extends")
}

// loadPaths are the folders to look names up in, as files and environment say
// it: what -c brings does not widen the search of a later -c.
func (s *Stack) loadPaths() []string {
	const key = "config_load_paths"
	t := Tree{}
	for _, l := range s.layers {
		v, ok := l.Tree[key]
		switch l.Kind {
		case FromConversation, FromSource, FromAssignment:
			ok = false
		}
		if ok {
			t = mergeTable(schema(), t, Tree{key: v}, true)
		}
	}
	return texts(t, key)
}

// loaded is the set of files that the stack holds.
func (s *Stack) loaded() map[string]bool {
	files := map[string]bool{}
	for _, l := range s.layers {
		if l.file != "" {
			files[l.file] = true
		}
	}
	return files
}

// Assigned tells whether a value of -c on the stack, an assignment or a source,
// set something below a root key.
func (s *Stack) Assigned(root string) bool {
	for _, l := range s.layers {
		if (l.Kind == FromAssignment || l.Kind == FromSource) && l.Tree[root] != nil {
			return true
		}
	}
	return false
}

// Setting is one place where a key, a table around it or a key below it is set.
type Setting struct {
	Origin Origin
	Key    string
	Value  any
}

// Explain lists what set a key, the built-in default first, the value that
// counts last. Errors: none; a key that nothing set has no settings.
func (s *Stack) Explain(key string) []Setting {
	path, err := SplitKey(key)
	if err != nil {
		return nil
	}
	path = modernKey(path)
	var out []Setting
	layers := append([]Layer{{Origin: Origin{Kind: FromDefault}, Tree: Defaults()}}, s.layers...)
	for _, l := range layers {
		if set, ok := settingAt(l, path); ok {
			out = append(out, set)
		}
	}
	return out
}

// settingAt finds path in a layer, or the value that stands in its way.
func settingAt(l Layer, path []string) (Setting, bool) {
	var v any = l.Tree
	for i, k := range path {
		t, ok := v.(Tree)
		if !ok {
			return Setting{l.placeOf(path[:i]), JoinKey(path[:i]), v}, true
		}
		if v, ok = t[k]; !ok {
			return Setting{}, false
		}
	}
	return Setting{l.placeOf(path), JoinKey(path), v}, true
}

// placeOf is place, also for tools that the file calls by their legacy key.
func (l Layer) placeOf(path []string) Origin {
	o := l.place(path)
	if o.Line == 0 && len(path) > 2 && path[0] == Reserved && path[1] == "tools" {
		return l.place(append([]string{"conversation"}, path[1:]...))
	}
	return o
}

// modernKey maps conversation.tools.x to assistant.tools.x.
func modernKey(path []string) []string {
	if len(path) >= 2 && path[0] == "conversation" && path[1] == "tools" {
		return append([]string{Reserved}, path[1:]...)
	}
	return path
}
