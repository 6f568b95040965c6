package scene_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// withFragments is a card with an area of ours in its extensions.
func withFragments(name, mood, interactive string) scene.Card {
	return scene.Card{Name: name, Extensions: json.RawMessage(
		`{"depth_prompt":{"x":1},"orb":{"fragments":{"mood":` + mood + `,"interactive":` + interactive + `}}}`)}
}

// TestSnapshot: every field says what is there, as of one moment.
func TestSnapshot(t *testing.T) {
	s := standing(t)
	ctx := context.Background()
	library(t, s)
	addCard(t, s, scene.Card{Name: "Gone"})
	persona := must(s.CreatePersona(ctx, scene.Persona{Name: "Jean"}))
	must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://h/v1"}))
	must(s.CreateMood(ctx, scene.Mood{ID: "calm", Label: "Calm", Enabled: true}))
	must(s.CreateFragment(ctx, scene.Fragment{ID: "weather", Label: "Weather", Enabled: true}))
	must(s.CreatePhrase(ctx, scene.Phrase{Kind: "literal", Variants: []string{"shivers"}}))
	c := must(s.CreateConversation(ctx, scene.NewConversation{
		Kind: scene.Group, Members: []scene.MemberSpec{{CardID: ptr("Anna")}, {CardID: ptr("Gone")}, {Name: "Guard", Muted: true}},
	}))
	must(s.ChangeConversation(ctx, c.ID, scene.ConversationChange{PersonaLock: scene.To(&persona.ID)}, nil))
	members := roster(t, s, c.ID, false)
	_, _, err := s.SetMembers(ctx, c.ID, specs(members[2], members[0]), nil)
	ok(t, 0, err)
	say(t, s, c.ID, "Hi.", nil)
	change(t, s, func(tx scene.Tx) error {
		for i, e := range []scene.Entry{
			{ID: "late", Priority: 10, Order: 2, Enabled: true}, {ID: "off", Priority: 99},
			{ID: "early", Priority: 10, Order: 1, Enabled: true}, {ID: "first", Priority: 20, Order: 9, Enabled: true},
		} {
			e.WorldID, e.CreatedAt, e.UpdatedAt = []string{"everywhere", "harbour"}[i/3], dawn(), dawn()
			if err := tx.Entries.Insert(e); err != nil {
				return err
			}
		}
		return tx.Directors.Save(scene.DirectorState{ConversationID: c.ID, ActiveMoods: []string{"calm"}})
	})

	got := must(s.Snapshot(ctx, c.ID))
	v := reflect.ValueOf(got)
	for i := range v.NumField() {
		if f := v.Field(i); f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
			t.Errorf("%s is empty", v.Type().Field(i).Name)
		}
	}
	want := scene.Snapshot{
		Conversation: conversation(t, s, c.ID), Settings: must(s.Settings(ctx)), Persona: &persona, Members: roster(t, s, c.ID, true),
		Cards: map[string]scene.Card{"Anna": must(s.Card(ctx, "Anna"))}, Path: must(s.Messages(ctx, c.ID, nil, 0)),
		Moods: must(s.Moods(ctx)), Fragments: must(s.Fragments(ctx)), Phrases: must(s.Phrases(ctx)), Entries: must(s.ActiveEntries(ctx, c.ID)),
		Director: must(s.DirectorState(ctx, c.ID)), Endpoints: must(s.Endpoints(ctx)), Models: must(s.Models(ctx, must(s.Endpoints(ctx))[0].ID)),
	}
	for _, id := range must(s.WorldIDs(ctx, c.ID)) {
		want.Worlds = append(want.Worlds, must(s.World(ctx, id)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var ids []string
	for _, e := range got.Entries {
		ids = append(ids, e.ID)
	}
	if !cmp.Equal(ids, []string{"first", "early", "late"}) {
		t.Errorf("entries %q", ids)
	}
	if len(got.Members) != 3 || got.Members[0].Name != "Guard" || len(got.Active()) != 2 || len(got.Eligible()) != 1 {
		t.Errorf("members %+v", got.Members)
	}
	_, err = s.Snapshot(ctx, "x")
	refuse(t, err, fault.NotFound)
}

// TestPersonaThatCounts: the conversation's, then a solo chat's card's, then the
// active one.
func TestPersonaThatCounts(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	ids := map[string]string{}
	for _, name := range []string{"pinned", "of the card", "active"} {
		ids[name] = must(s.CreatePersona(ctx, scene.Persona{Name: name})).ID
	}
	addCard(t, s, scene.Card{Name: "Anna", PersonaLock: ptr(ids["of the card"])})
	addCard(t, s, scene.Card{Name: "Ben"})
	solo := func(card string) scene.Conversation {
		return must(s.CreateConversation(ctx, scene.NewConversation{CardID: &card}))
	}
	group := must(s.CreateConversation(ctx, scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{{CardID: ptr("Anna")}}}))
	anna, ben, lost := solo("Anna"), solo("Ben"), solo("Ben")
	bare := must(s.CreateConversation(ctx, scene.NewConversation{}))
	change(t, s, func(tx scene.Tx) error {
		lost.CardID, group.CardID = ptr("gone"), ptr("Anna") // a group has none, whatever stands there
		if err := tx.Conversations.Save(lost); err != nil {
			return err
		}
		return tx.Conversations.Save(group)
	})
	wants := func(c scene.Conversation, name, user string) {
		t.Helper()
		snap := must(s.Snapshot(ctx, c.ID))
		if snap.UserName() != user || (snap.Persona == nil) != (name == "") || snap.Persona != nil && snap.Persona.ID != ids[name] {
			t.Errorf("%+v, called %q", snap.Persona, snap.UserName())
		}
	}
	wants(anna, "of the card", "of the card")
	for _, c := range []scene.Conversation{group, ben, lost, bare} {
		wants(c, "", "User")
	}
	must(s.ChangeSettings(ctx, json.RawMessage(`{"active_persona_id":"`+ids["active"]+`"}`)))
	wants(anna, "of the card", "of the card")
	for _, c := range []scene.Conversation{group, ben, lost, bare} {
		wants(c, "active", "active")
	}
	for _, c := range []scene.Conversation{anna, group} {
		must(s.ChangeConversation(ctx, c.ID, scene.ConversationChange{PersonaLock: scene.To(ptr(ids["pinned"]))}, nil))
		wants(c, "pinned", "pinned")
	}
	ok(t, 0, s.DeletePersona(ctx, ids["pinned"]))
	ok(t, 0, s.DeletePersona(ctx, ids["active"]))
	wants(anna, "of the card", "of the card")
	wants(group, "", "User")
}

// TestSoloSnapshot has the card of the chat, and nobody in it.
func TestSoloSnapshot(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, withFragments("Anna", `[{"id":"shy","label":"Shy"}]`, `[]`))
	c := must(s.CreateConversation(ctx, scene.NewConversation{CardID: ptr("Anna")}))
	got := must(s.Snapshot(ctx, c.ID))
	if len(got.Cards) != 1 || got.Cards["Anna"].Name != "Anna" || len(got.Members) != 0 || len(got.Moods) != 1 || len(got.Path) != 0 {
		t.Errorf("%+v", got)
	}
	ok(t, 0, s.DeleteCard(ctx, "Anna", false))
	if got := must(s.Snapshot(ctx, c.ID)); len(got.Cards) != 0 || len(got.Moods) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestFragmentsOfTheCast stand behind those of the installation, which win.
func TestFragmentsOfTheCast(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	must(s.CreateMood(ctx, scene.Mood{ID: "calm", Label: "Calm", Enabled: true}))
	must(s.CreateMood(ctx, scene.Mood{ID: "sad", Label: "Sad"})) // turned off
	must(s.CreateFragment(ctx, scene.Fragment{ID: "late", Label: "Late", Enabled: true, Order: 9}))
	must(s.CreateFragment(ctx, scene.Fragment{ID: "soon", Label: "Soon", Enabled: true, Order: 3}))
	must(s.CreateFragment(ctx, scene.Fragment{ID: "never", Label: "Never", Order: 1}))
	addCard(t, s, withFragments("Anna",
		`[{"id":"calm","label":"x"},{"id":"sad","label":"x"},{"id":"shy","label":"Shy"},{"id":"loud","label":"Loud","enabled":false}]`,
		`[{"id":"soon","label":"x"},{"id":"a1","label":"A1","sort_order":0},{"id":"a2","label":"A2"}]`))
	addCard(t, s, withFragments("Ben",
		`[{"id":"loud","label":"Ben's"},{"id":"shy","label":"Ben's"},{"id":"bold","label":"Bold"}]`,
		`[{"id":"b1","label":"B1"},{"id":"a2","label":"Ben's"},{"id":"never","label":"x"}]`))
	addCard(t, s, withFragments("Cleo", `[{"id":"left","label":"Left"}]`, `[]`))
	c := must(s.CreateConversation(ctx, scene.NewConversation{
		Kind: scene.Group, Members: []scene.MemberSpec{{CardID: ptr("Anna")}, {CardID: ptr("Cleo")}, {CardID: ptr("Ben"), Muted: true}},
	}))
	members := roster(t, s, c.ID, false)
	_, _, err := s.SetMembers(ctx, c.ID, specs(members[0], members[2]), nil)
	ok(t, 0, err)
	got := must(s.Snapshot(ctx, c.ID))
	var moods, fragments []string
	for _, m := range got.Moods {
		moods = append(moods, m.ID+" "+m.Label)
	}
	for _, f := range got.Fragments {
		fragments = append(fragments, fmt.Sprint(f.ID, " ", f.Label, " ", f.Order))
	}
	if want := []string{"calm Calm", "shy Shy", "loud Ben's", "bold Bold"}; !cmp.Equal(want, moods) {
		t.Errorf("moods %q", moods)
	}
	if want := []string{"soon Soon 3", "late Late 9", "a1 A1 10000", "a2 A2 10001", "b1 B1 10002"}; !cmp.Equal(want, fragments) {
		t.Errorf("fragments %q", fragments)
	}
}

// TestFragmentsOfACard: what others wrote is taken as far as it goes.
func TestFragmentsOfACard(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	full := scene.Mood{ID: "shy-1_a", Label: "Shy", Description: "d", Prompt: "p", NegativePrompt: "n", Enabled: true, Cooldown: 4}
	for name, tc := range map[string]struct {
		mood, interactive string
		moods             []scene.Mood
		fragments         []scene.Fragment
	}{
		"all fields": {
			mood: `[{"id":"shy-1_a","label":"Shy","description":"d","prompt_text":"p","negative_prompt":"n","enabled":true,"cooldown_turns":4}]`,
			interactive: `[{"id":"w","label":"W","description":"d","field_type":"state","required":true,"enabled":1,"injection_label":"H",
				"sort_order":5,"cooldown_turns":3,"options":{"mode":"single"}}]`,
			moods: []scene.Mood{full},
			fragments: []scene.Fragment{{
				ID: "w", Label: "W", Description: "d", Type: "state", Required: true, Enabled: true, Heading: "H", Order: 10000, Cooldown: 3,
				Options: json.RawMessage(`{"mode":"single"}`),
			}},
		},
		"what is missing or does not fit": {
			mood: `[{"id":"a","label":"A"},{"id":"b","label":"B","description":7,"prompt_text":null,"enabled":"yes","cooldown_turns":-3},
				{"id":"c","label":"C","cooldown_turns":"many"},{"id":"d","label":"D","cooldown_turns":1000}]`,
			interactive: `[{"id":"a","label":"A","field_type":"spell","required":"x","options":[1]},{"id":"b","label":"B","field_type":"progressive"},
				{"id":"c","label":"C","state_mode":"multiple entries","options":{}}]`,
			moods: []scene.Mood{
				{ID: "a", Label: "A", Enabled: true}, {ID: "b", Label: "B", Enabled: true}, {ID: "c", Label: "C", Enabled: true},
				{ID: "d", Label: "D", Enabled: true, Cooldown: 50},
			},
			fragments: []scene.Fragment{
				{ID: "a", Label: "A", Type: "string", Enabled: true, Order: 10000, Options: json.RawMessage(`{}`)},
				{ID: "b", Label: "B", Type: "state", Enabled: true, Order: 10001, Options: json.RawMessage(`{}`)},
				{ID: "c", Label: "C", Type: "string", Enabled: true, Order: 10002, Options: json.RawMessage(`{"state_mode":"multiple entries"}`)},
			},
		},
		"left out": {
			mood: `[{"id":"Shy","label":"S"},{"id":"-a","label":"S"},{"id":"","label":"S"},{"id":"a b","label":"S"},{"id":"moods","label":"S"},
				{"id":"speaking_plan","label":"S"},{"id":"` + strings.Repeat("a", 65) + `","label":"S"},{"id":"x","label":" \t"},{"id":"y"},{"id":7,"label":"S"},
				null,3,"x",[],{"id":"off","label":"S","enabled":false},{"id":"off","label":"second"},{"id":"zero","label":"S","enabled":0},
				{"id":"a","label":"First"},{"id":"a","label":"Second"},{"id":"` + strings.Repeat("b", 64) + `","label":"B"}]`,
			interactive: `{"id":"a","label":"no list"}`,
			moods:       []scene.Mood{{ID: "a", Label: "First", Enabled: true}, {ID: strings.Repeat("b", 64), Label: "B", Enabled: true}},
		},
		"no lists": {mood: `null`, interactive: `"x"`},
	} {
		t.Run(name, func(t *testing.T) {
			card := withFragments(name, tc.mood, tc.interactive)
			card.ID = strings.ReplaceAll(name, " ", "-")
			addCard(t, s, card)
			c := must(s.CreateConversation(ctx, scene.NewConversation{CardID: &card.ID}))
			got := must(s.Snapshot(ctx, c.ID))
			if diff := cmp.Diff(tc.moods, got.Moods); diff != "" {
				t.Errorf("moods (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tc.fragments, got.Fragments); diff != "" {
				t.Errorf("fragments (-want +got)\n%s", diff)
			}
		})
	}
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf(`{"id":"f%d","label":"F"}`, i))
	}
	list := "[" + strings.Join(many, ",") + "]"
	card := withFragments("many", list, list)
	addCard(t, s, card)
	for _, ext := range []string{`{"orb":[]}`, `{"orb":{"fragments":7}}`, `[]`, `{`, ``} {
		card := scene.Card{Name: "ext " + ext, Extensions: json.RawMessage(ext)}
		addCard(t, s, card)
		c := must(s.CreateConversation(ctx, scene.NewConversation{CardID: &card.Name}))
		if got := must(s.Snapshot(ctx, c.ID)); len(got.Moods) != 0 || len(got.Fragments) != 0 {
			t.Errorf("%q: %+v", ext, got)
		}
	}
	c := must(s.CreateConversation(ctx, scene.NewConversation{CardID: &card.Name}))
	got := must(s.Snapshot(ctx, c.ID))
	if len(got.Moods) != 50 || len(got.Fragments) != 50 || got.Moods[49].ID != "f49" {
		t.Errorf("%d moods and %d fragments", len(got.Moods), len(got.Fragments))
	}
}
