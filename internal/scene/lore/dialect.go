package lore

import (
	"encoding/json"
	"strings"

	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// ext begins the name of a field that stands in an entry's extensions. While
// an entry is read or written, both levels are one map.
const ext = "extensions/"

// dialect is one format of entries.
type dialect struct {
	name   string // of its part in Entry.Extras
	inCard bool
	id     string // the field with the entry's number
	field  []field
}

// field is one thing that an entry says, where it stands, and how.
type field struct {
	name string
	// decode reads a value that is not null into the entry; false when it says
	// nothing.
	decode func(r *reader, raw json.RawMessage, e *scene.Entry) bool
	// value is what is written, nil to leave what is there alone.
	value  func(scene.Entry) any
	always bool // written also when it says what its absence says
	// keep tells which spellings say more than the entry does and come back as
	// they were; nil for none.
	keep func(json.RawMessage) bool
}

// absent is what an entry says that says nothing.
func absent() scene.Entry {
	return scene.Entry{CaseInsensitive: true, Priority: 100, Order: 100, Enabled: true}
}

// characterBook is the format inside of cards, with the extensions that
// SillyTavern writes into it. Of two fields for one thing the later wins.
func characterBook() dialect {
	return dialect{name: "character_book", inCard: true, id: "id", field: []field{
		title("name", false), comment(), text("content"),
		keys("keys", mainKeys), keys("secondary_keys", secondaryKeys), useRegex(true),
		flag("enabled", enabled, false), flag("constant", constant, false), flag("selective", selective, false),
		usual(flag(ext+"case_sensitive", ignoreCase, true)), flag("case_sensitive", ignoreCase, true),
		usual(flag(ext+"match_whole_words", wholeWords, false)),
		number("insertion_order", order, true), number("priority", priority, false),
		oldPosition(), position(ext + "position"), depth(ext + "depth"),
	}}
}

// worldInfo is the format of SillyTavern's own files.
func worldInfo() dialect {
	return dialect{name: "world_info", id: "uid", field: []field{
		title("comment", true), text("content"),
		keys("key", mainKeys), keys("keysecondary", secondaryKeys), useRegex(false),
		flag("disable", enabled, true), flag("constant", constant, false), flag("selective", selective, false),
		usual(flag("caseSensitive", ignoreCase, true)), usual(flag("matchWholeWords", wholeWords, false)),
		number("order", order, true), number("priority", priority, false),
		position("position"), depth("depth"),
	}}
}

// translations are the fields that both formats have under names of their own,
// world info first, and that we do not use.
func translations() [][2]string {
	pairs := [][2]string{
		{"uid", "id"},
		{"position", ext + "position"},
		{"excludeRecursion", ext + "exclude_recursion"},
		{"preventRecursion", ext + "prevent_recursion"},
		{"delayUntilRecursion", ext + "delay_until_recursion"},
		{"displayIndex", ext + "display_index"},
		{"groupOverride", ext + "group_override"},
		{"groupWeight", ext + "group_weight"},
		{"useGroupScoring", ext + "use_group_scoring"},
		{"scanDepth", ext + "scan_depth"},
		{"automationId", ext + "automation_id"},
		{"outletName", ext + "outlet_name"},
		{"ignoreBudget", ext + "ignore_budget"},
		{"characterFilter", ext + "character_filter"},
		{"matchPersonaDescription", ext + "match_persona_description"},
		{"matchCharacterDescription", ext + "match_character_description"},
		{"matchCharacterPersonality", ext + "match_character_personality"},
		{"matchCharacterDepthPrompt", ext + "match_character_depth_prompt"},
		{"matchScenario", ext + "match_scenario"},
		{"matchCreatorNotes", ext + "match_creator_notes"},
	}
	for _, same := range []string{
		"probability", "useProbability", "depth", "selectiveLogic", "group", "role", "vectorized",
		"sticky", "cooldown", "delay", "triggers", "addMemo",
	} {
		pairs = append(pairs, [2]string{same, ext + same})
	}
	return pairs
}

// fromSillyTavern tells whether a character_book entry has extensions that
// SillyTavern writes. It also sets use_regex on every entry it writes, where
// it means no more than that keys may be patterns.
func fromSillyTavern(f fields) bool {
	for _, mark := range []string{"match_whole_words", "display_index", "selectiveLogic", "useProbability", "exclude_recursion"} {
		if _, ok := f[ext+mark]; ok {
			return true
		}
	}
	return false
}

// flatten makes one map of an entry and its extensions, if these are an object.
func flatten(raw json.RawMessage) (fields, bool) {
	var f, inner fields
	if json.Unmarshal(raw, &f) != nil || f == nil {
		return nil, false
	}
	if json.Unmarshal(f["extensions"], &inner) == nil || isNull(f["extensions"]) {
		delete(f, "extensions")
	}
	for name, v := range inner {
		f[ext+name] = v
	}
	return f, true
}

// nest undoes flatten.
func nest(f fields) fields {
	top, inner := fields{}, fields{}
	for name, raw := range f {
		if in, ok := strings.CutPrefix(name, ext); ok {
			inner[in] = raw
		} else {
			top[name] = raw
		}
	}
	if len(inner) > 0 {
		top["extensions"] = literal.Must(inner)
	}
	return top
}
