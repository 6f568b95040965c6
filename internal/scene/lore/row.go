package lore

import (
	"encoding/json"

	"jp/internal/lib/literal"
)

// fromRow turns an entry in the form of our own API into one of a
// character_book, and tells whether it was one.
func fromRow(f fields) bool {
	if f["keywords"] == nil || f["keys"] != nil || f["key"] != nil {
		return false
	}
	for _, pair := range [][2]string{
		{"keywords", "keys"}, {"sort_order", "insertion_order"}, {"match_whole_words", ext + "match_whole_words"},
	} {
		if raw, ok := f[pair[0]]; ok {
			f[pair[1]] = raw
		}
	}
	if isNull(f[ext+"match_whole_words"]) {
		f[ext+"match_whole_words"] = json.RawMessage("true") // as of any new entry
	}
	quiet := &reader{}
	if ignore, ok := quiet.flag("", f["case_insensitive"]); ok {
		f["case_sensitive"] = literal.Must(!ignore)
	}
	if behind, ok := quiet.flag("", f["at_depth"]); ok && behind {
		f[ext+"position"] = literal.Must(behindHistory)
	}
	for _, name := range []string{
		"keywords", "sort_order", "match_whole_words", "case_insensitive", "at_depth",
		"id", "world_id", "created_at", "updated_at", "entry_revision", "entry_layer", "warnings",
	} {
		delete(f, name)
	}
	return true
}
