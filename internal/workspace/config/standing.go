package config

import (
	"net/url"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/lib/host"
)

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

// OfConversation tells whether a dotted key is a conversation's own matter, in
// which files have no say once it exists: see KeepParticipants.
func OfConversation(key string) bool {
	return key == "assistants" || strings.HasPrefix(key, "assistants.") || key == "conversation.participants" ||
		strings.HasPrefix(key, "conversation.participants.")
}

// OfMachine tells whether a dotted key is the machine's matter alone: see
// TakeUser and TakeProviders.
func OfMachine(key string) bool {
	top, _, _ := strings.Cut(key, ".")
	return top == "user" || top == "providers"
}

// NotOfMachine tells whether a value of -c assigns a key that is not the
// machine's matter, such as an element of a list that only a conversation has.
func NotOfMachine(value string) bool {
	a, err := ParseAssignment(value)
	return err == nil && a.Path == "" && (a.Participant != "" || len(a.Key) > 0 && !OfMachine(a.Key[0]))
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

// TakeProviders returns t with the providers of here, the machine's own
// settings: a conversation that came with a pull decides neither which server
// is asked nor which variable is sent to it as a key. What a conversation says
// of a server on this very machine counts where here is silent.
func TakeProviders(t, here Tree) Tree {
	own := table(t, "providers", "llm")
	llm := Tree{}
	for id, v := range table(here, "providers", "llm") {
		llm[id] = v
	}
	if v, ok := own["aliases"]; ok {
		llm["aliases"] = v
	}
	for id := range own {
		if base, ok := foreignBase(t, here, id); ok && loopback(base) {
			llm = with(llm, base, id, "base_url")
			if at(here, "providers", "llm", id, "api_key_env") == nil {
				llm = with(llm, "", id, "api_key_env") // whoever listens there has no claim to a key
			}
		}
	}
	t = without(t, "providers")
	t = with(t, llm, "providers", "llm")
	if v := at(here, "providers", "mcp"); v != nil {
		t = with(t, v, "providers", "mcp")
	}
	return t
}

// ForeignServer returns the base URL that t has for a provider and that
// TakeProviders leaves out, or "".
func ForeignServer(t, here Tree, provider string) string {
	if base, ok := foreignBase(t, here, provider); ok && !loopback(base) {
		return base
	}
	return ""
}

// foreignBase is a base URL that neither here nor the built-in settings know.
func foreignBase(t, here Tree, provider string) (string, bool) {
	base := text(t, "providers", "llm", provider, "base_url")
	if base == "" || provider == "aliases" || at(here, "providers", "llm", provider, "base_url") != nil {
		return "", false
	}
	return base, base != Provider(Tree{}, provider).BaseURL
}

func loopback(base string) bool {
	u, err := url.Parse(base)
	return err == nil && host.Loopback(u.Hostname())
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
