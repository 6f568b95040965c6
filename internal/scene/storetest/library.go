package storetest

import (
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func cards(t *testing.T, s scene.Store) {
	plain, full := card("b", "zoë"), filled[scene.Card](0)
	full.ID, full.Name, full.WorldID, full.PersonaLock = "a", "Zed", ptr("w"), ptr("p")
	full.Description, full.Personality, full.Examples = "éé", "👩", "abc"
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return tx.Worlds.Insert(world("w")) },
			func() error { return tx.Personas.Insert(persona("p")) },
			func() error { return insert(tx.Cards, plain, full, card("d", "anna"), card("c", "Anna")) },
			func() error { return tx.Cards.SetAvatar("a", scene.Avatar{MIME: "image/gif", Data: []byte("x")}) },
			func() error {
				return tx.Cards.SetAvatar("a", scene.Avatar{MIME: "image/png", Data: []byte("\x89\x00")})
			},
		)
	})
	briefs := read(t, s, func(tx scene.Tx) ([]scene.CardBrief, error) { return tx.Cards.Briefs() })
	same(t, "Briefs by name", pluck(briefs, func(b scene.CardBrief) string { return b.ID }), []string{"c", "d", "a", "b"})
	same(t, "a brief", briefs[2], scene.CardBrief{
		ID: full.ID, Name: full.Name, CreatorNotes: full.CreatorNotes, Tags: full.Tags, Creator: full.Creator, Format: full.Format,
		WorldID: full.WorldID, PersonaLock: full.PersonaLock, Chars: 6, HasAvatar: true, CreatedAt: full.CreatedAt, UpdatedAt: full.UpdatedAt,
	})
	same(t, "no picture", briefs[3].HasAvatar, false)
	avatar := func(tx scene.Tx) (scene.Avatar, error) { return tx.Cards.Avatar("a") }
	same(t, "Avatar", read(t, s, avatar), scene.Avatar{MIME: "image/png", Data: []byte("\x89\x00")})

	full.Name = "Changed" // the picture stays
	update(t, s, func(tx scene.Tx) error { return tx.Cards.Save(full) })
	same(t, "Avatar", read(t, s, avatar), scene.Avatar{MIME: "image/png", Data: []byte("\x89\x00")})
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Cards.Avatar("b"); return err })
	update(t, s, func(tx scene.Tx) error {
		return all(func() error { return tx.Cards.Delete("a") }, func() error { return tx.Cards.Insert(full) })
	})
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Cards.Avatar("a"); return err })
}

func worlds(t *testing.T, s scene.Store) {
	book, again := world("w"), world("v")
	book.ContentHash, again.ContentHash = "hash", "hash"
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Worlds, world("u"), book, again) },
			func() error {
				return tx.Entries.InsertAll([]scene.Entry{
					entry("e1", "w", 2), entry("e4", "v", 1), entry("e3", "w", 1), entry("e2", "w", 1), entry("e5", "u", 0),
				})
			},
			func() error { return tx.Entries.InsertAll(nil) },
		)
	})
	byHash := func(tx scene.Tx) (scene.World, error) { return tx.Worlds.ByHash("hash") }
	same(t, "ByHash finds the oldest", read(t, s, byHash), book)
	for _, hash := range []string{"HASH", ""} { // "" is no hash
		refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Worlds.ByHash(hash); return err })
	}
	of := func(ids ...string) []string {
		rows := read(t, s, func(tx scene.Tx) ([]scene.Entry, error) { return tx.Entries.Of(ids...) })
		return pluck(rows, func(e scene.Entry) string { return e.ID })
	}
	same(t, "by world, Order, creation", of("w", "v", "nothing"), []string{"e4", "e3", "e2", "e1"})
	same(t, "of no world", of(), []string{})

	refuse(t, s, fault.Conflict, func(tx scene.Tx) error {
		return tx.Entries.InsertAll([]scene.Entry{entry("e6", "w", 0), entry("e1", "w", 0)})
	})
	same(t, "nothing of a failure", of("w"), []string{"e3", "e2", "e1"})
}

func models(t *testing.T, s scene.Store) {
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Endpoints, scene.Endpoint{ID: "e"}, scene.Endpoint{ID: "f"}) },
			func() error { return insert(tx.Models, model("m2", "e"), model("m3", "f"), model("m1", "e")) },
		)
	})
	rows := read(t, s, func(tx scene.Tx) ([]scene.ModelConfig, error) { return tx.Models.Of("e") })
	same(t, "Of", rows, []scene.ModelConfig{model("m2", "e"), model("m1", "e")})
}
