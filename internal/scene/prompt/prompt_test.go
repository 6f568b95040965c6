package prompt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/macro"
	"jp/internal/scene/prompt"
)

var dawn = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

// inn is a small group: Alice with a card, and Carl, who left.
func inn(mode scene.ContextMode) scene.Snapshot {
	return scene.Snapshot{
		Conversation: scene.Conversation{ID: "c", Kind: scene.Group, Title: "The Inn", ContextMode: mode, CreatedAt: dawn},
		Settings:     scene.DefaultSettings(),
		Members: []scene.Member{
			{ID: "a", Key: "alice", Name: "Alice", CardID: new("card"), Active: true},
			{ID: "c", Key: "carl", Name: "Carl"},
		},
		Cards: map[string]scene.Card{"card": {
			ID: "card", Name: "Alice Card", Description: "{{char}} keeps it.", Examples: "{{char}}: Upstairs.", PostHistory: "No keys.",
		}},
	}
}

func section(parts []prompt.Section, key string) string {
	for _, s := range parts {
		if s.Key == key {
			return s.Text
		}
	}
	return ""
}

// The same card is the same text wherever a mode puts it, dice included, and
// swap is private's body with a card in it.
func TestModes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		s.Conversation.Kind = scene.Group
		sel := drawLore(t)
		in := func(mode scene.ContextMode) *prompt.Scene {
			s.Conversation.ContextMode = mode
			return prompt.New(s, s.Conversation.CreatedAt)
		}
		for _, m := range s.Eligible() {
			private, swap, shared := in(scene.Private), in(scene.Swap), in(scene.Shared)
			turn := prompt.Turn{Speaker: m.ID}
			_, sheet, _ := strings.Cut(section(private.Trailing(turn), "speaker_sheet"), "\n\n")
			examples := section(private.Trailing(turn), "speaker_examples")
			card := section(swap.System("", sel, m.ID), "active_card")
			if sheet+examples == "" {
				if card != "" {
					t.Fatalf("a card of nothing: %s", card)
				}
				continue
			}
			parts := []string{sheet, examples}
			if sheet == "" {
				parts = parts[1:]
			} else if examples == "" {
				parts = parts[:1]
			}
			body := strings.Join(parts, "\n\n")
			if want := "## Character: " + m.Name + "\n" + body; card != want {
				t.Fatalf("the card in swap is\n%s\nand not\n%s", card, want)
			}
			open := "## Character dossier: " + m.Name + "\n" + strings.ReplaceAll(body, "## Example Dialogue", "### Example Dialogue")
			if dossiers := section(shared.System("", sel, ""), "cast_dossiers"); !strings.Contains(dossiers, open) {
				t.Fatalf("the dossiers are\n%s\nand lack\n%s", dossiers, open)
			}
		}
	})
}

// Instructions: the scene's are in the body, a card's in the closing message;
// with overrides refused neither is anywhere.
func TestInstructions(t *testing.T) {
	for _, mode := range []scene.ContextMode{scene.Private, scene.Shared, scene.Swap} {
		for _, prevent := range []bool{false, true} {
			s := inn(mode)
			s.Conversation.PostHistory, s.Settings.PreventPromptOverrides = "Past tense.", prevent
			p := prompt.New(s, dawn)
			body, tail := prompt.Join(p.System("", lore.Selection{}, "a")), prompt.Join(p.Trailing(prompt.Turn{Speaker: "a"}))
			if strings.Contains(body, "Past tense.") == prevent || strings.Contains(tail, "Past tense.") {
				t.Errorf("%s, %t: the scene's in\n%s\nand\n%s", mode, prevent, body, tail)
			}
			if strings.Contains(tail, "No keys.") == prevent || strings.Contains(body, "No keys.") {
				t.Errorf("%s, %t: the card's in\n%s\nand\n%s", mode, prevent, body, tail)
			}
			for _, part := range p.Size("", prompt.Turn{}).Parts {
				if part.Key == "post_history" && (part.Chars == 0) != prevent {
					t.Errorf("%s, %t: the instructions measure %d", mode, prevent, part.Chars)
				}
			}
		}
	}
}

// A scene's own sheet takes the place of the card's text alone.
func TestSheetOverride(t *testing.T) {
	for _, mode := range []scene.ContextMode{scene.Private, scene.Shared, scene.Swap} {
		s := inn(mode)
		s.Members[0].Sheet = new("{{char}} lost it all.")
		p := prompt.New(s, dawn)
		text := prompt.Join(append(p.System("", lore.Selection{}, "a"), p.Trailing(prompt.Turn{Speaker: "a"})...))
		if strings.Contains(text, "keeps it") || strings.Count(text, "Alice lost it all.") != 1 ||
			strings.Count(text, "Alice: Upstairs.") != 1 || strings.Count(text, "No keys.") != 1 {
			t.Errorf("%s:\n%s", mode, text)
		}
	}
}

// Lore at depth is rolled for each exchange, and stays within it; the rest of
// a prompt falls alike for good.
func TestDice(t *testing.T) {
	s := inn(scene.Private)
	hit := func(text string) []lore.Hit { return []lore.Hit{{Entry: scene.Entry{Content: text}}} }
	const rolls = "{{roll::1d1000000}} {{roll::1d1000000}}"
	sel := lore.Selection{Constant: hit(rolls), Keyword: hit(rolls), AtDepth: hit(rolls)}
	at := func(now time.Time, key string) string {
		p := prompt.New(s, now)
		return section(append(p.System("", sel, "a"), p.Trailing(prompt.Turn{Speaker: "a", Lore: sel})...), key)
	}
	for _, key := range []string{"lorebook_constant", "lorebook", "lorebook_depth"} {
		if again := at(dawn, key); again != at(dawn, key) {
			t.Errorf("%s changed within an exchange", key)
		}
		if same := at(dawn, key) == at(dawn.Add(time.Second), key); same == (key == "lorebook_depth") {
			t.Errorf("%s is the same in the next exchange: %t", key, same)
		}
	}
	before := at(dawn, "lorebook_constant")
	s.Conversation.MacroSeed = "other"
	if at(dawn, "lorebook_constant") == before {
		t.Error("another scene has the same dice")
	}
}

// The clock of the body stands at the conversation's creation, in the zone of
// the exchange; that of the closing message goes.
func TestClock(t *testing.T) {
	s := inn(scene.Private)
	s.Conversation.Scenario, s.Members[0].Sheet = "{{date}} {{time}}", new("{{date}} {{time}}")
	zone := time.FixedZone("east", 3600)
	p := prompt.New(s, time.Date(2026, 5, 6, 7, 8, 0, 0, zone))
	body, tail := prompt.Join(p.System("", lore.Selection{}, "a")), prompt.Join(p.Trailing(prompt.Turn{Speaker: "a"}))
	if !strings.Contains(body, "2026-01-02 04:04") || !strings.Contains(tail, "2026-05-06 07:08") {
		t.Errorf("the clocks are in\n%s\nand\n%s", body, tail)
	}
}

func TestNames(t *testing.T) {
	s := inn(scene.Private)
	s.Persona = &scene.Persona{Name: " Jean \n Valjean "}
	s.Members[0].Name = "Alice\nof {{user}}"
	p := prompt.New(s, dawn)
	solo := s
	solo.Conversation.Kind, solo.Conversation.CardID = scene.Solo, new("card")
	row := func(role scene.Role, by *string, author string) scene.Message {
		return scene.Message{Role: role, SpeakerID: by, Author: author, Content: "{{char}} {{user}} {{roll::1d6}}"}
	}
	for _, c := range []struct {
		p           *prompt.Scene
		m           scene.Message
		label, text string
	}{
		{p, row(scene.RoleAssistant, new("a"), ""), "Alice of {{user}}", "Alice of {{user}} Jean Valjean {{roll::1d6}}"},
		{p, row(scene.RoleAssistant, new("c"), ""), "Carl", "Carl Jean Valjean {{roll::1d6}}"},
		{p, row(scene.RoleAssistant, new("x"), ""), "Unknown speaker", "Unknown speaker Jean Valjean {{roll::1d6}}"},
		{p, row(scene.RoleAssistant, nil, ""), "Summary", "The Inn Jean Valjean {{roll::1d6}}"},
		{p, row(scene.RoleUser, nil, ""), "Jean Valjean", "The Inn Jean Valjean {{roll::1d6}}"},
		{p, row(scene.RoleUser, nil, "Mia"), "Mia", "The Inn Mia {{roll::1d6}}"},
		{prompt.New(solo, dawn), row(scene.RoleAssistant, nil, ""), "Alice Card", "Alice Card Jean Valjean {{roll::1d6}}"},
	} {
		if label, text := c.p.Label(c.m), c.p.Text(c.m); label != c.label || text != c.text {
			t.Errorf("%q says %q, not %q says %q", label, text, c.label, c.text)
		}
	}
}

// The scope for those who have texts of their own: the Director's moods.
func TestSceneScope(t *testing.T) {
	p := prompt.New(inn(scene.Private), dawn)
	if got := macro.Resolve("{{char}} {{user}} {{cast}} {{description}}", p.SceneScope()); got != "The Inn User Alice {{description}}" {
		t.Errorf("the scene is %q", got)
	}
}

func TestLanePrompt(t *testing.T) {
	s := inn(scene.Private)
	s.Settings.SharedSystemPrompt, s.Settings.SystemPrompt, s.Settings.AgentSharedSystemPrompt = "Shared.", "Own.", "Agents."
	type lane struct {
		lane scene.Lane
		own  string
		same bool
	}
	for in, want := range map[lane]string{
		{scene.LaneWriter, "Model.", true}:  "Shared.\n\nModel.",
		{scene.LaneWriter, " ", true}:       "Shared.\n\nOwn.",
		{scene.LaneWriter, "", false}:       "Shared.\n\nOwn.",
		{scene.LaneAgent, "Model.", true}:   "Shared.\n\nModel.",
		{scene.LaneAgent, "Model.", false}:  "Agents.\n\nModel.",
		{scene.LaneAgent, "", false}:        "Agents.",
		{scene.LaneWriter, "\n\nx\n", true}: "Shared.\n\nx",
	} {
		s.Settings.AgentSameAsWriter = in.same
		if got := prompt.New(s, dawn).LanePrompt(in.lane, in.own); got != want {
			t.Errorf("%+v is %q, not %q", in, got, want)
		}
	}
}

// Pictures go with the message that has them.
func TestPictures(t *testing.T) {
	p := prompt.New(inn(scene.Private), dawn)
	path := []scene.Step{
		{Message: scene.Message{ID: 1, Role: scene.RoleUser, Content: "Look."}, Uploads: []scene.Upload{{ID: 7}}},
		{Message: scene.Message{ID: 2, Role: scene.RoleUser, Content: "And?"}},
	}
	picture := []llm.Image{{MediaType: "image/png"}}
	var asked []int64
	got := p.History(path, func(id int64) []llm.Image { asked = append(asked, id); return picture })
	want := []llm.Message{{Role: llm.RoleUser, Text: "Look.", Images: picture}, {Role: llm.RoleUser, Text: "And?"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1}, asked); diff != "" {
		t.Errorf("asked for (-want +got)\n%s", diff)
	}
}

// A steer is nobody's line: it has no name, whoever speaks.
func TestSteer(t *testing.T) {
	p := prompt.New(inn(scene.Private), dawn)
	path := []scene.Step{
		{Message: scene.Message{Role: scene.RoleAssistant, Author: "Mia", Content: "A reply has no author that counts."}},
		{Message: scene.Message{Role: scene.RoleUser, Author: "Jean", Content: "Hi."}},
	}
	for steer, want := range map[bool]string{true: "Shorter, Mia.", false: "Mia: Shorter, Mia."} {
		turn := prompt.Turn{Speaker: "a", Path: path, Message: "Shorter, {{user}}.", Author: "Mia", Steer: steer}
		if got := section(p.Trailing(turn), "message"); got != "___\n\n"+want {
			t.Errorf("steered %t: %q", steer, got)
		}
	}
}

// Which keys a size has, in order.
func TestSizeKeys(t *testing.T) {
	const rest = " scenario mes_example user_persona messages post_history director_injection lorebook lorebook_constant lorebook_depth"
	solo := inn(scene.Shared)
	solo.Conversation.Kind = scene.Solo
	for _, c := range []struct {
		s    scene.Snapshot
		want string
	}{
		{inn(scene.Private), "system_prompt char_persona cast_public largest_speaker_tail" + rest},
		{inn("broken"), "system_prompt char_persona cast_public largest_speaker_tail" + rest},
		{inn(scene.Shared), "system_prompt char_persona cast_dossiers largest_speaker_tail" + rest},
		{inn(scene.Swap), "system_prompt char_persona cast_public largest_active_card largest_speaker_tail" + rest},
		{solo, "system_prompt char_persona" + rest},
	} {
		size := prompt.New(c.s, dawn).Size("", prompt.Turn{})
		var keys []string
		for _, part := range size.Parts {
			keys = append(keys, part.Key)
			if (part.Key == "char_persona" || part.Key == "mes_example") && part.Chars > 0 && size.Maximum {
				t.Errorf("%s of a group has %d", part.Key, part.Chars)
			}
		}
		if got := strings.Join(keys, " "); got != c.want {
			t.Errorf("%s has %s", c.s.Conversation.ContextMode, got)
		}
	}
	muted := inn(scene.Swap)
	muted.Members[0].Muted = true
	for _, part := range prompt.New(muted, dawn).Size("", prompt.Turn{}).Parts {
		if strings.HasPrefix(part.Key, "largest") && part.Chars > 0 {
			t.Errorf("nobody may speak, and %s has %d", part.Key, part.Chars)
		}
	}
}
