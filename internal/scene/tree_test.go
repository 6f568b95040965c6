package scene_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// branches makes this tree in a group of Anna and returns the ids by text; f is
// the leaf:
//
//	a ── b ── c ── d
//	     │    └─── e ── f
//	     └ g
//	h
func branches(t *testing.T, s *scene.Service) (scene.Conversation, map[string]int64) {
	t.Helper()
	c, _ := addGroup(t, s, "Anna")
	ids := map[string]int64{}
	add := func(text, parent string, role scene.Role) {
		n := scene.NewMessage{Role: role, Content: text, Parent: scene.To[*int64](nil)}
		if parent != "" {
			n.Parent = scene.To(ptr(ids[parent]))
		}
		m, err := s.Append(context.Background(), c.ID, n)
		ids[text] = ok(t, m, err).ID
	}
	add("a", "", scene.RoleUser)
	add("b", "a", scene.RoleAssistant)
	add("c", "b", scene.RoleUser)
	add("d", "c", scene.RoleAssistant)
	add("h", "", scene.RoleAssistant)
	add("g", "b", scene.RoleUser)
	add("e", "c", scene.RoleAssistant)
	add("f", "e", scene.RoleUser)
	return c, ids
}

func TestAppend(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, members := addGroup(t, s, "Anna")
	user, err := s.Append(ctx, c.ID, scene.NewMessage{
		Role: scene.RoleUser, Content: "Look, {{user}}: {{random::this}}.", ExchangeID: ptr("x1"), Author: "Jean",
		Uploads: []scene.NewUpload{{MIME: "image/png", Filename: "../a.png", Data: []byte("one")}, {MIME: "text/plain", Data: nil}},
	})
	ok(t, user, err)
	reply := scene.NewMessage{
		Role: scene.RoleAssistant, Content: "I see.", SpeakerID: &members[0].ID, ExchangeID: ptr("x1"), Incomplete: scene.IncompleteInterrupted,
		Direction: "shorter", Cut: &scene.Cut{Label: "Ben:", Removed: "Ben: No."}, WriterDraft: ptr(""), Slots: scene.Slots(`{"a":1}`),
	}
	said, err := s.Append(ctx, c.ID, reply)
	ok(t, said, err)
	path, err := s.Messages(ctx, c.ID, nil, 0)
	ok(t, path, err)
	want := []scene.Message{
		{
			ID: user.ID, ConversationID: c.ID, Depth: 1, Role: scene.RoleUser, Content: "Look, {{user}}: this.", ExchangeID: ptr("x1"),
			Author: "Jean", CreatedAt: user.CreatedAt,
		},
		{
			ID: said.ID, ConversationID: c.ID, ParentID: &user.ID, Depth: 2, Role: scene.RoleAssistant, Content: "I see.", TurnIndex: 1,
			SpeakerID: &members[0].ID, ExchangeID: ptr("x1"), Incomplete: scene.IncompleteInterrupted, Direction: "shorter",
			Cut: reply.Cut, WriterDraft: ptr(""), Slots: reply.Slots, CreatedAt: said.CreatedAt,
		},
	}
	if diff := cmp.Diff(want, []scene.Message{path[0].Message, path[1].Message}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1], said); diff != "" {
		t.Error("what is returned differs:", diff)
	}
	if now := conversation(t, s, c.ID); *now.ActiveLeaf != said.ID || !now.UpdatedAt.Equal(said.CreatedAt) || now.Revision != 1 {
		t.Errorf("%+v", now)
	}
	u, data, err := s.Upload(ctx, path[0].Uploads[0].ID)
	if ok(t, u, err); len(path[0].Uploads) != 2 || u.Filename != "../a.png" || u.MessageID != user.ID || string(data) != "one" {
		t.Errorf("%+v %q", path[0].Uploads, data)
	}

	// A sibling has its target's turn, unless it is told another.
	sibling := scene.NewMessage{Role: scene.RoleAssistant, Parent: scene.To(said.ParentID), SpeakerID: &members[0].ID}
	m, err := s.Append(ctx, c.ID, sibling)
	if ok(t, m, err); m.TurnIndex != 1 {
		t.Errorf("turn %d", m.TurnIndex)
	}
	sibling.TurnIndex = ptr(9)
	m, err = s.Append(ctx, c.ID, sibling)
	if ok(t, m, err); m.TurnIndex != 9 {
		t.Errorf("turn %d", m.TurnIndex)
	}
	m, err = s.Append(ctx, c.ID, scene.NewMessage{Role: scene.RoleUser})
	if ok(t, m, err); m.TurnIndex != 10 {
		t.Errorf("turn %d", m.TurnIndex)
	}
}

func TestAppendIsRefusedWhole(t *testing.T) {
	s := newService(t)
	c, members := addGroup(t, s, "Anna")
	other, strangers := addGroup(t, s, "Ben")
	foreign := say(t, s, other.ID, "Hi.", nil)
	for name, tc := range map[string]struct {
		n    scene.NewMessage
		code fault.Code
	}{
		"role":                     {scene.NewMessage{Role: "system"}, fault.Invalid},
		"a speaker from elsewhere": {scene.NewMessage{Role: scene.RoleAssistant, SpeakerID: &strangers[0].ID}, fault.Invalid},
		"an unknown speaker":       {scene.NewMessage{Role: scene.RoleAssistant, SpeakerID: ptr("x")}, fault.Invalid},
		"a person who is a member": {scene.NewMessage{Role: scene.RoleUser, SpeakerID: &members[0].ID}, fault.Invalid},
		"a parent from elsewhere":  {scene.NewMessage{Role: scene.RoleUser, Parent: scene.To(&foreign)}, fault.NotFound},
		"an unknown parent":        {scene.NewMessage{Role: scene.RoleUser, Parent: scene.To(ptr(int64(99)))}, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Append(context.Background(), c.ID, tc.n)
			refuse(t, err, tc.code)
			if got := shown(t, s, c.ID); len(got) != 0 {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestMessagesInPages(t *testing.T) {
	s := newService(t)
	c, ids := branches(t, s)
	for _, tc := range []struct {
		before string
		limit  int
		want   []string
	}{
		{"", 0, []string{"a", "b", "c", "e", "f"}},
		{"", 2, []string{"e", "f"}},
		{"", 99, []string{"a", "b", "c", "e", "f"}},
		{"e", 2, []string{"b", "c"}},
		{"e", 0, []string{"a", "b", "c"}},
		{"b", 5, []string{"a"}},
		{"a", 5, []string{}},
		{"d", 1, []string{"c"}},
	} {
		var before *int64
		if tc.before != "" {
			before = ptr(ids[tc.before])
		}
		path, err := s.Messages(context.Background(), c.ID, before, tc.limit)
		if got := texts(ok(t, path, err)); !cmp.Equal(got, tc.want) {
			t.Errorf("before %q, limit %d: %q, want %q", tc.before, tc.limit, got, tc.want)
		}
	}
	other, _ := addGroup(t, s, "Ben")
	_, err := s.Messages(context.Background(), other.ID, ptr(ids["e"]), 0)
	refuse(t, err, fault.NotFound)
	_, err = s.Messages(context.Background(), c.ID, nil, -1)
	refuse(t, err, fault.Invalid)
}

func TestPathTo(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, ids := branches(t, s)
	for leaf, want := range map[string][]string{"g": {"a", "b", "g"}, "d": {"a", "b", "c", "d"}, "h": {"h"}, "f": {"a", "b", "c", "e", "f"}} {
		path := must(s.PathTo(ctx, c.ID, ids[leaf]))
		if got := texts(path); !cmp.Equal(got, want) {
			t.Errorf("to %s: %q", leaf, got)
		}
		if last := path[len(path)-1]; last.Branches != map[string]int{"g": 2, "d": 2, "h": 2, "f": 1}[leaf] {
			t.Errorf("%s has %d branches", leaf, last.Branches)
		}
	}
	other, _ := addGroup(t, s, "Ben")
	for id, mid := range map[string]int64{c.ID: 999, other.ID: ids["a"], "x": ids["a"]} {
		_, err := s.PathTo(ctx, id, mid)
		refuse(t, err, fault.NotFound)
	}
}

func TestBranchesOfAStep(t *testing.T) {
	s := newService(t)
	c, ids := branches(t, s)
	path, err := s.Messages(context.Background(), c.ID, nil, 0)
	ok(t, path, err)
	type place struct {
		Text                string
		Branches, Branch    int
		Previous, Following *int64
	}
	var got []place
	for _, p := range path {
		got = append(got, place{p.Content, p.Branches, p.Branch, p.PrevBranch, p.NextBranch})
	}
	want := []place{
		{"a", 2, 0, nil, ptr(ids["h"])}, {"b", 1, 0, nil, nil}, {"c", 2, 0, nil, ptr(ids["g"])},
		{"e", 2, 1, ptr(ids["d"]), nil}, {"f", 1, 0, nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSwitchFollowsTheNewest(t *testing.T) {
	s := newService(t)
	c, ids := branches(t, s)
	for _, tc := range []struct {
		to   string
		want []string
	}{
		{"h", []string{"h"}},
		{"a", []string{"a", "b", "g"}},
		{"c", []string{"a", "b", "c", "e", "f"}},
		{"d", []string{"a", "b", "c", "d"}},
		{"g", []string{"a", "b", "g"}},
	} {
		path, err := s.SwitchBranch(context.Background(), c.ID, ids[tc.to])
		if got := texts(ok(t, path, err)); !cmp.Equal(got, tc.want) {
			t.Errorf("to %s: %q, want %q", tc.to, got, tc.want)
		}
	}
	_, err := s.SwitchBranch(context.Background(), c.ID, 99)
	refuse(t, err, fault.NotFound)
}

func TestDeleteTakesSiblingsAndDescendants(t *testing.T) {
	for _, tc := range []struct {
		gone       string
		shows      string // switched to before; empty is the leaf
		extent     scene.Extent
		want, left []string
	}{
		{"f", "", scene.Extent{Messages: 1}, []string{"a", "b", "c", "e"}, []string{"a", "b", "c", "d", "h", "g", "e"}},
		{"d", "", scene.Extent{Messages: 3, Assistants: 2}, []string{"a", "b", "c"}, []string{"a", "b", "c", "h", "g"}},
		{"c", "", scene.Extent{Messages: 5, Assistants: 2}, []string{"a", "b"}, []string{"a", "b", "h"}},
		{"b", "", scene.Extent{Messages: 6, Assistants: 3}, []string{"a"}, []string{"a", "h"}},
		{"h", "", scene.Extent{Messages: 8, Assistants: 4}, []string{}, nil},
		{"d", "g", scene.Extent{Messages: 3, Assistants: 2}, []string{"a", "b", "g"}, []string{"a", "b", "c", "h", "g"}},
	} {
		t.Run(tc.gone+tc.shows, func(t *testing.T) {
			s := newService(t)
			ctx := context.Background()
			c, ids := branches(t, s)
			if tc.shows != "" {
				_, err := s.SwitchBranch(ctx, c.ID, ids[tc.shows])
				ok(t, 0, err)
			}
			extent, err := s.DeletePreview(ctx, c.ID, ids[tc.gone])
			if diff := cmp.Diff(tc.extent, ok(t, extent, err)); diff != "" {
				t.Error(diff)
			}
			path, err := s.DeleteMessage(ctx, c.ID, ids[tc.gone])
			if got := texts(ok(t, path, err)); !cmp.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
			var left []string
			change(t, s, func(tx scene.Tx) error {
				all, err := tx.Messages.Of(c.ID)
				for _, m := range all {
					left = append(left, m.Content)
				}
				return err
			})
			if !cmp.Equal(left, tc.left) {
				t.Errorf("left %q, want %q", left, tc.left)
			}
			if leaf := conversation(t, s, c.ID).ActiveLeaf; (leaf == nil) != (len(tc.want) == 0) {
				t.Errorf("leaf %v", leaf)
			}
		})
	}
}

func TestEditInPlace(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, members := addGroup(t, s, "Anna")
	m, err := s.Append(ctx, c.ID, scene.NewMessage{
		Role: scene.RoleAssistant, SpeakerID: &members[0].ID, Content: "old", WriterDraft: ptr("draft"), ExchangeID: ptr("x"), Slots: scene.Slots(`{"a":1}`),
	})
	ok(t, m, err)
	before := conversation(t, s, c.ID)
	if err := s.EditMessage(ctx, c.ID, m.ID, "new {{random::text}} `{{roll::1d6}}` {{char}}"); err != nil {
		t.Fatal(err)
	}
	path, err := s.Messages(ctx, c.ID, nil, 0)
	ok(t, path, err)
	want := m
	want.Content, want.WriterDraft = "new text `{{roll::1d6}}` {{char}}", nil
	if diff := cmp.Diff(want, path[0].Message); diff != "" {
		t.Error(diff)
	}
	after := conversation(t, s, c.ID)
	if !after.UpdatedAt.After(before.UpdatedAt) {
		t.Error("it is no activity")
	}
	after.UpdatedAt = before.UpdatedAt
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	other, _ := addGroup(t, s, "Ben")
	refuse(t, s.EditMessage(ctx, other.ID, m.ID, "x"), fault.NotFound)
}

// TestLongChain: a line of messages deeper than SQLite nests is like any other.
func TestLongChain(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	length := 50_000
	if raced {
		length = 1500
	}
	var long scene.Transcript
	for i := range length {
		long.Lines = append(long.Lines, scene.TranscriptLine{Role: scene.RoleUser, Member: -1, Variants: []string{fmt.Sprint(i)}})
	}
	c, err := s.ImportTranscript(ctx, long)
	ok(t, c, err)
	path, err := s.Messages(ctx, c.ID, c.ActiveLeaf, 200)
	if got := texts(ok(t, path, err)); len(got) != 200 || got[0] != fmt.Sprint(length-201) {
		t.Errorf("%d messages from %q", len(got), got[0])
	}
	first := *c.ActiveLeaf - int64(length) + 1
	extent, err := s.DeletePreview(ctx, c.ID, first)
	if ok(t, extent, err); extent.Messages != length {
		t.Errorf("%+v", extent)
	}
	path, err = s.SwitchBranch(ctx, c.ID, first)
	if ok(t, path, err); len(path) != length {
		t.Errorf("%d messages", len(path))
	}
	if err := s.DeleteConversation(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
}

// A message that nobody can have written is refused: it would be part of every
// prompt.
func TestLongestText(t *testing.T) {
	s := newService(t)
	c, err := s.CreateConversation(t.Context(), scene.NewConversation{FirstMessage: "Hello."})
	leaf := *ok(t, c, err).ActiveLeaf
	if err := s.EditMessage(t.Context(), c.ID, leaf, strings.Repeat("a", 1<<20)); err != nil {
		t.Error(err)
	}
	refuse(t, s.EditMessage(t.Context(), c.ID, leaf, strings.Repeat("a", 1<<20+1)), fault.Invalid)
}
