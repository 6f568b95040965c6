package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/prompt"
)

// tag tells in a prompt where a text came from.
func tag(owner, field string) string { return "<" + owner + "." + field + ">" }

// tagged draws a text with its tag, or a blank one.
func tagged(t *rapid.T, owner, field string) string {
	form := rapid.SampledFrom([]string{
		"", "TAG", "{{char}} TAG {{user}}", "TAG {{description}}", "{{roll::1d20}} {{random::TAG::TAG b}}", "<START>\n{{char}}: TAG", "TAG {{date}} {{time}} é",
	}).Draw(t, owner+" "+field)
	return strings.ReplaceAll(form, "TAG", tag(owner, field))
}

// closed are the fields of a card that only its owner may be shown.
var closed = []string{"description", "personality", "examples", "post_history", "sheet"}

// never are the fields that nobody is shown in a group.
var never = []string{"system", "scenario", "notes", "first"}

func drawCard(t *rapid.T, id string) scene.Card {
	text := func(field string) string { return tagged(t, id, field) }
	return scene.Card{
		ID: id, Name: "Card of " + id, Description: text("description"), Personality: text("personality"), Examples: text("examples"),
		PostHistory: text("post_history"), SystemPrompt: text("system"), Scenario: text("scenario"), CreatorNotes: text("notes"),
		FirstMessage: text("first"),
		Extensions:   []byte(`{"orb":{"public_profile":{"role":"` + tag(id, "role") + `"}}}`),
	}
}

func drawMember(t *rapid.T, i int) scene.Member {
	id := fmt.Sprintf("m%d", i)
	m := scene.Member{
		ID: id, Key: id, CardID: &id, Order: i, Kind: scene.Character, Active: rapid.IntRange(0, 4).Draw(t, "active") > 0,
		Muted: rapid.Bool().Draw(t, "muted"), Name: rapid.SampledFrom([]string{"Alice", "Bob", "Guard", "{{user}}", "Zoë"}).Draw(t, "name"),
	}
	if rapid.Bool().Draw(t, "narrator") {
		m.Kind = scene.Narrator
	}
	if rapid.Bool().Draw(t, "own sheet") {
		m.Sheet = new(tagged(t, id, "sheet"))
	}
	if rapid.Bool().Draw(t, "own profile") {
		m.PublicProfile = new(tagged(t, id, "profile"))
	}
	return m
}

func drawSnapshot(t *rapid.T) scene.Snapshot {
	s := scene.Snapshot{Settings: scene.DefaultSettings(), Cards: map[string]scene.Card{}}
	s.Settings.UserDescription = tagged(t, "user", "persona")
	s.Settings.PreventPromptOverrides = rapid.IntRange(0, 3).Draw(t, "prevent") == 0
	s.Conversation = scene.Conversation{
		ID: "c", Kind: scene.Group, Title: "The Inn", Scenario: tagged(t, "scene", "scenario"), PostHistory: tagged(t, "scene", "post"),
		ContextMode: rapid.SampledFrom([]scene.ContextMode{scene.Private, scene.Shared, scene.Swap, "other"}).Draw(t, "mode"),
		CreatedAt:   time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC),
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "members") {
		m := drawMember(t, i)
		s.Members = append(s.Members, m)
		if m.Active && rapid.IntRange(0, 4).Draw(t, "card") > 0 {
			s.Cards[*m.CardID] = drawCard(t, *m.CardID)
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "solo") == 0 {
		s.Conversation.Kind, s.Members = scene.Solo, nil
		s.Conversation.CardID, s.Conversation.CharacterName = new("m0"), "Alice"
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "rows") {
		m := scene.Message{ID: int64(i + 1), Role: scene.RoleUser, Content: rapid.SampledFrom([]string{"Hi, {{char}}.", "", "é `{{user}}`"}).Draw(t, "content")}
		if rapid.Bool().Draw(t, "reply") {
			m.Role = scene.RoleAssistant
			if len(s.Members) > 0 {
				m.SpeakerID = new(rapid.SampledFrom(s.Members).Draw(t, "by").ID)
			}
		} else {
			m.Author = rapid.SampledFrom([]string{"", "Jean", "Mia"}).Draw(t, "author")
		}
		s.Path = append(s.Path, scene.Step{Message: m})
	}
	return s
}

func drawLore(t *rapid.T) lore.Selection {
	hits := func(kind string) []lore.Hit {
		return []lore.Hit{{Entry: scene.Entry{Content: tagged(t, "lore", kind)}}}
	}
	return lore.Selection{Constant: hits("constant"), Keyword: hits("keyword"), AtDepth: hits("depth")}
}

func drawTurn(t *rapid.T, s scene.Snapshot, sel lore.Selection) prompt.Turn {
	turn := prompt.Turn{
		Path: s.Path, Lore: sel, Cue: tagged(t, "turn", "cue"), Message: tagged(t, "turn", "message"), Injection: tagged(t, "turn", "injection"),
		ToolsShipped: rapid.Bool().Draw(t, "tools"), LengthNudge: tagged(t, "turn", "length"), Author: rapid.SampledFrom([]string{"", "Mia"}).Draw(t, "by"),
	}
	if eligible := s.Eligible(); len(eligible) > 0 {
		turn.Speaker = rapid.SampledFrom(eligible).Draw(t, "speaker").ID
	}
	return turn
}

func drawNow(t *rapid.T) time.Time {
	return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "now"), 0).UTC()
}

// all is every text of one call.
func all(p *prompt.Scene, s scene.Snapshot, turn prompt.Turn) string {
	var b strings.Builder
	b.WriteString(prompt.Join(p.System("SYSTEM", turn.Lore, turn.Speaker)))
	for _, m := range p.History(s.Path, nil) {
		b.WriteString("\n" + m.Text)
	}
	return b.String() + "\n" + prompt.Join(p.Trailing(turn))
}

// The body is the same for every speaker, for nobody and for every exchange;
// in swap it is up to the end of the cast.
func TestPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, sel := drawSnapshot(t), drawLore(t)
		base := prompt.New(s, drawNow(t)).System("SYSTEM {{time}}", sel, "")
		later := s
		later.Path = append(slices.Clone(s.Path), scene.Step{Message: scene.Message{ID: 99, Role: scene.RoleUser, Content: "New."}})
		other := sel
		other.Keyword, other.AtDepth, other.Dropped = nil, nil, sel.Keyword
		p := prompt.New(later, drawNow(t))
		cast := slices.IndexFunc(base, func(s prompt.Section) bool { return s.Key == "cast_public" })
		for _, m := range s.Members {
			body := p.System("SYSTEM {{time}}", other, m.ID)
			want, got := prompt.Join(base), prompt.Join(body)
			if s.Conversation.ContextMode == scene.Swap && s.Conversation.Kind == scene.Group {
				want = prompt.Join(base[:cast+1])
				got = got[:min(len(want), len(got))]
				body = slices.DeleteFunc(body, func(s prompt.Section) bool { return s.Key == "active_card" })
				if !slices.Equal(body, base) {
					t.Fatalf("but for the card of %s the body is\n%v\nand not\n%v", m.ID, body, base)
				}
			}
			if got != want {
				t.Fatalf("the body of %s is\n%s\nand not\n%s", m.ID, got, want)
			}
		}
		// What is new comes after what was there.
		old, grown := prompt.New(s, drawNow(t)).History(s.Path, nil), p.History(later.Path, nil)
		if !slices.EqualFunc(old, grown[:len(old)], func(a, b llm.Message) bool { return a.Role == b.Role && a.Text == b.Text }) {
			t.Fatalf("the history %v became %v", old, grown)
		}
	})
}

// In private and swap nobody is shown what is another's; in no mode what is
// nobody's.
func TestPrivacy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		if s.Conversation.Kind == scene.Solo {
			return
		}
		p, turn := prompt.New(s, drawNow(t)), drawTurn(t, s, drawLore(t))
		text := all(p, s, turn)
		base := prompt.Join(p.System("SYSTEM", turn.Lore, ""))
		for _, m := range s.Members {
			for _, field := range never {
				if strings.Contains(text, tag(m.ID, field)) {
					t.Fatalf("the %s of %s is in\n%s", field, m.ID, text)
				}
			}
			if m.ID != turn.Speaker && strings.Contains(text, tag(m.ID, "post_history")) {
				t.Fatalf("the instructions of %s are in\n%s", m.ID, text)
			}
			if !m.Active && strings.Contains(text, "<"+m.ID+".") {
				t.Fatalf("%s left and is in\n%s", m.ID, text)
			}
			if s.Conversation.ContextMode == scene.Shared {
				if strings.Contains(text, tag(m.ID, "profile")) || strings.Contains(text, tag(m.ID, "role")) {
					t.Fatalf("the profile of %s is in\n%s", m.ID, text)
				}
				continue
			}
			for _, field := range closed {
				if m.ID != turn.Speaker && strings.Contains(text, tag(m.ID, field)) || strings.Contains(base, tag(m.ID, field)) {
					t.Fatalf("the %s of %s is in\n%s\nor in\n%s", field, m.ID, text, base)
				}
			}
		}
	})
}

// A call ends in a person's message that says something, and holds no blank
// section.
func TestClosing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		p := prompt.New(s, drawNow(t))
		turn := drawTurn(t, s, drawLore(t))
		if strings.TrimSpace(prompt.Join(p.Trailing(turn))) == "" {
			t.Fatal("the call ends in nothing")
		}
		for _, part := range append(p.System("", turn.Lore, turn.Speaker), p.Trailing(turn)...) {
			if strings.TrimSpace(part.Text) == "" || part.Key == "" {
				t.Fatalf("the section %q is blank", part.Key)
			}
		}
		if turn.Message == "" && slices.ContainsFunc(p.Trailing(turn), func(s prompt.Section) bool { return s.Key == "message" }) {
			t.Fatal("a message of nothing")
		}
	})
}

// A size is that of the texts that calls are really given.
func TestSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, sel := drawSnapshot(t), drawLore(t)
		p, turn := prompt.New(s, drawNow(t)), drawTurn(t, s, sel)
		size := p.Size("SYSTEM", turn)
		want := map[string]int{}
		for _, m := range p.History(s.Path, nil) {
			want["messages"] += utf8.RuneCountInString(m.Text)
		}
		speakers := []string{""}
		for _, m := range s.Eligible() {
			speakers = append(speakers, m.ID)
		}
		for i, speaker := range speakers {
			call := turn
			call.Speaker = speaker
			tail := 0
			for _, part := range append(p.System("SYSTEM", sel, speaker), p.Trailing(call)...) {
				n := utf8.RuneCountInString(part.Text)
				switch {
				case part.Key == "active_card":
					want["largest_active_card"] = max(want["largest_active_card"], n)
				case strings.HasPrefix(part.Key, "speaker"):
					tail += n
				case i == len(speakers)-1:
					want[part.Key] = n
				}
			}
			want["largest_speaker_tail"] = max(want["largest_speaker_tail"], tail)
		}
		sum := 0
		for _, part := range size.Parts {
			if part.Chars != want[part.Key] || part.Tokens != scene.TokensOf(part.Chars) {
				t.Fatalf("%s has %d characters and %d tokens; calls have %d", part.Key, part.Chars, part.Tokens, want[part.Key])
			}
			sum += part.Chars
			delete(want, part.Key)
		}
		for _, ours := range []string{"message", "cue", "length", "no_tools", "nudge"} {
			delete(want, ours)
		}
		for key, n := range want {
			if n > 0 {
				t.Fatalf("%s has %d characters that no part has", key, n)
			}
		}
		if size.Chars != sum || size.Tokens != scene.Tokens(strings.Repeat("é", sum)) || size.Messages != len(s.Path) || size.Maximum == (s.Conversation.Kind == scene.Solo) {
			t.Fatalf("the whole is %+v", size)
		}
	})
}
