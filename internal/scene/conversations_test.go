package scene_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func TestChangeOnlyWhatIsNamed(t *testing.T) {
	s := newService(t)
	before, _ := addGroup(t, s, "Anna")
	change := scene.ConversationChange{
		Title: scene.To("Harbour"), TurnMode: scene.To(scene.Manual), MaxSpeakers: scene.To(8), ContextMode: scene.To(scene.Shared),
		Scenario: scene.To("Night."), PostHistory: scene.To("Dark."), SheetUpdates: scene.To(true), CutImpersonation: scene.To(false),
		LoreBudget: scene.To(ptr(500)),
	}
	got, err := s.ChangeConversation(context.Background(), before.ID, change, nil)
	ok(t, got, err)
	want := before
	want.Title, want.TurnMode, want.MaxSpeakers, want.ContextMode = "Harbour", scene.Manual, 8, scene.Shared
	want.Scenario, want.PostHistory, want.SheetUpdates, want.CutImpersonation, want.LoreBudget = "Night.", "Dark.", true, false, ptr(500)
	want.Revision, want.UpdatedAt = 2, got.UpdatedAt
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got.UpdatedAt.After(before.UpdatedAt) {
		t.Error("it is no activity")
	}
	again, err := s.ChangeConversation(context.Background(), before.ID, scene.ConversationChange{LoreBudget: scene.To[*int](nil)}, nil)
	ok(t, again, err)
	want.LoreBudget, want.Revision, want.UpdatedAt = nil, 3, again.UpdatedAt
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(again, conversation(t, s, before.ID)); diff != "" {
		t.Error("what is stored differs:", diff)
	}
	nothing, err := s.ChangeConversation(context.Background(), before.ID, scene.ConversationChange{}, nil)
	if diff := cmp.Diff(again, ok(t, nothing, err)); diff != "" {
		t.Error("nothing was named:", diff)
	}
}

func TestPersonaIsNoActivity(t *testing.T) {
	s := newService(t)
	change(t, s, func(tx scene.Tx) error {
		return tx.Personas.Insert(scene.Persona{ID: "p", Name: "Me", CreatedAt: dawn(), UpdatedAt: dawn()})
	})
	c, _ := addGroup(t, s, "Anna")
	got, err := s.ChangeConversation(context.Background(), c.ID, scene.ConversationChange{PersonaLock: scene.To(ptr("p"))}, nil)
	ok(t, got, err)
	if *got.PersonaLock != "p" || !got.UpdatedAt.Equal(c.UpdatedAt) || got.Revision != 2 {
		t.Errorf("%+v", got)
	}
	_, err = s.ChangeConversation(context.Background(), c.ID, scene.ConversationChange{PersonaLock: scene.To(ptr("nobody")), Title: scene.To("X")}, nil)
	refuse(t, err, fault.Invalid)
	got, err = s.ChangeConversation(context.Background(), c.ID, scene.ConversationChange{PersonaLock: scene.To[*string](nil), Title: scene.To("X")}, nil)
	ok(t, got, err)
	if got.PersonaLock != nil || !got.UpdatedAt.After(c.UpdatedAt) || got.Revision != 3 {
		t.Errorf("%+v", got)
	}
}

func TestChangeIsRefusedWhole(t *testing.T) {
	s := newService(t)
	c, _ := addGroup(t, s, "Anna")
	title := scene.To("Changed")
	for name, change := range map[string]scene.ConversationChange{
		"title":    {Title: scene.To(" "), Scenario: title},
		"mode":     {Title: title, TurnMode: scene.To(scene.TurnMode("x"))},
		"context":  {Title: title, ContextMode: scene.To(scene.ContextMode(""))},
		"speakers": {Title: title, MaxSpeakers: scene.To(0)},
		"budget":   {Title: title, LoreBudget: scene.To(ptr(-1))},
	} {
		_, err := s.ChangeConversation(context.Background(), c.ID, change, nil)
		t.Log(name)
		refuse(t, err, fault.Invalid)
	}
	for _, revision := range []int64{0, 2} {
		_, err := s.ChangeConversation(context.Background(), c.ID, scene.ConversationChange{Title: title}, &revision)
		refuse(t, err, fault.Conflict)
	}
	if diff := cmp.Diff(c, conversation(t, s, c.ID)); diff != "" {
		t.Error(diff)
	}
	got, err := s.ChangeConversation(context.Background(), c.ID, scene.ConversationChange{Title: title}, ptr(int64(1)))
	if ok(t, got, err); got.Revision != 2 {
		t.Errorf("%+v", got)
	}
}

func TestTouchChangesOneTime(t *testing.T) {
	s := newService(t)
	c, _ := addGroup(t, s, "Anna")
	other, _ := addGroup(t, s, "Ben")
	if err := s.Touch(context.Background(), c.ID); err != nil {
		t.Fatal(err)
	}
	got := conversation(t, s, c.ID)
	if !got.AccessedAt.After(c.AccessedAt) {
		t.Error("not touched")
	}
	got.AccessedAt = c.AccessedAt
	if diff := cmp.Diff(c, got); diff != "" {
		t.Error(diff)
	}
	list, err := s.Conversations(context.Background())
	if ok(t, list, err); len(list) != 2 || list[0].ID != c.ID || list[1].ID != other.ID {
		t.Errorf("the one touched last is not first: %+v", list)
	}
}

func TestOverviewsSayWhoIsThere(t *testing.T) {
	s := newService(t)
	addCard(t, s, scene.Card{Name: "Anna"})
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{
		{Name: "Zoë"}, {CardID: ptr("Anna"), Muted: true}, {Name: "Ben"},
	}})
	ok(t, c, err)
	m := roster(t, s, c.ID, false)
	say(t, s, c.ID, "Hi.", nil)
	say(t, s, c.ID, "Ho.", &m[0])
	_, _, err = s.SetMembers(context.Background(), c.ID, specs(m[2], m[1]), nil)
	ok(t, 0, err)
	list, err := s.Conversations(context.Background())
	ok(t, list, err)
	got := list[0]
	want := scene.Overview{
		Conversation: conversation(t, s, c.ID), LastMessage: "Ho.", MessageCount: 2,
		CardIDs: []string{"Anna"}, MemberNames: []string{"Ben", "Anna"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownConversation(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"Conversation":       func() error { _, err := s.Conversation(ctx, "x"); return err },
		"ChangeConversation": func() error { _, err := s.ChangeConversation(ctx, "x", scene.ConversationChange{}, nil); return err },
		"DeleteConversation": func() error { return s.DeleteConversation(ctx, "x") },
		"Touch":              func() error { return s.Touch(ctx, "x") },
		"Members":            func() error { _, _, err := s.Members(ctx, "x", true); return err },
		"SetMembers":         func() error { _, _, err := s.SetMembers(ctx, "x", nil, nil); return err },
		"ConvertToGroup":     func() error { _, _, err := s.ConvertToGroup(ctx, "x"); return err },
		"NewInGroup":         func() error { _, err := s.NewInGroup(ctx, "x"); return err },
		"DeleteGroup":        func() error { _, err := s.DeleteGroup(ctx, "x"); return err },
		"Checkpoint":         func() error { _, err := s.Checkpoint(ctx, "x", ""); return err },
		"Compress":           func() error { _, err := s.Compress(ctx, "x", "s", 2); return err },
		"Messages":           func() error { _, err := s.Messages(ctx, "x", nil, 0); return err },
		"Messages before":    func() error { _, err := s.Messages(ctx, "x", ptr(int64(1)), 0); return err },
		"DeletePreview":      func() error { _, err := s.DeletePreview(ctx, "x", 1); return err },
		"DeleteMessage":      func() error { _, err := s.DeleteMessage(ctx, "x", 1); return err },
		"EditMessage":        func() error { return s.EditMessage(ctx, "x", 1, "") },
		"SwitchBranch":       func() error { _, err := s.SwitchBranch(ctx, "x", 1); return err },
		"Append":             func() error { _, err := s.Append(ctx, "x", scene.NewMessage{Role: scene.RoleUser}); return err },
		"Proposals":          func() error { _, err := s.Proposals(ctx, "x", ""); return err },
		"Propose":            func() error { _, err := s.Propose(ctx, "x", scene.NewProposal{Sheet: "s"}); return err },
		"ApplyProposal":      func() error { _, err := s.ApplyProposal(ctx, "x", 1); return err },
		"RejectProposal":     func() error { _, err := s.RejectProposal(ctx, "x", 1); return err },
		"WorldIDs":           func() error { _, err := s.WorldIDs(ctx, "x"); return err },
		"SetWorld":           func() error { _, err := s.SetWorld(ctx, "x", "w", true); return err },
		"ActiveEntries":      func() error { _, err := s.ActiveEntries(ctx, "x"); return err },
		"Transcript":         func() error { _, err := s.Transcript(ctx, "x"); return err },
		"Upload":             func() error { _, _, err := s.Upload(ctx, 1); return err },
	} {
		t.Run(name, func(t *testing.T) { refuse(t, call(), fault.NotFound) })
	}
}
