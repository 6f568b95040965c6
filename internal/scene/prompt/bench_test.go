package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/prompt"
)

// long is a scene of 2,000 messages and 8 members.
func long() scene.Snapshot {
	s := inn(scene.Private)
	s.Members = nil
	prose := strings.Repeat("{{char}} looks at {{user}} and says nothing for a while. ", 40)
	for i := range 8 {
		id := fmt.Sprint("m", i)
		s.Members = append(s.Members, scene.Member{ID: id, Key: id, Name: "Member " + id, CardID: &id, Active: true})
		s.Cards[id] = scene.Card{ID: id, Description: prose, Personality: prose, Examples: "<START>\n" + prose, PostHistory: prose}
	}
	for i := range 2000 {
		m := scene.Message{ID: int64(i + 1), Role: scene.RoleAssistant, SpeakerID: &s.Members[i%8].ID, Content: strings.Repeat("Words of a scene. ", 30)}
		if i%4 == 0 {
			m.Role, m.SpeakerID, m.Author, m.Content = scene.RoleUser, nil, "Jean", "So says {{user}} to {{char}}. "+m.Content
		}
		s.Path = append(s.Path, scene.Step{Message: m})
	}
	return s
}

// BenchmarkPrompt builds all that one speaker's call is given.
func BenchmarkPrompt(b *testing.B) {
	for _, mode := range []scene.ContextMode{scene.Private, scene.Shared, scene.Swap} {
		b.Run(string(mode), func(b *testing.B) {
			s := long()
			s.Conversation.ContextMode = mode
			b.ReportAllocs()
			for b.Loop() {
				p := prompt.New(s, dawn)
				_ = prompt.Join(p.System("You write.", lore.Selection{}, "m3"))
				_ = p.History(s.Path, nil)
				_ = prompt.Join(p.Trailing(prompt.Turn{Speaker: "m3", Path: s.Path, Message: "Go on.", Author: "Jean"}))
			}
		})
	}
}

func BenchmarkSize(b *testing.B) {
	p := prompt.New(long(), dawn)
	for b.Loop() {
		_ = p.Size("You write.", prompt.Turn{})
	}
}
