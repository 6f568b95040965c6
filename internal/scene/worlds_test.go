package scene_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func TestWorlds(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	w, err := s.CreateWorld(ctx, "Inn")
	if ok(t, w, err).ContentRevision != 0 || w.Global || w.Dynamic || w.Recursive {
		t.Errorf("made %+v", w)
	}
	_, err = s.CreateWorld(ctx, "\t")
	misfit(t, err, "name")
	got, err := s.ChangeWorld(ctx, w.ID, scene.WorldChange{Global: scene.To(true), Dynamic: scene.To(true), Recursive: scene.To(true), Name: scene.To("Pub")})
	want := w
	want.Global, want.Dynamic, want.Recursive, want.Name, want.UpdatedAt = true, true, true, "Pub", got.UpdatedAt
	if diff := cmp.Diff(want, ok(t, got, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, err = s.ChangeWorld(ctx, w.ID, scene.WorldChange{Name: scene.To("")})
	misfit(t, err, "name")
	if diff := cmp.Diff([]scene.World{got}, must(s.Worlds(ctx))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, err := range []error{
		second(s.World(ctx, "nowhere")), second(s.ChangeWorld(ctx, "nowhere", scene.WorldChange{})), s.DeleteWorld(ctx, "nowhere"),
		second(s.Entries(ctx, "nowhere")), second(s.CreateEntry(ctx, "nowhere", scene.NewEntry())), second(s.Book(ctx, "nowhere")),
		second(s.ImportEntries(ctx, "nowhere", scene.Book{})),
	} {
		refuse(t, err, fault.NotFound)
	}
	if err := s.DeleteWorld(ctx, w.ID); err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

// The content revision counts what entries say, and nothing else.
func TestEntries(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	w, other := must(s.CreateWorld(ctx, "Inn")), must(s.CreateWorld(ctx, "Else"))
	revision := func(want int64) {
		t.Helper()
		if got := must(s.World(ctx, w.ID)).ContentRevision; got != want {
			t.Errorf("content revision %d, want %d", got, want)
		}
	}
	e := scene.NewEntry()
	if !e.WholeWords || !e.CaseInsensitive || !e.Enabled || e.Priority != 100 || e.Regex || e.Constant {
		t.Errorf("a new entry is %+v", e)
	}
	e.Name, e.Keys, e.SecondaryKeys = "Bar", []string{"bar"}, []string{}
	e, err := s.CreateEntry(ctx, w.ID, e)
	ok(t, e, err)
	revision(1)
	if diff := cmp.Diff(e, must(s.Entry(ctx, w.ID, e.ID))); diff != "" {
		t.Errorf("stored (-made +got)\n%s", diff)
	}
	for _, err := range []error{
		second(s.Entry(ctx, other.ID, e.ID)), second(s.ChangeEntry(ctx, other.ID, e.ID, scene.EntryChange{Name: scene.To("x")})),
		s.DeleteEntry(ctx, other.ID, e.ID), s.DeleteEntry(ctx, w.ID, "none"),
	} {
		refuse(t, err, fault.NotFound)
	}
	revision(1)
	same, err := s.ChangeEntry(ctx, w.ID, e.ID, scene.EntryChange{Name: scene.To("Bar"), Keys: scene.To([]string{"bar"})})
	if diff := cmp.Diff(e, ok(t, same, err)); diff != "" {
		t.Errorf("a change of nothing changed (-want +got)\n%s", diff)
	}
	revision(1)
	got, err := s.ChangeEntry(ctx, w.ID, e.ID, scene.EntryChange{
		Content: scene.To("beer"), Keys: scene.To([]string{"/(/"}), Regex: scene.To(true), WholeWords: scene.To(false),
		Selective: scene.To(true), SecondaryKeys: scene.To([]string{"x"}), Constant: scene.To(true), AtDepth: scene.To(true),
		Enabled: scene.To(false), CaseInsensitive: scene.To(false), Priority: scene.To(-1), Order: scene.To(7),
	})
	want := scene.Entry{
		ID: e.ID, WorldID: w.ID, Name: "Bar", Content: "beer", Keys: []string{"/(/"}, SecondaryKeys: []string{"x"}, Selective: true,
		Regex: true, Constant: true, AtDepth: true, Priority: -1, Order: 7, Revision: 1, Extras: e.Extras, CreatedAt: e.CreatedAt, UpdatedAt: got.UpdatedAt,
	}
	if diff := cmp.Diff(want, ok(t, got, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	revision(2)
	_, err = s.ChangeWorld(ctx, w.ID, scene.WorldChange{Global: scene.To(true)})
	ok(t, 0, err)
	revision(2)
	if err := s.DeleteEntry(ctx, w.ID, e.ID); err != nil {
		t.Fatal(err)
	}
	revision(3)
}

func TestImportEntries(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	w := must(s.CreateWorld(ctx, "Inn"))
	b := book("whatever", "", 3)
	b.Entries[0].Extras = json.RawMessage(`{"depth":""}`)
	added, err := s.ImportEntries(ctx, w.ID, *b)
	if len(ok(t, added, err)) != 3 || added[0].ID == added[1].ID {
		t.Fatalf("added %+v", added)
	}
	// The same file again, with one entry more and one reworded.
	b.Entries[1].Content = "other words"
	b.Entries = append(b.Entries, scene.Entry{Name: "new"})
	added, err = s.ImportEntries(ctx, w.ID, *b)
	if len(ok(t, added, err)) != 2 || added[0].Content != "other words" || added[1].Name != "new" {
		t.Fatalf("added %+v", added)
	}
	added, err = s.ImportEntries(ctx, w.ID, *b)
	if len(ok(t, added, err)) != 0 {
		t.Errorf("added %+v", added)
	}
	if w = must(s.World(ctx, w.ID)); w.ContentRevision != 2 || w.Name != "Inn" {
		t.Errorf("the world is %+v", w)
	}
	if got := must(s.Book(ctx, w.ID)); got.World.ID != w.ID || len(got.Entries) != 5 || string(got.Entries[0].Extras) != `{"depth":""}` {
		t.Errorf("the book is %+v", got)
	}
}

func TestImportWorld(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	b := book("Inn", "h", 2)
	b.World.Recursive, b.World.Global, b.World.Dynamic, b.World.ID = true, true, true, "its own"
	b.World.Extras = json.RawMessage(`{"scan_depth": 4}`)
	w, err := s.ImportWorld(ctx, *b)
	want := scene.World{
		ID: w.ID, Name: "Inn", Recursive: true, ContentRevision: 1, ContentHash: "h", Extras: json.RawMessage(`{"scan_depth": 4}`),
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
	if diff := cmp.Diff(want, ok(t, w, err)); diff != "" || w.ID == "its own" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	e := must(s.Entries(ctx, w.ID))[0]
	_, err = s.ChangeEntry(ctx, w.ID, e.ID, scene.EntryChange{Content: scene.To("edited")})
	ok(t, 0, err)
	again, err := s.ImportWorld(ctx, *b)
	if ok(t, again, err).ID != w.ID || len(must(s.Worlds(ctx))) != 1 || len(must(s.Entries(ctx, w.ID))) != 2 {
		t.Error("the same book was doubled")
	}
	if got := must(s.Entry(ctx, w.ID, e.ID)); got.Content != "edited" {
		t.Error("the same book undid an edit")
	}
	if w, err := s.ImportWorld(ctx, *book(" ", "", 0)); ok(t, w, err).Name == " " || w.ContentRevision != 0 {
		t.Errorf("a book without a name became %+v", w)
	}
}
