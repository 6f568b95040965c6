package scene_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// fork is one of the ways to fork.
func fork(t failing, s *scene.Service, id, how string) scene.Conversation {
	t.Helper()
	var c scene.Conversation
	var err error
	switch how {
	case "checkpoint":
		c, err = s.Checkpoint(context.Background(), id, "")
	case "compress":
		c, err = s.Compress(context.Background(), id, "What happened.", 2)
	default:
		c, err = s.NewInGroup(context.Background(), id)
	}
	return ok(t, c, err)
}

func TestForksPointAtTheRoot(t *testing.T) {
	s := newService(t)
	root, _ := addGroup(t, s, "Anna")
	for _, how := range []string{"checkpoint", "compress", "new"} {
		first := fork(t, s, root.ID, how)
		second := fork(t, s, first.ID, how)
		for _, f := range []scene.Conversation{first, second} {
			if f.RootID == nil || *f.RootID != root.ID || f.Root() != root.ID {
				t.Errorf("%s: %v", how, f.RootID)
			}
		}
	}
	if got := conversation(t, s, root.ID); got.RootID != nil || got.Root() != root.ID {
		t.Errorf("the root points at %v", got.RootID)
	}
}

func TestOldestIsPromoted(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	root, _ := addGroup(t, s, "Anna")
	stranger, _ := addGroup(t, s, "Ben")
	a, b, c := fork(t, s, root.ID, "new"), fork(t, s, root.ID, "checkpoint"), fork(t, s, root.ID, "new")
	if err := s.DeleteConversation(ctx, root.ID); err != nil {
		t.Fatal(err)
	}
	want := map[string]*string{a.ID: nil, b.ID: &a.ID, c.ID: &a.ID, stranger.ID: nil}
	if diff := cmp.Diff(want, roots(t, s)); diff != "" {
		t.Error(diff)
	}
	// A fork goes alone.
	if err := s.DeleteConversation(ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	delete(want, b.ID)
	if diff := cmp.Diff(want, roots(t, s)); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{a.ID, c.ID} {
		if err := s.DeleteConversation(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]*string{stranger.ID: nil}, roots(t, s)); diff != "" {
		t.Error(diff)
	}
}

// roots tells every conversation's root.
func roots(t failing, s *scene.Service) map[string]*string {
	t.Helper()
	out := map[string]*string{}
	for _, c := range everything(t, s) {
		out[c.ID] = c.RootID
	}
	return out
}

func TestDeleteGroupTakesTheFamily(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	stranger, _ := addGroup(t, s, "Ben")
	solo, err := s.CreateConversation(ctx, scene.NewConversation{})
	ok(t, solo, err)
	for _, from := range []int{0, 1, 2} {
		root, _ := addGroup(t, s, "Anna")
		family := []scene.Conversation{root, fork(t, s, root.ID, "new"), fork(t, s, root.ID, "compress")}
		n, err := s.DeleteGroup(ctx, family[from].ID)
		if ok(t, n, err); n != 3 {
			t.Errorf("deleted %d", n)
		}
	}
	if diff := cmp.Diff(map[string]*string{stranger.ID: nil, solo.ID: nil}, roots(t, s)); diff != "" {
		t.Error(diff)
	}
	_, err = s.DeleteGroup(ctx, solo.ID)
	refuse(t, err, fault.Conflict)
	_, err = s.NewInGroup(ctx, solo.ID)
	refuse(t, err, fault.Conflict)
}

func TestConvertInPlace(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna", FirstMessage: "Hello.", Scenario: "A pier.", PostHistory: "Be brief.", Greetings: []string{"Ho."}})
	solo, err := s.CreateConversation(ctx, scene.NewConversation{CardID: ptr("Anna"), Title: "At sea"})
	ok(t, solo, err)
	say(t, s, solo.ID, "Hi.", nil)
	m, err := s.Append(ctx, solo.ID, scene.NewMessage{Role: scene.RoleAssistant, Content: "Well."})
	ok(t, m, err)
	before := conversation(t, s, solo.ID)

	c, member, err := s.ConvertToGroup(ctx, solo.ID)
	ok(t, c, err)
	want := before
	want.Kind, want.CardID, want.CharacterName, want.Revision, want.UpdatedAt = scene.Group, nil, "At sea", 2, c.UpdatedAt
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(c, conversation(t, s, c.ID)); diff != "" {
		t.Error("what is stored differs:", diff)
	}
	wantMember := scene.Member{ID: member.ID, ConversationID: c.ID, Key: "anna", CardID: ptr("Anna"), Name: "Anna", Kind: scene.Character, Active: true}
	if diff := cmp.Diff([]scene.Member{wantMember}, roster(t, s, c.ID, true)); diff != "" {
		t.Error(diff)
	}
	if got := shown(t, s, c.ID); !cmp.Equal(got, []string{"Hello.", "Hi.", "Well."}) {
		t.Errorf("%q", got)
	}
	change(t, s, func(tx scene.Tx) error {
		all, err := tx.Messages.Of(c.ID)
		for _, m := range all {
			if said := m.SpeakerID != nil && *m.SpeakerID == member.ID; said != (m.Role == scene.RoleAssistant) || m.ExchangeID != nil {
				t.Errorf("%+v", m)
			}
		}
		if len(all) != 4 {
			t.Errorf("%d messages", len(all))
		}
		return err
	})
	again, same, err := s.ConvertToGroup(ctx, c.ID)
	ok(t, again, err)
	if !cmp.Equal(again, c) || !cmp.Equal(same, member) {
		t.Error("converting a group changes it")
	}
	if f := fork(t, s, c.ID, "checkpoint"); *f.RootID != c.ID {
		t.Errorf("%v", f.RootID)
	}
}

func TestConvertWithoutACard(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna"})
	dangling, err := s.CreateConversation(ctx, scene.NewConversation{CardID: ptr("Anna")})
	ok(t, dangling, err)
	change(t, s, func(tx scene.Tx) error { return tx.Cards.Delete("Anna") })
	nameless, err := s.CreateConversation(ctx, scene.NewConversation{})
	ok(t, nameless, err)
	_, m, err := s.ConvertToGroup(ctx, dangling.ID)
	if ok(t, m, err); m.Name != "Anna" || *m.CardID != "Anna" {
		t.Errorf("%+v", m)
	}
	_, m, err = s.ConvertToGroup(ctx, nameless.ID)
	if ok(t, m, err); m.Name != "Narrator" || m.CardID != nil {
		t.Errorf("%+v", m)
	}
	change(t, s, func(tx scene.Tx) error { m.Active = false; return tx.Members.Save(m) })
	_, _, err = s.ConvertToGroup(ctx, nameless.ID)
	refuse(t, err, fault.Invalid)
}

// everything is all conversations.
func everything(t failing, s *scene.Service) (all []scene.Conversation) {
	t.Helper()
	err := s.Store.View(context.Background(), func(tx scene.Tx) (err error) {
		all, err = tx.Conversations.All()
		return err
	})
	return ok(t, all, err)
}
