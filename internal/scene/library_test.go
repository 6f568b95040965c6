package scene_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func TestPersonas(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	p, err := s.CreatePersona(ctx, scene.Persona{ID: "ignored", Name: "Jean {{user}}", Description: "tall", Color: "#4a90d9"})
	if ok(t, p, err).ID == "ignored" || p.CreatedAt.IsZero() {
		t.Errorf("made %+v", p)
	}
	got, err := s.ChangePersona(ctx, p.ID, scene.PersonaChange{Color: scene.To("rgb(1, 2%, 3)")})
	p.Color, p.UpdatedAt = "rgb(1, 2%, 3)", got.UpdatedAt
	if diff := cmp.Diff(p, ok(t, got, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]scene.Persona{p}, must(s.Personas(ctx))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, err = s.CreatePersona(ctx, scene.Persona{Name: " "})
	misfit(t, err, "name")
	for _, color := range []string{"red;x:y", "url(\"x\")", "}", "é", "\n"} {
		_, err = s.ChangePersona(ctx, p.ID, scene.PersonaChange{Color: scene.To(color)})
		misfit(t, err, "avatar_color")
	}
	_, err = s.ChangePersona(ctx, "nobody", scene.PersonaChange{})
	refuse(t, err, fault.NotFound)
}

// What names a deleted persona names none any more.
func TestDeletePersona(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	p, other := must(s.CreatePersona(ctx, scene.Persona{Name: "Me"})), must(s.CreatePersona(ctx, scene.Persona{Name: "You"}))
	card := newCard(t, s, scene.Card{Name: "Mira", PersonaLock: &p.ID}, nil)
	chat := solo(t, s, card.ID)
	_, err := s.ChangeConversation(ctx, chat.ID, scene.ConversationChange{PersonaLock: scene.To(&p.ID)}, nil)
	ok(t, 0, err)
	patch(t, s, `{"active_persona_id":"`+p.ID+`"}`)
	if err := s.DeletePersona(ctx, other.ID); err != nil {
		t.Fatal(err)
	}
	if id := must(s.Settings(ctx)).ActivePersonaID; id == nil || *id != p.ID {
		t.Error("deleting another persona cleared the active one")
	}
	if err := s.DeletePersona(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	if must(s.Settings(ctx)).ActivePersonaID != nil || must(s.Card(ctx, card.ID)).PersonaLock != nil || conversation(t, s, chat.ID).PersonaLock != nil {
		t.Error("something still names the persona")
	}
	refuse(t, s.DeletePersona(ctx, p.ID), fault.NotFound)
}

func TestMoods(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	m := scene.Mood{ID: "grim", Label: "Grim", Description: "when it is dark", Prompt: "write {{random::a::b}}", NegativePrompt: "no more", Enabled: true, Cooldown: 50}
	made, err := s.CreateMood(ctx, m)
	if diff := cmp.Diff(m, ok(t, made, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err := s.ChangeMood(ctx, "grim", scene.MoodChange{Enabled: scene.To(false), Cooldown: scene.To(0)})
	m.Enabled, m.Cooldown = false, 0
	if diff := cmp.Diff(m, ok(t, got, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, bad := range []scene.Mood{{ID: "grim", Label: "again"}, {ID: "moods", Label: "x"}, {ID: "", Label: "x"}, {ID: "a/b", Label: "x"}, {ID: "x"}, {ID: "x", Label: "x", Cooldown: 51}, {ID: "x", Label: "x", Cooldown: -1}} {
		_, err = s.CreateMood(ctx, bad)
		refuse(t, err, fault.Invalid)
	}
	_, err = s.ChangeMood(ctx, "grim", scene.MoodChange{Cooldown: scene.To(51)})
	misfit(t, err, "cooldown_turns")
	if diff := cmp.Diff([]scene.Mood{m}, must(s.Moods(ctx))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := s.DeleteMood(ctx, "grim"); err != nil {
		t.Fatal(err)
	}
	refuse(t, s.DeleteMood(ctx, "grim"), fault.NotFound)
	refuse(t, second(s.ChangeMood(ctx, "grim", scene.MoodChange{})), fault.NotFound)
}

func TestFragments(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	for typ, want := range map[string]string{
		"string": "string", "array": "array", "feedback": "feedback", "post_processing": "post_processing", "state": "state",
		"decision": "decision", "progressive": "state", "direction_note": "state", "": "string",
	} {
		f, err := s.CreateFragment(ctx, scene.Fragment{ID: "f-" + typ, Label: typ + "!", Type: typ})
		if ok(t, f, err).Type != want || string(f.Options) != "{}" {
			t.Errorf("%q became %+v", typ, f)
		}
	}
	_, err := s.CreateFragment(ctx, scene.Fragment{ID: "x", Label: "x", Type: "novel"})
	misfit(t, err, "field_type")
	for _, id := range []string{"f-array", "moods", "speaking_plan", "", "a b", "é", "{{x}}"} {
		_, err := s.CreateFragment(ctx, scene.Fragment{ID: id, Label: "x"})
		refuse(t, err, fault.Invalid)
	}
	_, err = s.CreateFragment(ctx, scene.Fragment{ID: "x", Label: "x", Options: json.RawMessage(`[1]`)})
	misfit(t, err, "options")
	got, err := s.ChangeFragment(ctx, "f-state", scene.FragmentChange{
		Label: scene.To("L"), Description: scene.To("D"), Heading: scene.To("H"), Required: scene.To(true), Enabled: scene.To(true),
		Order: scene.To(-3), Cooldown: scene.To(2), Type: scene.To("progressive"), Options: scene.To(json.RawMessage(`{"state_mode": "one"}`)),
	})
	want := scene.Fragment{
		ID: "f-state", Label: "L", Description: "D", Type: "state", Required: true, Enabled: true, Heading: "H", Order: -3, Cooldown: 2,
		Options: json.RawMessage(`{"state_mode": "one"}`),
	}
	if diff := cmp.Diff(want, ok(t, got, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, err = s.ChangeFragment(ctx, "f-state", scene.FragmentChange{Label: scene.To("")})
	misfit(t, err, "label")
	if all := must(s.Fragments(ctx)); len(all) != 9 || all[0].ID != "f-state" {
		t.Errorf("they do not come by their order: %+v", all)
	}
	if err := s.DeleteFragment(ctx, "f-array"); err != nil {
		t.Fatal(err)
	}
	refuse(t, s.DeleteFragment(ctx, "f-array"), fault.NotFound)
}

func TestPhrases(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	p, err := s.CreatePhrase(ctx, scene.Phrase{Variants: []string{"a shiver", " ", "shivers"}, Pattern: "dropped"})
	want := scene.Phrase{ID: p.ID, Kind: "literal", Variants: []string{"a shiver", "shivers"}}
	if diff := cmp.Diff(want, ok(t, p, err)); diff != "" || p.ID == "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r, err := s.CreatePhrase(ctx, scene.Phrase{Kind: scene.RegexPhrase, Pattern: `(?i)\bshiver(s|ed)?\b`})
	ok(t, r, err)
	for _, bad := range []scene.Phrase{
		{}, {Kind: "literal", Pattern: "x"}, {Kind: "literal", Variants: []string{"", "\n"}}, {Kind: "regex"}, {Kind: "regex", Variants: []string{"x"}},
		{Kind: "regex", Pattern: "("}, {Kind: "regex", Pattern: "a(?!b)"}, {Kind: "fuzzy", Variants: []string{"x"}},
	} {
		_, err := s.CreatePhrase(ctx, bad)
		refuse(t, err, fault.Invalid)
	}
	_, err = s.ChangePhrase(ctx, r.ID, scene.PhraseChange{Pattern: scene.To("[")})
	refuse(t, err, fault.Invalid)
	_, err = s.ChangePhrase(ctx, r.ID, scene.PhraseChange{Kind: scene.To("literal")})
	refuse(t, err, fault.Invalid)
	got, err := s.ChangePhrase(ctx, r.ID, scene.PhraseChange{Kind: scene.To("literal"), Variants: scene.To([]string{"x"})})
	if ok(t, got, err).Pattern != "" || got.Variants[0] != "x" {
		t.Errorf("got %+v", got)
	}
	if all := must(s.Phrases(ctx)); len(all) != 2 || all[0].ID != p.ID {
		t.Errorf("got %+v", all)
	}
	if err := s.DeletePhrase(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	refuse(t, s.DeletePhrase(ctx, p.ID), fault.NotFound)
}
