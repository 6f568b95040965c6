package scene_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func TestSoloTakesWhatItsCardSays(t *testing.T) {
	s := newService(t)
	addCard(t, s, scene.Card{
		Name: "Anna", Scenario: "A pier.", FirstMessage: "Hello, {{user}}.", PostHistory: "Be brief.",
		Greetings: []string{" \n", "Good {{random::morning}}.", "{{// only a note}}"},
	})
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{
		Title: "New Conversation", CardID: ptr("Anna"), CharacterName: "ignored", Scenario: "ignored", FirstMessage: "ignored",
	})
	ok(t, c, err)
	want := scene.Conversation{
		ID: c.ID, Kind: scene.Solo, Title: "Anna", CardID: ptr("Anna"), CharacterName: "Anna", Scenario: "A pier.", PostHistory: "Be brief.",
		TurnMode: scene.Director, MaxSpeakers: 3, ContextMode: scene.Private, CutImpersonation: true,
		ActiveLeaf: c.ActiveLeaf, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt, AccessedAt: c.CreatedAt, Revision: 1, RosterRevision: 1,
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(c, conversation(t, s, c.ID)); diff != "" {
		t.Error("what is stored differs:", diff)
	}
	path, err := s.Messages(context.Background(), c.ID, nil, 0)
	ok(t, path, err)
	if len(path) != 1 || path[0].Content != "Hello, {{user}}." || path[0].Role != scene.RoleAssistant || path[0].TurnIndex != 0 ||
		path[0].ExchangeID != nil || path[0].Branches != 2 || path[0].Branch != 0 {
		t.Errorf("greeting: %+v", path)
	}
	path, err = s.SwitchBranch(context.Background(), c.ID, *path[0].NextBranch)
	if got := texts(ok(t, path, err)); !cmp.Equal(got, []string{"Good morning."}) {
		t.Errorf("alternate greeting: %q", got)
	}
}

func TestSoloWithoutCard(t *testing.T) {
	s := newService(t)
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{
		CardID: ptr(""), CharacterName: "Ben", Scenario: "A pier.", PostHistory: "Be brief.", FirstMessage: "Hm.",
	})
	ok(t, c, err)
	if c.Title != "New Conversation" || c.CharacterName != "Ben" || c.Scenario != "A pier." || c.PostHistory != "Be brief." || c.CardID != nil {
		t.Errorf("%+v", c)
	}
	if got := shown(t, s, c.ID); !cmp.Equal(got, []string{"Hm."}) {
		t.Errorf("%q", got)
	}
}

func TestGreetingIsRolledOnce(t *testing.T) {
	s := newService(t)
	addCard(t, s, scene.Card{Name: "Anna", FirstMessage: "{{roll::1d1000000}}"})
	rolls := map[string]bool{}
	for range 3 {
		c, err := s.CreateConversation(context.Background(), scene.NewConversation{CardID: ptr("Anna")})
		ok(t, c, err)
		first := shown(t, s, c.ID)
		if strings.Contains(first[0], "{") {
			t.Errorf("not rolled: %q", first)
		}
		if again := shown(t, s, c.ID); !cmp.Equal(first, again) {
			t.Errorf("rolled again: %q, then %q", first, again)
		}
		rolls[first[0]] = true
	}
	if len(rolls) < 2 {
		t.Error("every conversation has the same roll")
	}
}

func TestCreateGroup(t *testing.T) {
	s := newService(t)
	addCard(t, s, scene.Card{ID: "c1", Name: "Jean-Luc Picard"})
	model := addModel(t, s)
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{
		Kind: scene.Group, Title: "Bridge", CardID: ptr("c1"), CharacterName: "ignored", Scenario: "Red alert.",
		TurnMode: scene.RoundRobin, MaxSpeakers: 8, ContextMode: scene.Swap,
		Members: []scene.MemberSpec{
			{CardID: ptr("c1"), Sheet: ptr("")},
			{Name: "Guard", Muted: true, Model: scene.To(&model)},
			{Name: "Guard", PublicProfile: ptr("A guard.")},
			{Kind: scene.Narrator, Name: " "},
			{Name: "X", Key: "Chosen Key!"},
		},
		FirstMessage: "Make it {{random::so}}.", OpeningKey: "jean-luc-picard",
	})
	ok(t, c, err)
	if c.CardID != nil || c.CharacterName != "Bridge" || c.RootID != nil || c.Scenario != "Red alert." ||
		c.TurnMode != scene.RoundRobin || c.MaxSpeakers != 8 || c.ContextMode != scene.Swap {
		t.Errorf("%+v", c)
	}
	got := roster(t, s, c.ID, true)
	ids := map[string]bool{}
	for i := range got {
		ids[got[i].ID] = true
		got[i].ID = ""
	}
	want := []scene.Member{
		{Key: "jean-luc-picard", CardID: ptr("c1"), Name: "Jean-Luc Picard", Sheet: ptr(""), Kind: scene.Character, Order: 0},
		{Key: "guard", Name: "Guard", Kind: scene.Character, Order: 1, Muted: true, Model: &model},
		{Key: "guard-2", Name: "Guard", PublicProfile: ptr("A guard."), Kind: scene.Character, Order: 2},
		{Key: "narrator", Name: "Narrator", Kind: scene.Narrator, Order: 3},
		{Key: "chosen-key", Name: "X", Kind: scene.Character, Order: 4},
	}
	for i := range want {
		want[i].ConversationID, want[i].Active = c.ID, true
	}
	if diff := cmp.Diff(want, got); diff != "" || len(ids) != 5 {
		t.Error(len(ids), diff)
	}
	path, err := s.Messages(context.Background(), c.ID, nil, 0)
	ok(t, path, err)
	if len(path) != 1 || path[0].Content != "Make it so." || path[0].TurnIndex != 0 || path[0].ExchangeID == nil ||
		path[0].SpeakerID == nil || *path[0].SpeakerID != roster(t, s, c.ID, true)[0].ID {
		t.Errorf("%+v", path)
	}
}

func TestCreateIsRefusedWhole(t *testing.T) {
	s := newService(t)
	addCard(t, s, scene.Card{Name: "Anna"})
	anna := scene.MemberSpec{CardID: ptr("Anna")}
	cases := map[string]struct {
		n    scene.NewConversation
		code fault.Code
	}{
		"solo with an unknown card":   {scene.NewConversation{CardID: ptr("nobody")}, fault.NotFound},
		"unknown kind":                {scene.NewConversation{Kind: "crowd"}, fault.Invalid},
		"unknown turn mode":           {scene.NewConversation{TurnMode: "chaos"}, fault.Invalid},
		"unknown context":             {scene.NewConversation{ContextMode: "open"}, fault.Invalid},
		"too many speakers":           {scene.NewConversation{MaxSpeakers: 9}, fault.Invalid},
		"less than one speaker":       {scene.NewConversation{MaxSpeakers: -1}, fault.Invalid},
		"no members":                  {scene.NewConversation{Kind: scene.Group}, fault.Invalid},
		"unknown card":                {scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{anna, {CardID: ptr("nobody")}}}, fault.NotFound},
		"a card twice":                {scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{anna, anna}}, fault.Invalid},
		"unknown member kind":         {scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{{Kind: "ghost"}}}, fault.Invalid},
		"a greeting without speaker":  {scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{anna}, FirstMessage: "Hi."}, fault.Invalid},
		"a greeting by somebody else": {scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{anna}, FirstMessage: "Hi.", OpeningKey: "ben"}, fault.Invalid},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := s.CreateConversation(context.Background(), c.n)
			refuse(t, err, c.code)
			all, err := s.Conversations(context.Background())
			if ok(t, all, err); len(all) != 0 {
				t.Errorf("something was stored: %+v", all)
			}
		})
	}
}

func TestTextsComeBackAsTheyWere(t *testing.T) {
	s := newService(t)
	odd := "</script> ../..\\x \x1b]52;c;x\x07 ' OR 1=1 -- \u202e 助手 🦊 \r\n\t{{unknown}} {{user}}"
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{
		Kind: scene.Group, Title: odd, Scenario: odd, PostHistory: odd, FirstMessage: odd, OpeningKey: "x",
		Members: []scene.MemberSpec{{Key: "x", Name: odd, PublicProfile: &odd, Sheet: &odd}},
	})
	ok(t, c, err)
	m := roster(t, s, c.ID, false)[0]
	for _, got := range []string{c.Title, c.Scenario, c.PostHistory, m.Name, *m.PublicProfile, *m.Sheet, shown(t, s, c.ID)[0]} {
		if got != odd {
			t.Errorf("got %q, want %q", got, odd)
		}
	}
}
