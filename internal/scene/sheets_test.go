package scene_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func TestSheetsAndProfiles(t *testing.T) {
	card := func(description, personality, extensions string) *scene.Card {
		return &scene.Card{Description: description, Personality: personality, Extensions: json.RawMessage(extensions)}
	}
	both := `{"vendor":1,"orb":{"public_profile":{"appearance":" tall ","role":"cook"}}}`
	for name, tc := range map[string]struct {
		m              scene.Member
		card           *scene.Card
		sheet, profile string
	}{
		"both":           {scene.Member{}, card(" A cook.\n", " calm ", both), "A cook.\n\nPersonality: calm", "Appearance: tall\nRole: cook"},
		"no description": {scene.Member{}, card(" ", "calm", `{"orb":{"public_profile":{"role":"cook"}}}`), "Personality: calm", "Role: cook"},
		"no personality": {scene.Member{}, card("A cook.", "", `{"orb":{"public_profile":{"appearance":"tall","role":7}}}`), "A cook.", "Appearance: tall"},
		"nothing":        {scene.Member{}, card("", "", ""), "", ""},
		"odd extensions": {scene.Member{}, card("A cook.", "", `{"orb":[]}`), "A cook.", ""},
		"override":       {scene.Member{Sheet: ptr(" s "), PublicProfile: ptr("p")}, card("A cook.", "calm", both), " s ", "p"},
		"blank override": {scene.Member{Sheet: ptr(""), PublicProfile: ptr("")}, card("A cook.", "calm", both), "", ""},
		"no card":        {scene.Member{}, nil, "", ""},
		"override alone": {scene.Member{Sheet: ptr("s"), PublicProfile: ptr("p")}, nil, "s", "p"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := scene.PrivateSheet(tc.m, tc.card); got != tc.sheet {
				t.Errorf("sheet %q, want %q", got, tc.sheet)
			}
			if got := scene.PublicProfile(tc.m, tc.card); got != tc.profile {
				t.Errorf("profile %q, want %q", got, tc.profile)
			}
		})
	}
}

// castWithCard is a group of a member with a card and one without.
func castWithCard(t failing, s *scene.Service) (scene.Conversation, []scene.Member, scene.Card) {
	t.Helper()
	card := addCard(t, s, scene.Card{Name: "Anna", Description: "A cook."})
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{
		Kind: scene.Group, Members: []scene.MemberSpec{{CardID: ptr("Anna")}, {Name: "Ben", Sheet: ptr("A guard.")}},
	})
	ok(t, c, err)
	return c, roster(t, s, c.ID, false), card
}

func propose(t failing, s *scene.Service, id, member, sheet string) scene.Proposal {
	t.Helper()
	p, err := s.Propose(context.Background(), id, scene.NewProposal{MemberID: member, ExchangeID: "x-" + sheet, Sheet: sheet, Summary: "to " + sheet})
	return ok(t, p, err)
}

// states tells the state of every proposal, newest first.
func states(t failing, s *scene.Service, id string) []scene.ProposalStatus {
	t.Helper()
	list, err := s.Proposals(context.Background(), id, "all")
	var out []scene.ProposalStatus
	for _, p := range ok(t, list, err) {
		out = append(out, p.Status)
	}
	return out
}

func TestProposeRewritesThePendingOne(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, m, _ := castWithCard(t, s)
	first := propose(t, s, c.ID, m[0].ID, "one")
	want := scene.Proposal{
		ID: first.ID, ConversationID: c.ID, MemberID: m[0].ID, ExchangeID: "x-one", Base: "A cook.", Sheet: "one", Summary: "to one",
		Status: scene.Pending, CreatedAt: first.CreatedAt,
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	other := propose(t, s, c.ID, m[1].ID, "other")
	second, err := s.Propose(ctx, c.ID, scene.NewProposal{MemberID: m[0].ID, ExchangeID: "x2", Base: ptr("An old cook."), Sheet: "two"})
	ok(t, second, err)
	if second.ID != first.ID || !second.CreatedAt.After(first.CreatedAt) {
		t.Errorf("%+v", second)
	}
	want.ExchangeID, want.Base, want.Sheet, want.Summary, want.CreatedAt = "x2", "An old cook.", "two", "", second.CreatedAt
	list, err := s.Proposals(ctx, c.ID, "")
	if diff := cmp.Diff([]scene.Proposal{want, other}, ok(t, list, err)); diff != "" {
		t.Error(diff)
	}
	if got := states(t, s, c.ID); !cmp.Equal(got, []scene.ProposalStatus{scene.Pending, scene.Pending}) {
		t.Errorf("%q", got)
	}

	// What was decided is history; the next one is a row of its own.
	_, err = s.RejectProposal(ctx, c.ID, first.ID)
	ok(t, 0, err)
	if third := propose(t, s, c.ID, m[0].ID, "three"); third.ID == first.ID {
		t.Error("a rejected proposal was rewritten")
	}
}

func TestProposeIsRefused(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, m, _ := castWithCard(t, s)
	_, strangers := addGroup(t, s, "Cleo")
	solo, err := s.CreateConversation(ctx, scene.NewConversation{})
	ok(t, solo, err)
	_, _, err = s.SetMembers(ctx, c.ID, specs(m[0]), nil)
	ok(t, 0, err)
	for _, tc := range []struct {
		id, member, sheet string
		code              fault.Code
	}{
		{c.ID, m[0].ID, " ", fault.Invalid},
		{c.ID, m[1].ID, "x", fault.Conflict},
		{c.ID, "nobody", "x", fault.NotFound},
		{c.ID, strangers[0].ID, "x", fault.NotFound},
		{solo.ID, m[0].ID, "x", fault.Conflict},
	} {
		_, err := s.Propose(ctx, tc.id, scene.NewProposal{MemberID: tc.member, Sheet: tc.sheet})
		refuse(t, err, tc.code)
	}
}

func TestApply(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, m, card := castWithCard(t, s)
	p := propose(t, s, c.ID, m[0].ID, "A baker.")
	got, err := s.ApplyProposal(ctx, c.ID, p.ID)
	ok(t, got, err)
	want := p
	want.Status, want.DecidedAt = scene.Applied, got.DecidedAt
	if diff := cmp.Diff(want, got); diff != "" || got.DecidedAt == nil {
		t.Error(diff)
	}
	after := m[0]
	after.Sheet = ptr("A baker.")
	if diff := cmp.Diff([]scene.Member{after, m[1]}, roster(t, s, c.ID, true)); diff != "" {
		t.Error(diff)
	}
	now := conversation(t, s, c.ID)
	if now.RosterRevision != 2 || now.Revision != 1 || !now.UpdatedAt.After(c.UpdatedAt) {
		t.Errorf("%+v", now)
	}
	change(t, s, func(tx scene.Tx) error {
		stored, err := tx.Cards.Get(card.ID)
		if stored.Description != "A cook." {
			t.Error("the card was changed")
		}
		return err
	})
	_, err = s.ApplyProposal(ctx, c.ID, p.ID)
	refuse(t, err, fault.Conflict)
	_, err = s.RejectProposal(ctx, c.ID, p.ID)
	refuse(t, err, fault.Conflict)
}

func TestOutdatedProposalsBecomeStale(t *testing.T) {
	ctx := context.Background()
	for name, outdate := range map[string]func(*testing.T, *scene.Service, scene.Conversation, []scene.Member){
		"edited by hand": func(t *testing.T, s *scene.Service, c scene.Conversation, m []scene.Member) {
			next := specs(m...)
			next[0].Sheet = ptr("By hand.")
			_, _, err := s.SetMembers(ctx, c.ID, next, nil)
			ok(t, 0, err)
		},
		"card edited": func(t *testing.T, s *scene.Service, _ scene.Conversation, _ []scene.Member) {
			change(t, s, func(tx scene.Tx) error {
				card, err := tx.Cards.Get("Anna")
				card.Personality = "calm"
				if err != nil {
					return err
				}
				return tx.Cards.Save(card)
			})
		},
		"card gone": func(t *testing.T, s *scene.Service, _ scene.Conversation, _ []scene.Member) {
			change(t, s, func(tx scene.Tx) error { return tx.Cards.Delete("Anna") })
		},
		"member left": func(t *testing.T, s *scene.Service, _ scene.Conversation, m []scene.Member) {
			change(t, s, func(tx scene.Tx) error { m[0].Active = false; return tx.Members.Save(m[0]) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			c, m, _ := castWithCard(t, s)
			p := propose(t, s, c.ID, m[0].ID, "A baker.")
			outdate(t, s, c, m)
			before := roster(t, s, c.ID, true)
			revision := conversation(t, s, c.ID).RosterRevision
			_, err := s.ApplyProposal(ctx, c.ID, p.ID)
			refuse(t, err, fault.Conflict)
			if diff := cmp.Diff(before, roster(t, s, c.ID, true)); diff != "" || conversation(t, s, c.ID).RosterRevision != revision {
				t.Error("the roster changed:", diff)
			}
			list, err := s.Proposals(ctx, c.ID, "review")
			ok(t, list, err)
			want := p
			want.Status = scene.Stale
			if diff := cmp.Diff([]scene.Proposal{want}, list); diff != "" {
				t.Error(diff)
			}
			_, err = s.ApplyProposal(ctx, c.ID, p.ID)
			refuse(t, err, fault.Conflict)
			got, err := s.RejectProposal(ctx, c.ID, p.ID)
			if ok(t, got, err); got.Status != scene.Rejected || got.DecidedAt == nil {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestReject(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, m, _ := castWithCard(t, s)
	other, _ := addGroup(t, s, "Cleo")
	p := propose(t, s, c.ID, m[0].ID, "A baker.")
	for _, id := range []int64{p.ID, 99} {
		_, err := s.RejectProposal(ctx, other.ID, id)
		refuse(t, err, fault.NotFound)
		_, err = s.ApplyProposal(ctx, other.ID, id)
		refuse(t, err, fault.NotFound)
	}
	got, err := s.RejectProposal(ctx, c.ID, p.ID)
	if ok(t, got, err); got.Status != scene.Rejected || got.DecidedAt == nil {
		t.Errorf("%+v", got)
	}
	_, err = s.ApplyProposal(ctx, c.ID, p.ID)
	refuse(t, err, fault.Conflict)
	if diff := cmp.Diff(m, roster(t, s, c.ID, true)); diff != "" {
		t.Error(diff)
	}
	_, err = s.Proposals(ctx, c.ID, "open")
	refuse(t, err, fault.Invalid)
}

func TestLeavingRejectsOpenProposals(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, m, _ := castWithCard(t, s)
	stale := propose(t, s, c.ID, m[0].ID, "one")
	next := specs(m...)
	next[0].Sheet = ptr("By hand.")
	_, _, err := s.SetMembers(ctx, c.ID, next, nil)
	ok(t, 0, err)
	_, err = s.ApplyProposal(ctx, c.ID, stale.ID)
	refuse(t, err, fault.Conflict)
	propose(t, s, c.ID, m[0].ID, "two")
	propose(t, s, c.ID, m[1].ID, "three")
	if got := states(t, s, c.ID); !cmp.Equal(got, []scene.ProposalStatus{scene.Pending, scene.Pending, scene.Stale}) {
		t.Errorf("%q", got)
	}
	_, _, err = s.SetMembers(ctx, c.ID, next[1:], nil)
	ok(t, 0, err)
	if got := states(t, s, c.ID); !cmp.Equal(got, []scene.ProposalStatus{scene.Pending, scene.Rejected, scene.Rejected}) {
		t.Errorf("%q", got)
	}
}

// TestApplyRacesAnEdit has a proposal applied while somebody saves the roster
// that shows the old sheet. One of the two wins each time.
func TestApplyRacesAnEdit(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, m, _ := castWithCard(t, s)
	wins := map[string]int{}
	tries := 1000
	if raced {
		tries = 100
	}
	for n := range tries {
		byHand, proposed := fmt.Sprint("By hand ", n), fmt.Sprint("Proposed ", n)
		p := propose(t, s, c.ID, m[0].ID, proposed)
		revision := conversation(t, s, c.ID).RosterRevision
		hand := specs(m...)
		hand[0].Sheet = &byHand
		var applied, edited error
		var both sync.WaitGroup
		racers := []func(){
			func() { _, applied = s.ApplyProposal(ctx, c.ID, p.ID) },
			func() { _, _, edited = s.SetMembers(ctx, c.ID, hand, &revision) },
		}
		both.Go(racers[n%2]) // who is started first loses more often
		both.Go(racers[1-n%2])
		both.Wait()
		got, now, err := s.Members(ctx, c.ID, false)
		sheet := *ok(t, got, err)[0].Sheet
		switch {
		case applied == nil && edited != nil:
			wins["apply"]++
			refuse(t, edited, fault.Conflict)
			if sheet != proposed {
				t.Fatalf("the sheet is %q", sheet)
			}
		case edited == nil && applied != nil:
			wins["edit"]++
			refuse(t, applied, fault.Conflict)
			if sheet != byHand {
				t.Fatalf("the sheet is %q", sheet)
			}
		default:
			t.Fatalf("apply: %v, edit: %v", applied, edited)
		}
		if now != revision+1 {
			t.Fatalf("revision %d after %d", now, revision)
		}
	}
	t.Log(wins)
}
