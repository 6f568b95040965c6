package card

import (
	"bytes"
	"encoding/json"

	"jp/internal/lib/literal"
	"jp/internal/scene"
	"jp/internal/scene/lore"
)

// EncodeJSON writes a card as chara_card_v3, with its book if there is one.
// Errors: those of lore.EncodeCharacterBook.
func EncodeJSON(c scene.Card, book *scene.Book) ([]byte, error) {
	return encode(c, book, true)
}

// encode writes a card in the shape of V3 or V2. In V2 the fields that only V3
// has stay parked in the extensions.
func encode(c scene.Card, book *scene.Book, v3 bool) ([]byte, error) {
	ext, _, _ := parseObject(compactObject(c.Extensions))
	lifted := unpark(&ext)
	if !v3 {
		stay := parked{v3: lifted.v3}
		stay.park(&ext)
	}
	var data object
	for _, f := range texts(&c) {
		data.set(f.key, literal.Must(*f.into))
	}
	for _, f := range lists(&c) {
		data.set(f.key, quoteList(*f.into))
	}
	if v3 {
		data.set("group_only_greetings", json.RawMessage("[]")) // V3 demands it
		data.merge(lifted.v3)
	}
	if book != nil {
		raw, err := lore.EncodeCharacterBook(*book)
		if err != nil {
			return nil, err
		}
		data.set("character_book", raw)
	}
	data.set("extensions", ext.encode())
	data.merge(lifted.extra)

	var out object
	spec, version := "chara_card_v2", "2.0"
	if v3 {
		spec, version = "chara_card_v3", "3.0"
	}
	out.set("spec", literal.Must(spec))
	out.set("spec_version", literal.Must(version))
	out.set("data", data.encode())
	if idShape.MatchString(c.ID) {
		out.set("orb_id", literal.Must(c.ID))
	}
	out.merge(lifted.outer)
	return out.encode(), nil
}

// compactObject is raw without white space around it when it is valid JSON,
// else nothing.
func compactObject(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return nil
	}
	return bytes.TrimSpace(raw)
}
