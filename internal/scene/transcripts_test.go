package scene_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// harbour is a transcript of a group that somebody has left.
func harbour() scene.Transcript {
	at := dawn().Add(-24 * time.Hour)
	return scene.Transcript{
		Conversation: scene.NewConversation{
			Title: "Harbour", Kind: scene.Group, CharacterName: "Harbour", Scenario: "Night.", PostHistory: "Dark.",
			TurnMode: scene.RoundRobin, MaxSpeakers: 2, ContextMode: scene.Shared,
			Members: []scene.MemberSpec{
				{Key: "anna", CardID: ptr("Anna"), Name: "Anna", Kind: scene.Character, Muted: true, Model: scene.To[*string](nil)},
				{Key: "voice", Name: "The voice", Kind: scene.Narrator, Sheet: ptr(""), Model: scene.To[*string](nil)},
			},
		},
		Former: []scene.MemberSpec{
			{Key: "anna-2", CardID: ptr("Anna"), Name: "Anna", Kind: scene.Character, Model: scene.To[*string](nil)},
			{Key: "anna-3", CardID: ptr("Anna"), Name: "Annie", Kind: scene.Character, Model: scene.To[*string](nil)},
		},
		Lines: []scene.TranscriptLine{
			{Role: scene.RoleAssistant, Member: 1, Variants: []string{"{{roll::1d6}}"}, At: at},
			{Role: scene.RoleUser, Member: -1, Author: "Jean", Variants: []string{"Hi."}, At: at.Add(time.Second), Extras: json.RawMessage(`{"x":1}`)},
			{Role: scene.RoleAssistant, Member: 3, Variants: []string{"one", "two", "three"}, Chosen: 1, At: at.Add(time.Minute), Extras: json.RawMessage(`{"x":2}`)},
			{Role: scene.RoleAssistant, Member: 0, Variants: []string{""}, At: at.Add(time.Hour)},
			{Role: scene.RoleAssistant, Member: -1, Variants: []string{"a summary"}, At: at.Add(2 * time.Hour)},
		},
	}
}

func TestTranscriptsComeAndGo(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna", FirstMessage: "never said"})
	want := harbour()
	want.Conversation.Members[1].Model = scene.To(ptr(addModel(t, s)))
	c, err := s.ImportTranscript(ctx, want)
	ok(t, c, err)
	if diff := cmp.Diff(c, conversation(t, s, c.ID)); diff != "" {
		t.Error("what is stored differs:", diff)
	}
	got, err := s.Transcript(ctx, c.ID)
	if diff := cmp.Diff(want, ok(t, got, err), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	path, err := s.Messages(ctx, c.ID, nil, 0)
	ok(t, path, err)
	for i, step := range path {
		if step.TurnIndex != i {
			t.Errorf("turn %d at %d", step.TurnIndex, i)
		}
	}
	if path[2].Branches != 3 || path[2].Content != "two" {
		t.Errorf("%+v", path[2])
	}

	// The source's fields belong to the line, whichever variant is shown, and
	// they ride along to a checkpoint.
	_, err = s.SwitchBranch(ctx, c.ID, *path[2].NextBranch)
	ok(t, 0, err)
	got, err = s.Transcript(ctx, c.ID)
	line := want.Lines[2]
	line.Chosen = 2
	if diff := cmp.Diff(line, ok(t, got, err).Lines[2]); diff != "" {
		t.Error(diff)
	}
}

func TestSoloTranscript(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna", FirstMessage: "never said"})
	want := scene.Transcript{
		Conversation: scene.NewConversation{
			Title: "At sea", Kind: scene.Solo, CardID: ptr("Anna"), CharacterName: "Anna", TurnMode: scene.Director, MaxSpeakers: 3, ContextMode: scene.Private,
		},
		Lines: []scene.TranscriptLine{
			{Role: scene.RoleAssistant, Member: -1, Variants: []string{"Hello.", "Ho."}, At: dawn()},
			{Role: scene.RoleUser, Member: -1, Author: "Jean", Variants: []string{"Hi."}, At: dawn()},
		},
	}
	c, err := s.ImportTranscript(ctx, want)
	ok(t, c, err)
	got, err := s.Transcript(ctx, c.ID)
	if diff := cmp.Diff(want, ok(t, got, err), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestImportIsRefusedWhole(t *testing.T) {
	s := newService(t)
	addCard(t, s, scene.Card{Name: "Anna"})
	for name, spoil := range map[string]func(*scene.Transcript){
		"no text":      func(t *scene.Transcript) { t.Lines[1].Variants = nil },
		"chosen":       func(t *scene.Transcript) { t.Lines[2].Chosen = 3 },
		"before first": func(t *scene.Transcript) { t.Lines[2].Chosen = -1 },
		"speaker":      func(t *scene.Transcript) { t.Lines[2].Member = 4 },
		"user":         func(t *scene.Transcript) { t.Lines[1].Member = 0 },
		"role":         func(t *scene.Transcript) { t.Lines[1].Role = "system" },
		"extras":       func(t *scene.Transcript) { t.Lines[1].Extras = json.RawMessage(`{`) },
		"no members":   func(t *scene.Transcript) { t.Conversation.Members = nil },
		"settings":     func(t *scene.Transcript) { t.Conversation.MaxSpeakers = 99 },
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := harbour()
			spoil(&spoilt)
			_, err := s.ImportTranscript(context.Background(), spoilt)
			refuse(t, err, fault.Invalid)
			all, err := s.Conversations(context.Background())
			if ok(t, all, err); len(all) != 0 {
				t.Errorf("something was stored: %+v", all)
			}
		})
	}
}

func TestTranscriptOfTooMany(t *testing.T) {
	s := newService(t)
	_, err := s.ImportTranscript(context.Background(), scene.Transcript{
		Conversation: scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{{Name: "Anna"}}},
		Former:       make([]scene.MemberSpec, 10_000),
	})
	refuse(t, err, fault.Invalid)
}
