package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jp/internal/scene"
)

func typeName(v any) string { return strings.TrimPrefix(fmt.Sprintf("%T", v), "scene.") }

// text: what people and models write comes back.
func text(t *testing.T, s scene.Store) {
	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Insert(group("c")) })
	for name, c := range map[string]struct{ in, out string }{
		"empty":     {"", ""},
		"zero byte": {"a\x00b\x00", "a\x00b\x00"},
		"controls":  {"\x01\x1b[31m\r\n\t\x7f\u202e\ufeff", "\x01\x1b[31m\r\n\t\x7f\u202e\ufeff"},
		"emoji":     {"👩‍👩‍👧 é e\u0301 \U0010FFFF", "👩‍👩‍👧 é e\u0301 \U0010FFFF"},
		"SQL":       {`'; DROP TABLE messages; -- $1 ?1 %_\`, `'; DROP TABLE messages; -- $1 ?1 %_\`},
		"no UTF-8":  {"a\xffb\xc3", "a\uFFFDb\uFFFD"},
		"number":    {"007", "007"},
		"long":      {strings.Repeat("é", 1<<19), strings.Repeat("é", 1<<19)},
	} {
		m := message("c", nil)
		m.Content, m.Author, m.WriterDraft = c.in, c.in, &c.in
		m.Cut = &scene.Cut{Label: c.in}
		kept := scene.Card{
			ID: "card " + c.in, Name: c.in, Tags: []string{c.in, ""}, CreatedAt: at(0), UpdatedAt: at(0),
		}
		update(t, s, func(tx scene.Tx) error {
			return all(func() error { return tx.Messages.Insert(&m) }, func() error { return tx.Cards.Insert(kept) })
		})
		got := read(t, s, func(tx scene.Tx) (scene.Message, error) { return tx.Messages.Get("c", m.ID) })
		m.Content, m.Author, m.WriterDraft, m.Cut.Label = c.out, c.out, &c.out, c.out
		same(t, name, got, m)
		kept.ID, kept.Name, kept.Tags[0] = "card "+c.out, c.out, c.out
		same(t, name, read(t, s, func(tx scene.Tx) (scene.Card, error) { return tx.Cards.Get(kept.ID) }), kept)
	}
	rapid.Check(t, func(r *rapid.T) {
		p := persona(rapid.String().Draw(r, "id"))
		p.Name = rapid.String().Draw(r, "name")
		update(r, s, func(tx scene.Tx) error { return tx.Personas.Insert(p) })
		same(r, "persona", read(r, s, func(tx scene.Tx) (scene.Persona, error) { return tx.Personas.Get(p.ID) }), p)
		update(r, s, func(tx scene.Tx) error { return tx.Personas.Delete(p.ID) })
	})
}

// settings are one document.
func settings(t *testing.T, s scene.Store) {
	get := func(tx scene.Tx) (scene.Settings, error) { return tx.Settings.Get() }
	same(t, "the defaults", read(t, s, get), scene.DefaultSettings())
	for turn := range 2 {
		want := settingsOf(turn)
		update(t, s, func(tx scene.Tx) error { return tx.Settings.Save(want) })
		same(t, "what was saved", read(t, s, get), want)
	}
	// Nothing of the defaults comes back into what was emptied.
	update(t, s, func(tx scene.Tx) error {
		return tx.Settings.Save(scene.Settings{EnabledTools: map[string]bool{}, WorkflowConfig: json.RawMessage("{}")})
	})
	same(t, "what was emptied", read(t, s, get),
		scene.Settings{EnabledTools: map[string]bool{}, WorkflowConfig: json.RawMessage("{}")})
}

func settingsOf(turn int) scene.Settings {
	out := filled[scene.Settings](turn)
	out.WorkflowConfig = json.RawMessage(`{"a":1}`) // kept as JSON, not letter by letter
	return out
}
