package config

import (
	"slices"

	"jp/internal/lib/fault"
)

// Capture is what an invitation stores as assistants.<id>: the source resolved
// as a new conversation would with -c source, of that the assistant's table,
// complete and with aliases resolved, so that it inherits nothing later. name
// and at_mention come from the source and what it extends alone. base holds
// the files and the environment, nothing of a conversation, of -c or of flags.
// leftOut names, sorted, what the source sets beside the captured part.
//
// Errors: fault.Usage for a name that cannot be captured; those of Source and
// of Finalize. A capture may lack a model: see Assistant.Ready.
func Capture(l *Loader, base *Stack, id, source string) (sub Tree, leftOut []string, err error) {
	if err := checkName(id); err != nil {
		return nil, nil, err
	}
	layers, err := l.Source(base, source)
	if err != nil {
		return nil, nil, err
	}
	full := base.Clone()
	if err := push(full, layers); err != nil {
		return nil, nil, err
	}
	// base may hold files of the source already, so its own say is read apart.
	apart := l.resolve(FromSource, map[string]bool{})
	apart.note = func(string) {}
	if layers, err = l.source(apart, base, source); err != nil {
		return nil, nil, err
	}
	alone := &Stack{}
	if err := push(alone, layers); err != nil {
		return nil, nil, err
	}
	own := alone.Merged()
	t := full.Merged()
	for _, key := range []string{"name", "at_mention"} {
		t = without(t, Reserved, key)
		if v := at(own, Reserved, key); v != nil {
			t = with(t, v, Reserved, key)
		}
	}
	if t, err = Finalize(t); err != nil {
		return nil, nil, err
	}
	sub, _ = AssistantTree(t, Reserved)
	for _, key := range []string{Reserved, "extends", "inherit"} {
		own = without(own, key)
	}
	leftOut = leaves(schema(), nil, own)
	slices.Sort(leftOut)
	return sub, leftOut, nil
}

func push(s *Stack, layers []Layer) error {
	for _, l := range layers {
		if err := s.Push(l); err != nil {
			return err
		}
	}
	return nil
}

// leaves lists the keys of t that hold no table of known keys.
func leaves(n *node, path []string, t Tree) []string {
	var out []string
	for _, k := range keys(t) {
		c, _ := n.child(k)
		sub := append(path[:len(path):len(path)], k)
		below, ok := t[k].(Tree)
		if ok && len(below) > 0 && (c.kind == kindTable || c.kind == kindMap) {
			out = append(out, leaves(c, sub, below)...)
		} else {
			out = append(out, JoinKey(sub))
		}
	}
	return out
}

// IsNotFound tells whether an error says that there is no such source.
func IsNotFound(err error) bool { return err != nil && fault.CodeOf(err) == fault.NotFound }
