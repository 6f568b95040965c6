// Package lore reads and writes books of lore entries, and finds those that a
// scene calls for.
//
// Books are the character_book of cards and the world-info files of
// SillyTavern, told apart by their shape.
//
// Reading forgives: null is absence, a string may stand for a list, a number
// may stand in a string, a position may be unknown, and one bad entry never
// fails a book. The notes say what was read otherwise than it was written,
// dropped, or means less here than where it came from.
//
// What we do not know or use survives: an export in the format of the import
// has every unknown field as it came. The other format gets what has a place
// there.
//
// Keys are kept as they are written. In an entry whose Regex is set every key
// is a pattern; in any other one a key of the form /pattern/flags is, as in
// SillyTavern. Pattern tells.
//
// Compile makes an index of the entries that are on, Select asks it. A literal
// key is found at a cost that does not depend on how many there are. Unless
// its entry wants parts of words too, it must stand as a word: beside letters,
// marks and digits it does not, but in Han, Kana, Hangul, Thai, Lao, Khmer and
// Myanmar, which put no spaces between words or glue particles to them, it may
// stand anywhere. What only looks different – line ends, apostrophes, soft
// hyphens, and case if it does not count – is the same. Patterns see a text as
// it is; one that our engine, RE2, cannot run never fires, and Warnings says
// so. What was selected depends on nothing but the entries, the texts and the
// budget.
package lore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"jp/internal/lib/fault"
	"jp/internal/lib/literal"
	"jp/internal/scene"
)

const (
	maxEntries = 20_000    // of a book
	maxCommas  = 1_000_000 // of a book: keys, fields, and what stands in texts, of which a book of the largest size has fewer
)

// fields is a JSON object with its values as they were written.
type fields = map[string]json.RawMessage

// DecodeBook reads a book in either format, a lorebook_v3 file, or a bare list
// of entries; an entry may also have the form of our own API. ContentHash is set; ids and times are not. The notes are
// sentences for people. Errors: fault.Invalid for what is no book, or has more
// than maxEntries or maxCommas.
func DecodeBook(raw json.RawMessage) (scene.Book, []string, error) {
	if bytes.Count(raw, []byte(",")) > maxCommas {
		return scene.Book{}, nil, fault.New(fault.Invalid, "this lorebook has too many keys and fields to be read").WithHint("bring it in parts")
	}
	top, err := bookObject(raw)
	if err != nil {
		return scene.Book{}, nil, err
	}
	list, err := entriesOf(top["entries"])
	if err != nil {
		return scene.Book{}, nil, err
	}
	if len(list) > maxEntries { // each takes kilobytes, whatever it says
		return scene.Book{}, nil, fault.New(fault.Invalid, "this lorebook has %d entries", len(list)).WithHint("take one of %d at most", maxEntries)
	}
	r := &reader{at: "the book", card: characterBook(), info: worldInfo()}
	b := scene.Book{World: r.world(top)}
	for i, entry := range list {
		if e, ok := r.entry(i, entry); ok {
			b.Entries = append(b.Entries, e)
		}
	}
	b.World.ContentHash = Hash(b)
	return b, r.lines(), nil
}

// bookObject returns the object that has the entries.
func bookObject(raw json.RawMessage) (fields, error) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	if len(raw) > 0 && raw[0] == '[' {
		return fields{"entries": raw}, nil
	}
	var top fields
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, fault.New(fault.Invalid, "this is no lorebook: it is not a JSON object")
	}
	var inner fields
	if string(top["spec"]) == `"lorebook_v3"` && json.Unmarshal(top["data"], &inner) == nil {
		top = inner
	}
	if _, ok := top["entries"]; !ok {
		return nil, fault.New(fault.Invalid, "this is no lorebook: it has no entries").
			WithHint("take a character_book or a SillyTavern world-info file")
	}
	return top, nil
}

// entriesOf lists the entries of a list or of an object, in the order of the
// text.
func entriesOf(raw json.RawMessage) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if isNull(raw) {
		return nil, nil
	}
	bad := fault.New(fault.Invalid, "this is no lorebook: its entries are neither a list nor an object")
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, bad
		}
		return list, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, bad
	}
	for dec.More() {
		var entry json.RawMessage
		if _, err := dec.Token(); err != nil {
			return nil, bad
		}
		if err := dec.Decode(&entry); err != nil {
			return nil, bad
		}
		list = append(list, entry)
	}
	return list, nil
}

// world reads what a book says beside its entries.
func (r *reader) world(top fields) scene.World {
	var w scene.World
	if raw := top["name"]; !isNull(raw) {
		w.Name, _ = r.text("name", raw)
	}
	if raw := top["recursive_scanning"]; !isNull(raw) {
		w.Recursive, _ = r.flag("recursive_scanning", raw)
	}
	for _, name := range []string{"entries", "name", "recursive_scanning"} {
		delete(top, name)
	}
	var inner fields
	bad := json.Unmarshal(top["extensions"], &inner) != nil
	if bad && top["extensions"] != nil {
		r.note("extensions is no object and was left out")
	}
	if bad || len(inner) == 0 {
		delete(top, "extensions")
	}
	if len(top) > 0 {
		w.Extras = literal.Must(top)
	}
	return w
}

// Hash is equal for books that say the same, whatever their ids, times and
// places in a store: hexadecimal SHA-256 of all that an export would carry but
// the numbers of the entries, and the name: a book without one takes its card's
// when it becomes a world. Of a book without entries the name is all there is.
func Hash(b scene.Book) string {
	h := sha256.New()
	name := b.World.Name
	if len(b.Entries) > 0 {
		name = ""
	}
	hashParts(h, name, b.World.Recursive, canonical(b.World.Extras))
	for _, e := range b.Entries {
		// What cannot be read says nothing.
		_, kept, _ := keptOf(e.Extras)
		delete(kept, "id")
		delete(kept, "uid")
		hashParts(h, e.Name, e.Content, list(e.Keys), list(e.SecondaryKeys), e.Selective, e.CaseInsensitive, e.WholeWords,
			e.Regex, e.Constant, e.AtDepth, e.Priority, e.Enabled, e.Order, canonical(literal.Must(kept)))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashParts writes values so that no two lists of them look the same.
func hashParts(h io.Writer, parts ...any) {
	// A hash takes any write.
	_, _ = h.Write(append(literal.Must(parts), '\n'))
}

// canonical is a JSON value in one spelling, nil for none.
func canonical(raw json.RawMessage) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	if m, ok := v.(map[string]any); ok && len(m) == 0 {
		return nil
	}
	return v
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// list is never null.
func list(keys []string) []string {
	if keys == nil {
		return []string{}
	}
	return keys
}
