package scene_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func TestSpeakerKeys(t *testing.T) {
	s := newService(t)
	long := strings.Repeat("abc ", 12)
	cases := []struct{ asked, name, want string }{
		{"", "Jean-Luc Picard", "jean-luc-picard"},
		{"", "Jean-Luc  PICARD!", "jean-luc-picard-2"},
		{"", "jean luc picard", "jean-luc-picard-3"},
		{"Cap'n", "Somebody", "cap-n"},
		{"", "助手", "speaker"},
		{"", "🦊", "speaker-2"},
		{"--", "Straße", "speaker-3"},
		{"", "Straße", "strasse"},
		{"", "Zoë", "zo"},
		{"", "K\u212Aſ", "kks"},
		{"", long, "abc-abc-abc-abc-abc-abc"},
		{"", long + "x", "abc-abc-abc-abc-abc-ab-2"},
		{"", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwx"},
		{"", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuv-2"},
		{" ", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuv-3"},
	}
	var cast []scene.MemberSpec
	for _, c := range cases {
		cast = append(cast, scene.MemberSpec{Key: c.asked, Name: c.name})
	}
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{Kind: scene.Group, Members: cast})
	ok(t, c, err)
	for i, m := range roster(t, s, c.ID, false) {
		if m.Key != cases[i].want {
			t.Errorf("%q, %q: got %q, want %q", cases[i].asked, cases[i].name, m.Key, cases[i].want)
		}
	}
}

// TestManyOfOneName: keys are numbered without trying all the numbers again.
func TestManyOfOneName(t *testing.T) {
	s := newService(t)
	cast := make([]scene.MemberSpec, 10_000) // the cube of which is some minutes
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{Kind: scene.Group, Members: cast})
	ok(t, c, err)
	if last := roster(t, s, c.ID, false)[len(cast)-1]; last.Key != "narrator-10000" {
		t.Errorf("the last key is %q", last.Key)
	}
}

func TestSpeakerKeysAreShortHandles(t *testing.T) {
	s := newService(t)
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("abAB09-_ éß助\n")), 0, 40, -1), 1, 12).Draw(rt, "names")
		var cast []scene.MemberSpec
		for _, name := range names {
			cast = append(cast, scene.MemberSpec{Name: name})
		}
		c, err := s.CreateConversation(context.Background(), scene.NewConversation{Kind: scene.Group, Members: cast})
		ok(rt, c, err)
		seen := map[string]bool{}
		for _, m := range roster(rt, s, c.ID, true) {
			if seen[m.Key] || m.Key == "" || len(m.Key) > 24 || strings.Trim(m.Key, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
				strings.HasPrefix(m.Key, "-") || strings.HasSuffix(m.Key, "-") {
				rt.Fatalf("key %q of %q", m.Key, m.Name)
			}
			seen[m.Key] = true
		}
	})
}

func TestRosterIsReplaced(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna"})
	addCard(t, s, scene.Card{Name: "Ben"})
	model := addModel(t, s)
	c, err := s.CreateConversation(ctx, scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{
		{CardID: ptr("Anna"), Sheet: ptr("sheet"), PublicProfile: ptr("profile"), Model: scene.To(&model)},
		{CardID: ptr("Ben")},
		{Name: "Cleo"},
	}})
	ok(t, c, err)
	old := roster(t, s, c.ID, false)
	parts := specs(old...)
	anna, ben, cleo := parts[0], parts[1], parts[2]

	// Order, names, kinds and overrides are written; the key and, unless it is
	// named, the model stay.
	anna.Sheet, anna.PublicProfile, anna.Name, anna.Key, anna.Muted = nil, ptr(""), "Ann", "other", true
	cleo.Kind = scene.Narrator
	got, revision, err := s.SetMembers(ctx, c.ID, []scene.MemberSpec{cleo, anna}, ptr(int64(1)))
	ok(t, got, err)
	want := []scene.Member{old[2], old[0], old[1]}
	want[0].Kind, want[0].Order = scene.Narrator, 0
	want[1].Sheet, want[1].PublicProfile, want[1].Name, want[1].Muted, want[1].Order = nil, ptr(""), "Ann", true, 1
	want[2].Active = false
	if diff := cmp.Diff(want[:2], got); diff != "" || revision != 2 {
		t.Error(revision, diff)
	}
	all := map[string]scene.Member{}
	for _, m := range roster(t, s, c.ID, true) {
		all[m.ID] = m
	}
	for _, w := range want {
		if diff := cmp.Diff(w, all[w.ID]); diff != "" {
			t.Error(diff)
		}
	}
	if now := conversation(t, s, c.ID); now.RosterRevision != 2 || now.Revision != 1 || !now.UpdatedAt.After(c.UpdatedAt) {
		t.Errorf("%+v", now)
	}

	// A tombstone is not woken: the same card and even the same id are somebody
	// new, with a key of its own.
	got, _, err = s.SetMembers(ctx, c.ID, []scene.MemberSpec{anna, ben}, nil)
	ok(t, got, err)
	if got[1].ID == old[1].ID || got[1].Key != "ben-2" || *got[1].CardID != "Ben" {
		t.Errorf("%+v", got[1])
	}
	if n := len(roster(t, s, c.ID, true)); n != 4 {
		t.Errorf("%d rows", n)
	}

	// One of a standing endpoint is named by the endpoint and its own name.
	s.Standing = []scene.Endpoint{{ID: "config:local", Source: scene.SourceConfig}}
	standing := anna
	for _, model := range []string{"config:local", "config:local/", "config:local/ ", "config:other/big", "local/big"} {
		standing.Model = scene.To(&model)
		_, _, err = s.SetMembers(ctx, c.ID, []scene.MemberSpec{standing}, nil)
		refuse(t, err, fault.NotFound)
	}
	standing.Model = scene.To(ptr("config:local/some/big"))
	got, _, err = s.SetMembers(ctx, c.ID, []scene.MemberSpec{standing}, nil)
	if ok(t, got, err); *got[0].Model != "config:local/some/big" {
		t.Errorf("the model is %q", *got[0].Model)
	}

	// A model that is unknown is refused, but for the member that had it.
	unknown := anna
	unknown.Model = scene.To(ptr("m"))
	_, _, err = s.SetMembers(ctx, c.ID, []scene.MemberSpec{unknown}, nil)
	refuse(t, err, fault.NotFound)
	vanished := got[0]
	vanished.Model = ptr("m")
	change(t, s, func(tx scene.Tx) error { return tx.Members.Save(vanished) })
	got, _, err = s.SetMembers(ctx, c.ID, []scene.MemberSpec{unknown}, nil)
	if ok(t, got, err); *got[0].Model != "m" {
		t.Errorf("the model is %q", *got[0].Model)
	}

	anna.Model = scene.To[*string](nil)
	got, _, err = s.SetMembers(ctx, c.ID, []scene.MemberSpec{anna}, nil)
	if ok(t, got, err); got[0].Model != nil {
		t.Errorf("the model is still %q", *got[0].Model)
	}
}

func TestMembersSwapCards(t *testing.T) {
	s := newService(t)
	addCard(t, s, scene.Card{Name: "Anna"})
	addCard(t, s, scene.Card{Name: "Ben"})
	c, err := s.CreateConversation(context.Background(), scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{
		{CardID: ptr("Anna")}, {CardID: ptr("Ben")},
	}})
	ok(t, c, err)
	swap := specs(roster(t, s, c.ID, false)...)
	swap[0].CardID, swap[1].CardID = swap[1].CardID, swap[0].CardID
	swap[0].Name = ""
	got, _, err := s.SetMembers(context.Background(), c.ID, swap, nil)
	ok(t, got, err)
	if got[0].ID != swap[0].ID || *got[0].CardID != "Ben" || got[0].Name != "Ben" || got[1].ID != swap[1].ID || *got[1].CardID != "Anna" {
		t.Errorf("%+v", got)
	}
}

func TestCardThatIsGone(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna"})
	c, err := s.CreateConversation(ctx, scene.NewConversation{Kind: scene.Group, Members: []scene.MemberSpec{{CardID: ptr("Anna"), Name: "Annie"}, {Name: "Ben"}}})
	ok(t, c, err)
	change(t, s, func(tx scene.Tx) error { return tx.Cards.Delete("Anna") })
	keep := specs(roster(t, s, c.ID, false)...)
	keep[0].Name = ""
	got, _, err := s.SetMembers(ctx, c.ID, keep, nil)
	ok(t, got, err)
	if *got[0].CardID != "Anna" || got[0].Name != "Annie" {
		t.Errorf("%+v", got[0])
	}
	keep[1].CardID, keep[0].CardID = ptr("Anna"), nil
	_, _, err = s.SetMembers(ctx, c.ID, keep, nil)
	refuse(t, err, fault.NotFound)
}

func TestRosterIsRefusedWhole(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna"})
	c, members := addGroup(t, s, "Ben", "Cleo")
	stranger, others := addGroup(t, s, "Dora")
	ben, cleo := specs(members...)[0], specs(members...)[1]
	before := roster(t, s, c.ID, true)
	anna := scene.MemberSpec{CardID: ptr("Anna")}
	for name, specs := range map[string][]scene.MemberSpec{
		"empty":          {},
		"a card twice":   {ben, anna, anna},
		"a member twice": {ben, cleo, ben},
		"unknown kind":   {cleo, {Name: "x", Kind: "ghost"}},
		"too many":       make([]scene.MemberSpec, 10_001),
	} {
		_, _, err := s.SetMembers(ctx, c.ID, specs, nil)
		t.Log(name)
		refuse(t, err, fault.Invalid)
	}
	_, _, err := s.SetMembers(ctx, c.ID, []scene.MemberSpec{{CardID: ptr("nobody")}}, nil)
	refuse(t, err, fault.NotFound)
	for _, revision := range []int64{0, 2} {
		_, _, err := s.SetMembers(ctx, c.ID, []scene.MemberSpec{ben}, &revision)
		refuse(t, err, fault.Conflict)
	}
	solo, err := s.CreateConversation(ctx, scene.NewConversation{})
	ok(t, solo, err)
	_, _, err = s.SetMembers(ctx, solo.ID, []scene.MemberSpec{ben}, nil)
	refuse(t, err, fault.Conflict)
	_, _, err = s.Members(ctx, solo.ID, false)
	refuse(t, err, fault.Conflict)
	if diff := cmp.Diff(before, roster(t, s, c.ID, true)); diff != "" {
		t.Error(diff)
	}

	// The id of another conversation's member names nobody here.
	got, _, err := s.SetMembers(ctx, c.ID, []scene.MemberSpec{{ID: others[0].ID, Name: "Dora"}}, nil)
	if ok(t, got, err); got[0].ID == others[0].ID {
		t.Error("took over somebody else's member")
	}
	if diff := cmp.Diff(others, roster(t, s, stranger.ID, true)); diff != "" {
		t.Error(diff)
	}
}

// TestRosterFailsHalfWay lets each write of a PUT fail in turn.
func TestRosterFailsHalfWay(t *testing.T) {
	store := newStore(t)
	s := serviceOn(store)
	ctx := context.Background()
	c, members := addGroup(t, s, "Anna", "Ben", "Cleo")
	p, err := s.Propose(ctx, c.ID, scene.NewProposal{MemberID: members[0].ID, Sheet: "new"})
	ok(t, p, err)
	before, list := roster(t, s, c.ID, true), conversation(t, s, c.ID)
	next := append(specs(members[2], members[1]), scene.MemberSpec{Name: "Dora"})
	for after := 0; ; after++ {
		if after > 20 {
			t.Fatal("it never succeeds")
		}
		left := after
		_, _, err := serviceOn(brittle{store, &left}).SetMembers(ctx, c.ID, next, nil)
		if err == nil {
			if after < 8 {
				t.Errorf("only %d writes were seen to fail", after)
			}
			break
		}
		if !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, roster(t, s, c.ID, true)); diff != "" {
			t.Fatalf("write %d failed and left %s", after, diff)
		}
		if diff := cmp.Diff(list, conversation(t, s, c.ID)); diff != "" {
			t.Fatalf("write %d failed and left %s", after, diff)
		}
		open, err := s.Proposals(ctx, c.ID, "")
		if diff := cmp.Diff([]scene.Proposal{p}, ok(t, open, err)); diff != "" {
			t.Fatalf("write %d failed and left %s", after, diff)
		}
	}
	if got := roster(t, s, c.ID, false); len(got) != 3 || got[0].ID != members[2].ID || got[2].Name != "Dora" {
		t.Errorf("%+v", got)
	}
}

var errBroken = errors.New("the store broke")

// brittle is a store whose writes fail once left is used up.
type brittle struct {
	scene.Store
	left *int
}

func (b brittle) Update(ctx context.Context, fn func(scene.Tx) error) error {
	return b.Store.Update(ctx, func(tx scene.Tx) error {
		tx.Members = brittleMembers{tx.Members, b}
		tx.Conversations = brittleConversations{tx.Conversations, b}
		tx.Proposals = brittleProposals{tx.Proposals, b}
		return fn(tx)
	})
}

// write does, or breaks.
func (b brittle) write(do func() error) error {
	if *b.left == 0 {
		return errBroken
	}
	*b.left--
	return do()
}

type brittleMembers struct {
	scene.Members
	b brittle
}

func (m brittleMembers) Insert(row scene.Member) error {
	return m.b.write(func() error { return m.Members.Insert(row) })
}

func (m brittleMembers) Save(row scene.Member) error {
	return m.b.write(func() error { return m.Members.Save(row) })
}

type brittleConversations struct {
	scene.Conversations
	b brittle
}

func (c brittleConversations) Save(row scene.Conversation) error {
	return c.b.write(func() error { return c.Conversations.Save(row) })
}

type brittleProposals struct {
	scene.Proposals
	b brittle
}

func (p brittleProposals) Save(row scene.Proposal) error {
	return p.b.write(func() error { return p.Proposals.Save(row) })
}
