package lore

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"jp/internal/lib/fault"
	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// EncodeCharacterBook writes a book as cards of the second and third version
// carry it. DecodeBook reads the same book from it. Errors: fault.Invalid when
// unknown fields that were kept are no JSON object.
func EncodeCharacterBook(b scene.Book) (json.RawMessage, error) {
	d := characterBook()
	top, entries, err := d.encode(b)
	if err != nil {
		return nil, err
	}
	list := make([]fields, 0, len(entries))
	for i, f := range entries {
		if isNull(f[d.id]) {
			f[d.id] = literal.Must(i)
		}
		list = append(list, withExtensions(nest(f)))
	}
	top["entries"] = literal.Must(list)
	return literal.Must(withExtensions(top)), nil
}

// withExtensions adds the object that the format demands.
func withExtensions(f fields) fields {
	if isNull(f["extensions"]) {
		f["extensions"] = json.RawMessage("{}")
	}
	return f
}

// EncodeWorldInfo writes a book as SillyTavern's world-info files hold it.
// DecodeBook reads the same book from it. Errors: as of EncodeCharacterBook.
func EncodeWorldInfo(b scene.Book) (json.RawMessage, error) {
	d := worldInfo()
	top, entries, err := d.encode(b)
	if err != nil {
		return nil, err
	}
	var list bytes.Buffer
	list.WriteByte('{')
	for i, n := range numbering(entries, d.id) {
		f := entries[i]
		f[d.id] = literal.Must(n)
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString(strconv.Quote(strconv.Itoa(n)) + ":")
		list.Write(literal.Must(nest(f)))
	}
	list.WriteByte('}')
	top["entries"] = list.Bytes()
	return literal.Must(top), nil
}

// encode writes the fields of a book and of its entries.
func (d dialect) encode(b scene.Book) (top fields, entries []fields, err error) {
	top = fields{}
	if len(b.World.Extras) > 0 && json.Unmarshal(b.World.Extras, &top) != nil {
		return nil, nil, damaged(b.World.Name)
	}
	if top == nil {
		top = fields{}
	}
	top["name"] = literal.Must(b.World.Name)
	if b.World.Recursive || d.inCard {
		top["recursive_scanning"] = literal.Must(b.World.Recursive)
	}
	for _, e := range b.Entries {
		f, err := d.base(e)
		if err != nil {
			return nil, nil, err
		}
		d.write(f, e)
		entries = append(entries, f)
	}
	return top, entries, nil
}

func damaged(name string) error {
	return fault.New(fault.Invalid, "the fields that were kept with %q are no JSON object", name)
}

// write puts what an entry says into its fields. A field that says the same
// already is left as its source wrote it.
func (d dialect) write(f fields, e scene.Entry) {
	for _, x := range d.field {
		v := x.value(e)
		if v == nil {
			continue
		}
		said := literal.Must(x.value(absent()))
		raw, there := f[x.name]
		if !isNull(raw) {
			was := e
			x.decode(&reader{}, raw, &was)
			said = literal.Must(x.value(was))
		}
		want := literal.Must(v)
		if !bytes.Equal(said, want) || x.always && !there {
			f[x.name] = want
		}
	}
}

// base is what was kept of an entry's source, in the names of the format.
func (d dialect) base(e scene.Entry) (fields, error) {
	from, f, err := keptOf(e.Extras)
	if err != nil {
		return nil, damaged(e.Name)
	}
	if from.name == d.name {
		return f, nil
	}
	return from.translate(f), nil
}

// keptOf reads the unknown fields of an entry, and which format they are of.
func keptOf(extras json.RawMessage) (dialect, fields, error) {
	var kept fields
	if len(extras) > 0 {
		if err := json.Unmarshal(extras, &kept); err != nil {
			return dialect{}, nil, err
		}
	}
	for _, d := range []dialect{characterBook(), worldInfo()} {
		if f, ok := flatten(kept[d.name]); ok {
			return d, f, nil
		}
	}
	return characterBook(), fields{}, nil
}

// translate renames what was kept in the format d for the other one. What has no
// name there stays beside it: in the extensions of a character_book, and where
// it was in world info.
func (d dialect) translate(f fields) fields {
	from, into := 1, 0 // places in a pair: world info first
	if !d.inCard {
		from, into = 0, 1
	}
	out := fields{}
	for _, pair := range translations() {
		if raw, ok := f[pair[from]]; ok {
			out[pair[into]] = raw
			delete(f, pair[from])
		}
	}
	if into == 0 && afterCard(f["position"]) && out["position"] == nil {
		out["position"] = json.RawMessage("1")
	}
	for name, raw := range f {
		if d.knows(name) {
			continue
		}
		if into == 1 {
			name = ext + plain(name)
		}
		out[name] = raw
	}
	return out
}

// afterCard tells whether a position of a character_book is the later of the
// two it knows.
func afterCard(raw json.RawMessage) bool {
	n, _, _ := asNumber(raw)
	s, _, _ := asText(raw)
	return n == 1 || s == "after_char"
}

func (d dialect) knows(name string) bool {
	return slices.ContainsFunc(d.field, func(x field) bool { return x.name == name })
}

// numbering gives every entry the number it had, or else its place in the
// list; one that is taken becomes the next free one above all others.
func numbering(entries []fields, id string) []int {
	out := make([]int, len(entries))
	taken := map[int]bool{}
	top := len(entries)
	for i, f := range entries {
		if isNull(f[id]) {
			out[i], taken[i] = i, true
		}
	}
	var late []int
	for i, f := range entries {
		if isNull(f[id]) {
			continue
		}
		n, exact, _ := asNumber(f[id])
		if !exact || n < 0 || taken[n] {
			late = append(late, i)
			continue
		}
		out[i], taken[n] = n, true
		top = max(top, n+1)
	}
	for _, i := range late {
		out[i] = top
		top++
	}
	return out
}
