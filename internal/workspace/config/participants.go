package config

import (
	"slices"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
)

// Reserved is the participant whose configuration is the top-level assistant
// table. No other package of the terminal face spells it.
const Reserved = "assistant"

// Key is where a participant's configuration stands.
func Key(name string) string { return JoinKey(keyPath(name)) }

func keyPath(name string) []string {
	if name == Reserved {
		return []string{Reserved}
	}
	return []string{"assistants", name}
}

// Roster lists the active participants in order, doubles once. A tree without
// conversation.participants has the reserved one; an empty array has nobody.
func Roster(t Tree) []string {
	list, ok := at(t, "conversation", "participants").([]any)
	if !ok {
		return []string{Reserved}
	}
	names := []string{}
	for _, e := range list {
		if s, ok := e.(string); ok && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	return names
}

// WithRoster returns t with another roster. t is not changed.
func WithRoster(t Tree, names []string) Tree {
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = n
	}
	return with(t, list, "conversation", "participants")
}

// Captured lists the named participants that have a configuration, sorted.
func Captured(t Tree) []string {
	names := []string{}
	for _, name := range keys(table(t, "assistants")) {
		if _, ok := AssistantTree(t, name); ok && name != Reserved {
			names = append(names, name)
		}
	}
	return names
}

// AssistantTree is the configuration of a participant, without cleared keys.
// Every access goes through here. The reserved participant always has one, if
// only an empty one; assistants.assistant is nobody's.
func AssistantTree(t Tree, name string) (Tree, bool) {
	sub, ok := at(t, keyPath(name)...).(Tree)
	if !ok {
		return Tree{}, name == Reserved
	}
	return clean(sub).(Tree), true
}

// WithAssistant returns t with sub as the participant's configuration. t is
// not changed.
func WithAssistant(t Tree, name string, sub Tree) Tree { return with(t, sub, keyPath(name)...) }

// CheckForm refuses a roster that is no list of texts, and participants that
// are no tables: read leniently they would be somebody else. Errors:
// fault.Damaged.
func CheckForm(t Tree) error {
	const key = "conversation.participants"
	if v := at(t, "conversation", "participants"); v != nil {
		list, ok := v.([]any)
		for _, e := range list {
			_, text := e.(string)
			ok = ok && text
		}
		if !ok {
			return fault.New(fault.Damaged, "%s is no list of names", key)
		}
	}
	for _, k := range []string{Reserved, "assistants", "conversation"} {
		if v := at(t, k); v != nil {
			if _, ok := v.(Tree); !ok {
				return fault.New(fault.Damaged, "%s is no table", k)
			}
		}
	}
	for _, name := range keys(table(t, "assistants")) {
		if _, ok := at(t, "assistants", name).(Tree); !ok && at(t, "assistants", name) != nil {
			return fault.New(fault.Damaged, "assistants.%s is no table", name)
		}
	}
	return nil
}

// CheckRoster refuses what no query may run with: what CheckForm refuses, an
// active participant without configuration, and an assistants.assistant.
// Errors: fault.Invalid and those of CheckForm.
func CheckRoster(t Tree) error {
	if err := CheckForm(t); err != nil {
		return fault.New(fault.Damaged, "the conversation's configuration: %w", err).
			WithHint("mend it with `jp c edit --base-config` or `jp c edit --events`")
	}
	if at(t, "assistants", Reserved) != nil {
		return fault.New(fault.Invalid, "assistants.%s is not allowed: %q is the top-level table", Reserved, Reserved).
			WithHint("remove it with `jp c edit --base-config` or `jp c edit --events`")
	}
	for _, name := range Roster(t) {
		if _, ok := AssistantTree(t, name); !ok {
			return fault.New(fault.Invalid, "participant %q has no %s config", name, Reserved).
				WithHint("use `jp c invite %s` or `jp c uninvite %s`", name, name)
		}
	}
	return nil
}

// checkName refuses what no captured participant may be called.
func checkName(name string) error {
	if name == Reserved {
		return fault.New(fault.Usage, "%q is the top-level %s and is not captured", Reserved, Reserved)
	}
	if !speaker.ValidID(name) {
		return NotAName(name)
	}
	return nil
}

// NotAName is the error for what breaks the grammar of names (fault.Usage).
func NotAName(name string) *fault.Error {
	return fault.New(fault.Usage, "%q is not a participant name", name).
		WithHint("a name starts with a letter or _ and holds letters, digits, _ and -")
}
