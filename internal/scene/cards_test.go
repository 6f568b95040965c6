package scene_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func newCard(t failing, s *scene.Service, c scene.Card, b *scene.Book) scene.Card {
	t.Helper()
	made, err := s.CreateCard(context.Background(), c, nil, b)
	return ok(t, made, err)
}

// misfit fails the test unless err points at the field.
func misfit(t failing, err error, field string) {
	t.Helper()
	e, is := errors.AsType[*scene.FieldError](err)
	if !is || e.Field != field || fault.CodeOf(err) != fault.Invalid {
		t.Fatalf("got error %v, want one about %s", err, field)
	}
}

func TestCreateCard(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	made := newCard(t, s, scene.Card{Name: "Mira", Tags: []string{"a"}, Greetings: []string{"hi"}, Extensions: json.RawMessage(`{"z": 1.0,"a":2}`)}, nil)
	if made.ID == "" || made.Format != "manual" || made.CreatedAt.IsZero() || made.CreatedAt != made.UpdatedAt {
		t.Fatalf("made %+v", made)
	}
	got, err := s.Card(ctx, made.ID)
	if diff := cmp.Diff(made, ok(t, got, err)); diff != "" {
		t.Errorf("stored (-made +got)\n%s", diff)
	}
	_, err = s.CreateCard(ctx, scene.Card{ID: made.ID, Name: "Other"}, nil, nil)
	refuse(t, err, fault.Conflict)
	for _, name := range []string{"", " \t\n", "\u200b\u00a0", "\x00"} {
		_, err = s.CreateCard(ctx, scene.Card{Name: name}, nil, nil)
		misfit(t, err, "name")
	}
	for _, id := range []string{"..", "a/b", "a b", "a\n", "q?x", strings.Repeat("x", 200)} {
		_, err = s.CreateCard(ctx, scene.Card{ID: id, Name: "x"}, nil, nil)
		misfit(t, err, "id")
	}
	for _, ext := range []string{`[]`, `"x"`, `{"a":`, `1`} {
		_, err = s.CreateCard(ctx, scene.Card{Name: "x", Extensions: json.RawMessage(ext)}, nil, nil)
		misfit(t, err, "extensions")
	}
	_, err = s.CreateCard(ctx, scene.Card{Name: "x", WorldID: ptr("nowhere")}, nil, nil)
	refuse(t, err, fault.Invalid)
	_, err = s.CreateCard(ctx, scene.Card{Name: "x", PersonaLock: ptr("nobody")}, nil, nil)
	refuse(t, err, fault.Invalid)
	if all := must(s.Cards(ctx)); len(all) != 1 {
		t.Errorf("what was refused left %d cards", len(all))
	}
	odd := newCard(t, s, scene.Card{ID: "orb-1", Name: `<script>../CON "🦊"`}, nil)
	if odd.ID != "orb-1" || odd.Name != `<script>../CON "🦊"` {
		t.Errorf("got %+v", odd)
	}
}

// must is for calls that are not what the test is about.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func book(name, hash string, n int) *scene.Book {
	b := &scene.Book{World: scene.World{Name: name, ContentHash: hash}}
	for i := range n {
		e := scene.NewEntry()
		e.Name, e.Content, e.Keys = fmt.Sprint("entry ", i), "text", []string{fmt.Sprint("key ", i)}
		b.Entries = append(b.Entries, e)
	}
	return b
}

// One book in three cards is one world; a book of 5,000 entries comes in whole.
func TestCardBooks(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	big := book("", "h1", 5000)
	a := newCard(t, s, scene.Card{Name: "A"}, big)
	b := newCard(t, s, scene.Card{Name: "B"}, big)
	c := newCard(t, s, scene.Card{Name: "C"}, book("Renamed in vain", "h1", 5000))
	if a.WorldID == nil || *a.WorldID != *b.WorldID || *a.WorldID != *c.WorldID {
		t.Fatalf("linked %v %v %v", a.WorldID, b.WorldID, c.WorldID)
	}
	w := must(s.World(ctx, *a.WorldID))
	if w.Name != "A" || w.ContentRevision != 1 {
		t.Errorf("world %+v is not named after its card, or changed more than once", w)
	}
	entries := must(s.Entries(ctx, w.ID))
	if len(entries) != 5000 || entries[4999].Name != "entry 4999" {
		t.Errorf("%d entries", len(entries))
	}
	// No hash, no memory: two worlds.
	d, e := newCard(t, s, scene.Card{Name: "D"}, book("Inn", "", 1)), newCard(t, s, scene.Card{Name: "E"}, book("Inn", "", 1))
	if *d.WorldID == *e.WorldID {
		t.Error("books without a hash were taken for one")
	}
	if w := must(s.World(ctx, *d.WorldID)); w.Name != "Inn" {
		t.Errorf("named %q", w.Name)
	}
	linked := newCard(t, s, scene.Card{Name: "F", WorldID: d.WorldID}, book("New", "h2", 3))
	if *linked.WorldID != *d.WorldID || len(must(s.Worlds(ctx))) != 3 {
		t.Error("a card with a world of its own got another")
	}
	if c := newCard(t, s, scene.Card{Name: "G"}, book("Empty", "h3", 0)); c.WorldID != nil {
		t.Error("an empty book became a world")
	}
	ours := book("Ours", "h4", 0)
	ours.World.Extras = json.RawMessage(`{"extensions":{"orb":{"is_global":true}}}`)
	if c := newCard(t, s, scene.Card{Name: "H"}, ours); c.WorldID == nil || must(s.World(ctx, *c.WorldID)).Global {
		t.Error("an empty book of ours became no world, or a global one")
	}
	// A card that is refused leaves no world behind.
	before := len(must(s.Worlds(ctx)))
	_, err := s.CreateCard(ctx, scene.Card{Name: "X"}, &scene.Avatar{Data: []byte("no picture")}, book("Lost", "h5", 2))
	refuse(t, err, fault.Invalid)
	if after := len(must(s.Worlds(ctx))); after != before {
		t.Error("a refused card left its world")
	}
}

func TestCardBook(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	c := newCard(t, s, scene.Card{Name: "A"}, book("Inn", "h", 3))
	got := must(s.CardBook(ctx, c.ID))
	if got == nil || got.World.Name != "Inn" || len(got.Entries) != 3 || got.Entries[2].Keys[0] != "key 2" {
		t.Fatalf("got %+v", got)
	}
	if err := s.DeleteWorld(ctx, *c.WorldID); err != nil {
		t.Fatal(err)
	}
	if got, err := s.CardBook(ctx, c.ID); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if c := must(s.Card(ctx, c.ID)); c.WorldID != nil {
		t.Error("the card still names the deleted world")
	}
	_, err := s.CardBook(ctx, "nobody")
	refuse(t, err, fault.NotFound)
}

func TestChangeCard(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	p := must(s.CreatePersona(ctx, scene.Persona{Name: "Me"}))
	c := newCard(t, s, scene.Card{Name: "A", Description: "d", Greetings: []string{}, PersonaLock: &p.ID, Extensions: json.RawMessage(`{"b": 1.50, "a":[ ]}`)}, book("Inn", "h", 1))
	next, err := s.ChangeCard(ctx, c.ID, scene.CardChange{Personality: scene.To("sharp"), Tags: scene.To([]string{"x"})}, nil)
	want := c
	want.Personality, want.Tags, want.UpdatedAt = "sharp", []string{"x"}, next.UpdatedAt
	if diff := cmp.Diff(want, ok(t, next, err)); diff != "" || !next.UpdatedAt.After(c.UpdatedAt) {
		t.Errorf("(-want +got)\n%s", diff)
	}
	next, err = s.ChangeCard(ctx, c.ID, scene.CardChange{WorldID: scene.To[*string](nil), PersonaLock: scene.To[*string](nil)}, nil)
	if ok(t, next, err).WorldID != nil || next.PersonaLock != nil {
		t.Error("null did not clear")
	}
	next, err = s.ChangeCard(ctx, c.ID, scene.CardChange{Book: book("Inn", "h", 1)}, nil)
	if ok(t, next, err).WorldID == nil || *next.WorldID != *c.WorldID {
		t.Error("an update with the same book did not find its world")
	}
	next, err = s.ChangeCard(ctx, c.ID, scene.CardChange{Book: book("", "", 0)}, nil)
	if ok(t, next, err).WorldID == nil {
		t.Error("an update with an empty book lost the world")
	}
	next, err = s.ChangeCard(ctx, c.ID, scene.CardChange{Book: book("Other", "h2", 1), WorldID: scene.To(c.WorldID)}, nil)
	if ok(t, next, err).WorldID == nil || *next.WorldID != *c.WorldID {
		t.Error("a named world did not win over the book")
	}
	_, err = s.ChangeCard(ctx, c.ID, scene.CardChange{Name: scene.To(" "), Description: scene.To("lost")}, nil)
	misfit(t, err, "name")
	_, err = s.ChangeCard(ctx, c.ID, scene.CardChange{WorldID: scene.To(ptr("nowhere"))}, nil)
	refuse(t, err, fault.Invalid)
	_, err = s.ChangeCard(ctx, "nobody", scene.CardChange{}, nil)
	refuse(t, err, fault.NotFound)
	if got := must(s.Card(ctx, c.ID)); got.Description != "d" || string(got.Extensions) != string(c.Extensions) {
		t.Errorf("a refused or unrelated change left %+v", got)
	}
}

// solo makes a solo chat of a card.
func solo(t failing, s *scene.Service, card string) scene.Conversation {
	t.Helper()
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{CardID: &card})
	return ok(t, c, err)
}

func TestCardEditsReachSoloChats(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	card := newCard(t, s, scene.Card{Name: "Mira", Scenario: "An inn", PostHistory: "Be brief"}, nil)
	other := newCard(t, s, scene.Card{Name: "Mira", Scenario: "Else"}, nil)
	chat, own, foreign := solo(t, s, card.ID), solo(t, s, card.ID), solo(t, s, other.ID)
	group, err := s.CreateConversation(ctx, scene.NewConversation{
		Kind: scene.Group, Title: "The inn", Scenario: "A premise", Members: []scene.MemberSpec{{CardID: &card.ID}},
	})
	ok(t, group, err)
	_, err = s.ChangeConversation(ctx, own.ID, scene.ConversationChange{Scenario: scene.To("My own place")}, nil)
	ok(t, 0, err)
	before := conversation(t, s, own.ID)

	_, err = s.ChangeCard(ctx, card.ID, scene.CardChange{Name: scene.To("Mirabel"), PostHistory: scene.To("")}, nil)
	ok(t, 0, err)
	got := conversation(t, s, chat.ID)
	if got.CharacterName != "Mirabel" || got.Scenario != "An inn" || got.PostHistory != "" || got.Revision != chat.Revision+1 {
		t.Errorf("the chat has %+v", got)
	}
	if !got.UpdatedAt.Equal(chat.UpdatedAt) {
		t.Error("an edit of the card moved its chats in the list")
	}
	got = conversation(t, s, own.ID)
	if got.CharacterName != "Mirabel" || got.Scenario != before.Scenario {
		t.Errorf("what the edit did not touch is %q", got.Scenario)
	}
	if diff := cmp.Diff(group, conversation(t, s, group.ID)); diff != "" {
		t.Errorf("the group changed (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(foreign, conversation(t, s, foreign.ID)); diff != "" {
		t.Errorf("a foreign chat changed (-want +got)\n%s", diff)
	}
	_, err = s.ChangeCard(ctx, card.ID, scene.CardChange{Description: scene.To("new")}, nil)
	ok(t, 0, err)
	if after := conversation(t, s, own.ID); after.Revision != got.Revision {
		t.Error("an edit that no chat sees counts as a change of the chat")
	}
}

func TestDeleteCard(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	card := newCard(t, s, scene.Card{Name: "Mira"}, nil)
	chat := solo(t, s, card.ID)
	group, err := s.CreateConversation(ctx, scene.NewConversation{
		Kind: scene.Group, Title: "The inn", Members: []scene.MemberSpec{{CardID: &card.ID}},
	})
	ok(t, group, err)
	usage := must(s.CardUsage(ctx, card.ID))
	if len(usage) != 2 || usage[0].ID != chat.ID || usage[1].ID != group.ID {
		t.Errorf("used by %+v", usage)
	}
	if err := s.DeleteCard(ctx, card.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := conversation(t, s, chat.ID); got.CardID == nil || *got.CardID != card.ID {
		t.Error("the chat lost the id of its card, which may come back")
	}
	if m := roster(t, s, group.ID, false); m[0].CardID == nil || m[0].Name != "Mira" {
		t.Errorf("the member is %+v", m[0])
	}
	refuse(t, s.DeleteCard(ctx, card.ID, false), fault.NotFound)
	_, err = s.CardUsage(ctx, card.ID)
	refuse(t, err, fault.NotFound)

	newCard(t, s, scene.Card{ID: card.ID, Name: "Mira"}, nil)
	stopped := make(chan struct{})
	claim, err := s.Claim(ctx, chat.ID, func() { close(stopped) })
	ok(t, 0, err)
	go func() { <-stopped; claim.Release() }()
	if err := s.DeleteCard(ctx, card.ID, true); err != nil {
		t.Fatal(err)
	}
	_, err = s.Conversation(ctx, chat.ID)
	refuse(t, err, fault.NotFound)
	if m := roster(t, s, group.ID, false); len(m) != 1 {
		t.Error("the group went with the card")
	}
	refuse(t, s.DeleteCard(ctx, "nobody", true), fault.NotFound)
}

func TestAvatars(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	pictures := map[string]string{
		"image/png":  "\x89PNG\r\n\x1a\n" + "rest",
		"image/jpeg": "\xff\xd8\xff\xe0rest",
		"image/gif":  "GIF89a rest",
		"image/webp": "RIFF\x10\x00\x00\x00WEBPVP8 rest",
	}
	for mime, data := range pictures {
		c, err := s.CreateCard(ctx, scene.Card{Name: mime}, &scene.Avatar{MIME: "text/html", Data: []byte(data)}, nil)
		a, err2 := s.Avatar(ctx, ok(t, c, err).ID)
		if ok(t, a, err2).MIME != mime || string(a.Data) != data {
			t.Errorf("%s came back as %s", mime, a.MIME)
		}
	}
	c := newCard(t, s, scene.Card{Name: "bare"}, nil)
	_, err := s.Avatar(ctx, c.ID)
	refuse(t, err, fault.NotFound)
	for _, data := range []string{"", "<svg onload=alert(1)>", "<html>", "%PDF-1.4", "RIFF\x10\x00\x00\x00WAVEfmt ", "\x89PNG"} {
		_, err := s.ChangeCard(ctx, c.ID, scene.CardChange{Name: scene.To("changed")}, &scene.Avatar{MIME: "image/png", Data: []byte(data)})
		refuse(t, err, fault.Invalid)
	}
	if got := must(s.Card(ctx, c.ID)); got.Name != "bare" {
		t.Error("a refused picture left half a change")
	}
	_, err = s.ChangeCard(ctx, c.ID, scene.CardChange{}, &scene.Avatar{Data: []byte(pictures["image/gif"])})
	ok(t, 0, err)
	if a := must(s.Avatar(ctx, c.ID)); a.MIME != "image/gif" {
		t.Errorf("now %q", a.MIME)
	}
}

func TestSetProfileKeepsForeignKeys(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	for before, want := range map[string]string{
		``:                      `{"orb":{"public_profile":{"appearance":"<tall>","role":"guard"}}}`,
		`{ }`:                   `{"orb":{"public_profile":{"appearance":"<tall>","role":"guard"}} }`,
		`{"z":1.0,"a":1e3 }`:    `{"z":1.0,"a":1e3,"orb":{"public_profile":{"appearance":"<tall>","role":"guard"}} }`,
		`{"orb":null,"a":"\/"}`: `{"orb":{"public_profile":{"appearance":"<tall>","role":"guard"}},"a":"\/"}`,
		`{"orb" : {"v3":{"b":1,"a":2.50}, "public_profile":{"role":"x", "voice": 1} },"x": [ 1 ]}`: `{"orb" : {"v3":{"b":1,"a":2.50}, "public_profile":{"role":"guard", "voice": 1,"appearance":"<tall>"} },"x": [ 1 ]}`,
	} {
		c := newCard(t, s, scene.Card{Name: "A", Extensions: json.RawMessage(before)}, nil)
		p := scene.Profile{Appearance: "<tall>", Role: "guard"}
		got, err := s.SetProfile(ctx, c.ID, p)
		if ok(t, got, err) != p {
			t.Errorf("answered %+v", got)
		}
		if ext := string(must(s.Card(ctx, c.ID)).Extensions); ext != want {
			t.Errorf("%s became\n%s, not\n%s", before, ext, want)
		}
	}
	_, err := s.SetProfile(ctx, "nobody", scene.Profile{})
	refuse(t, err, fault.NotFound)
}

// Whatever other programs keep in a card's extensions, writing the profile
// leaves its bytes alone, and the profile reads back.
func TestSetProfileProperty(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	rapid.Check(t, func(t *rapid.T) {
		foreign := rapid.MapOfN(rapid.StringMatching(`[a-z"\\🦊é]{0,6}`),
			rapid.SampledFrom([]string{`1.0`, `-1e-7`, `"a,}"`, `{"orb":{ }}`, `[{},[ ]]`, `null`, `{"public_profile":1}`, `12345678901234567890`}), 0, 6).Draw(t, "foreign")
		delete(foreign, "orb")
		var b bytes.Buffer
		b.WriteString("{")
		for _, key := range slices.Sorted(maps.Keys(foreign)) {
			if b.Len() > 1 {
				b.WriteString(",\n ")
			}
			name, _ := json.Marshal(key)
			fmt.Fprintf(&b, "%s : %s", name, foreign[key])
		}
		before := b.String()
		c := newCard(t, s, scene.Card{Name: "A", Extensions: json.RawMessage(before + " }")}, nil)
		p := scene.Profile{Appearance: rapid.String().Draw(t, "appearance"), Role: rapid.String().Draw(t, "role")}
		for range 2 { // the second time it is replaced
			_, err := s.SetProfile(ctx, c.ID, p)
			ok(t, 0, err)
		}
		after := string(must(s.Card(ctx, c.ID)).Extensions)
		if !strings.HasPrefix(after, before) || strings.Count(after, `"public_profile":{`) != 1 {
			t.Fatalf("%s }\nbecame\n%s", before, after)
		}
		var read struct {
			Orb struct {
				Profile scene.Profile `json:"public_profile"`
			} `json:"orb"`
		}
		if err := json.Unmarshal([]byte(after), &read); err != nil || read.Orb.Profile != p {
			t.Fatalf("%s reads as %+v, %v", after, read, err)
		}
	})
}
