package config

import "jp/internal/lib/fault"

// KeepParticipants returns t with the roster and the captures of from, and
// tells whether t had others. Outside of a conversation both are only what a
// new one begins with.
func KeepParticipants(t, from Tree) (kept Tree, had bool) {
	kept = without(without(t, "conversation", "participants"), "assistants")
	if v := at(from, "conversation", "participants"); v != nil {
		kept = with(kept, v, "conversation", "participants")
	}
	if v := at(from, "assistants"); v != nil {
		kept = with(kept, v, "assistants")
	}
	return kept, !equal(kept, t)
}

// TakeUser returns t with the user table of from: who is asking is a matter of
// the machine, never of a conversation that came from somebody else.
func TakeUser(t, from Tree) Tree {
	t = without(t, "user")
	if v := at(from, "user"); v != nil {
		t = with(t, v, "user")
	}
	return t
}

// Lookup returns the value at a dotted key. Errors: fault.Usage for a key that
// is none.
func Lookup(t Tree, key string) (v any, ok bool, err error) {
	path, err := SplitKey(key)
	if err != nil {
		return nil, false, fault.New(fault.Usage, "%w", err)
	}
	v = at(t, modernKey(path)...)
	return v, v != nil, nil
}

// CheckKey refuses a dotted key that the schema does not know. Errors:
// fault.Usage naming the nearest key.
func CheckKey(key string) error {
	path, err := SplitKey(key)
	if err != nil {
		return fault.New(fault.Usage, "%w", err)
	}
	n := schema()
	for i := range path {
		if err := (Layer{Origin: Origin{Kind: FromAssignment, Path: key}}).checkKey(n, path[:i+1]); err != nil {
			return err
		}
		n, _ = n.child(path[i])
	}
	return nil
}
