package scene_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// library has three worlds, one of them global, and cards linked to them.
func library(t failing, s *scene.Service) {
	t.Helper()
	addWorld(t, s, scene.World{Name: "everywhere", Global: true})
	addWorld(t, s, scene.World{Name: "harbour"})
	addWorld(t, s, scene.World{Name: "loose"})
	addCard(t, s, scene.Card{Name: "Anna", WorldID: ptr("harbour")})
	addCard(t, s, scene.Card{Name: "Ben"})
}

func worlds(t failing, s *scene.Service, id string) []string {
	t.Helper()
	ids, err := s.WorldIDs(context.Background(), id)
	return ok(t, ids, err)
}

// choices is what a conversation keeps of its own.
func choices(t failing, s *scene.Service, id string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	change(t, s, func(tx scene.Tx) error {
		list, err := tx.Choices.Of(id)
		for _, c := range list {
			out[c.WorldID] = c.Enabled
		}
		return err
	})
	return out
}

func TestWorldsThatAreOnByDefault(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	library(t, s)
	solo, err := s.CreateConversation(ctx, scene.NewConversation{CardID: ptr("Anna")})
	ok(t, solo, err)
	group, err := s.CreateConversation(ctx, scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{
		{CardID: ptr("Ben")}, {CardID: ptr("Anna"), Muted: true}, {Kind: scene.Narrator},
	}})
	ok(t, group, err)
	both := []string{"everywhere", "harbour"}
	for _, id := range []string{solo.ID, group.ID} {
		if got := worlds(t, s, id); !cmp.Equal(got, both) {
			t.Errorf("%q", got)
		}
	}
	// A card's world is the group's while its member is in the cast.
	m := roster(t, s, group.ID, false)
	_, _, err = s.SetMembers(ctx, group.ID, specs(m[0]), nil)
	ok(t, 0, err)
	if got := worlds(t, s, group.ID); !cmp.Equal(got, both[:1]) {
		t.Errorf("%q", got)
	}
	// A card that is gone links nothing, and comes back with its link.
	change(t, s, func(tx scene.Tx) error { return tx.Cards.Delete("Anna") })
	if got := worlds(t, s, solo.ID); !cmp.Equal(got, both[:1]) {
		t.Errorf("%q", got)
	}
	addCard(t, s, scene.Card{Name: "Anna", WorldID: ptr("loose")})
	if got := worlds(t, s, solo.ID); !cmp.Equal(got, []string{"everywhere", "loose"}) {
		t.Errorf("%q", got)
	}
}

func TestChoicesAgainstTheDefault(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	library(t, s)
	c, err := s.CreateConversation(ctx, scene.NewConversation{CardID: ptr("Anna")})
	ok(t, c, err)
	for _, step := range []struct {
		world string
		on    bool
		want  []string
		kept  map[string]bool
	}{
		{"loose", true, []string{"everywhere", "harbour", "loose"}, map[string]bool{"loose": true}},
		{"everywhere", false, []string{"harbour", "loose"}, map[string]bool{"loose": true, "everywhere": false}},
		{"harbour", false, []string{"loose"}, map[string]bool{"loose": true, "everywhere": false, "harbour": false}},
		{"everywhere", true, []string{"everywhere", "loose"}, map[string]bool{"loose": true, "harbour": false}},
		{"loose", false, []string{"everywhere"}, map[string]bool{"harbour": false}},
		{"loose", false, []string{"everywhere"}, map[string]bool{"harbour": false}},
		{"harbour", true, []string{"everywhere", "harbour"}, map[string]bool{}},
	} {
		got, err := s.SetWorld(ctx, c.ID, step.world, step.on)
		if ok(t, got, err); !cmp.Equal(got, step.want) {
			t.Errorf("%s %v: %q, want %q", step.world, step.on, got, step.want)
		}
		if diff := cmp.Diff(step.kept, choices(t, s, c.ID)); diff != "" {
			t.Errorf("%s %v: %s", step.world, step.on, diff)
		}
	}
	// What is not kept follows the default.
	change(t, s, func(tx scene.Tx) error {
		w, err := tx.Worlds.Get("everywhere")
		w.Global = false
		if err != nil {
			return err
		}
		return tx.Worlds.Save(w)
	})
	if got := worlds(t, s, c.ID); !cmp.Equal(got, []string{"harbour"}) {
		t.Errorf("%q", got)
	}
	if now := conversation(t, s, c.ID); !cmp.Equal(now, c) {
		t.Error("choosing worlds changes the conversation:", cmp.Diff(c, now))
	}
	_, err = s.SetWorld(ctx, c.ID, "nowhere", true)
	refuse(t, err, fault.NotFound)
}

func TestActiveEntries(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	library(t, s)
	change(t, s, func(tx scene.Tx) error {
		var entries []scene.Entry
		for _, e := range []scene.Entry{
			{ID: "a", WorldID: "everywhere", Priority: 10, Enabled: true, Order: 2},
			{ID: "b", WorldID: "harbour", Priority: 100, Enabled: true},
			{ID: "c", WorldID: "everywhere", Priority: 10, Enabled: true, Order: 1},
			{ID: "d", WorldID: "everywhere", Priority: 200},
			{ID: "e", WorldID: "loose", Priority: 300, Enabled: true},
			{ID: "f", WorldID: "harbour", Priority: 10, Enabled: true, Order: 1},
		} {
			e.CreatedAt, e.UpdatedAt = dawn(), dawn()
			entries = append(entries, e)
		}
		return tx.Entries.InsertAll(entries)
	})
	c, err := s.CreateConversation(ctx, scene.NewConversation{CardID: ptr("Anna")})
	ok(t, c, err)
	got, err := s.ActiveEntries(ctx, c.ID)
	var ids []string
	for _, e := range ok(t, got, err) {
		ids = append(ids, e.ID)
	}
	if !cmp.Equal(ids, []string{"b", "c", "f", "a"}) {
		t.Errorf("%q", ids)
	}
	for _, w := range []string{"everywhere", "harbour"} {
		_, err := s.SetWorld(ctx, c.ID, w, false)
		ok(t, 0, err)
	}
	got, err = s.ActiveEntries(ctx, c.ID)
	if ok(t, got, err); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
