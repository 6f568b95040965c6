package scene_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// machine is the state machine: all it knows is in the store.
type machine struct {
	s *scene.Service
}

// TestScenesStayWhole does what people do to conversations in any order and
// looks after each step whether all that must always hold does.
func TestScenesStayWhole(t *testing.T) {
	fewRuns(t)
	s := newService(t)
	for _, name := range []string{"Anna", "Ben", "Cleo"} {
		addCard(t, s, scene.Card{Name: name, Description: name + " is somebody.", FirstMessage: "Hello."})
	}
	rapid.Check(t, func(rt *rapid.T) {
		m := machine{s}
		for id := range roots(rt, s) { // of the run before
			if err := s.DeleteConversation(context.Background(), id); err != nil {
				rt.Fatalf("%v", err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create":  m.create,
			"solo":    m.solo,
			"convert": m.convert,
			"fork":    m.fork,
			"delete":  m.delete,
			"group":   m.deleteGroup,
			"cast":    m.recast,
			"say":     m.say,
			"switch":  m.change((*scene.Service).SwitchBranch),
			"erase":   m.change((*scene.Service).DeleteMessage),
			"propose": m.propose,
			"decide":  m.decide,
			"":        m.check,
		})
	})
}

// fewRuns makes rapid do a fifth of the runs that it does by itself, and fewer
// where the race detector watches: each is dozens of transactions with a look
// at everything after each. More can be asked for as ever, by -rapid.checks.
func fewRuns(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() != checks.DefValue {
		return
	}
	runs := "20"
	if raced {
		runs = "4"
	}
	if err := checks.Value.Set(runs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
}

// any draws a conversation; groups only if told so.
func (m machine) any(t *rapid.T, groups bool) scene.Conversation {
	var from []scene.Conversation
	for _, c := range everything(t, m.s) {
		if !groups || c.Kind == scene.Group {
			from = append(from, c)
		}
	}
	if len(from) == 0 {
		t.Skip("there is none")
	}
	return rapid.SampledFrom(from).Draw(t, "conversation")
}

// room skips a step that adds a conversation when there are enough: each is
// looked at after each step.
func (m machine) room(t *rapid.T) {
	if len(roots(t, m.s)) >= 5 {
		t.Skip("there are enough")
	}
}

// cast draws members: some that are there, changed, and some that are new.
func cast(t *rapid.T, present []scene.Member) []scene.MemberSpec {
	cards := rapid.Permutation([]string{"Anna", "Ben", "Cleo", "", ""}).Draw(t, "cards")
	var out []scene.MemberSpec
	for _, card := range cards[:rapid.IntRange(1, len(cards)).Draw(t, "size")] {
		spec := scene.MemberSpec{Name: rapid.SampledFrom([]string{"", "Guard", "Zoë"}).Draw(t, "name"), Muted: rapid.Bool().Draw(t, "muted")}
		if card != "" {
			spec.CardID = &card
		}
		if i := len(out); i < len(present) && rapid.Bool().Draw(t, "stays") {
			spec.ID = present[i].ID
		}
		out = append(out, spec)
	}
	return out
}

func (m machine) create(t *rapid.T) {
	m.room(t)
	n := scene.NewConversation{Kind: scene.Group, Members: cast(t, nil)}
	_, err := m.s.CreateConversation(context.Background(), n)
	ok(t, 0, err)
}

func (m machine) solo(t *rapid.T) {
	m.room(t)
	_, err := m.s.CreateConversation(context.Background(), scene.NewConversation{CardID: ptr("Anna")})
	ok(t, 0, err)
}

func (m machine) convert(t *rapid.T) {
	_, _, err := m.s.ConvertToGroup(context.Background(), m.any(t, false).ID)
	ok(t, 0, err)
}

func (m machine) fork(t *rapid.T) {
	m.room(t)
	src := m.any(t, true)
	f := fork(t, m.s, src.ID, rapid.SampledFrom([]string{"checkpoint", "compress", "new"}).Draw(t, "how"))
	if f.Root() != src.Root() {
		t.Fatalf("the fork is of family %s, not %s", f.Root(), src.Root())
	}
}

func (m machine) delete(t *rapid.T) {
	c := m.any(t, false)
	before := roots(t, m.s)
	if err := m.s.DeleteConversation(context.Background(), c.ID); err != nil {
		t.Fatalf("%v", err)
	}
	if after := roots(t, m.s); len(after) != len(before)-1 {
		t.Fatalf("%d conversations, then %d", len(before), len(after))
	}
}

func (m machine) deleteGroup(t *rapid.T) {
	c := m.any(t, true)
	before := roots(t, m.s)
	n, err := m.s.DeleteGroup(context.Background(), c.ID)
	if after := roots(t, m.s); ok(t, n, err) != len(before)-len(after) {
		t.Fatalf("said %d are deleted: %d conversations, then %d", n, len(before), len(after))
	}
}

func (m machine) recast(t *rapid.T) {
	c := m.any(t, true)
	before := roster(t, m.s, c.ID, true)
	want := cast(t, roster(t, m.s, c.ID, false))
	got, revision, err := m.s.SetMembers(context.Background(), c.ID, want, &c.RosterRevision)
	if len(ok(t, got, err)) != len(want) || revision != c.RosterRevision+1 {
		t.Fatalf("%d members at revision %d", len(got), revision)
	}
	keys := map[string]string{}
	for _, now := range roster(t, m.s, c.ID, true) {
		keys[now.ID] = now.Key
	}
	for _, old := range before {
		if keys[old.ID] != old.Key {
			t.Fatalf("the key of %s was %q and is %q", old.ID, old.Key, keys[old.ID])
		}
	}
}

func (m machine) say(t *rapid.T) {
	c := m.any(t, false)
	n := scene.NewMessage{Role: rapid.SampledFrom([]scene.Role{scene.RoleUser, scene.RoleAssistant}).Draw(t, "role"), Content: "words"}
	if c.Kind == scene.Group && n.Role == scene.RoleAssistant {
		speaker := rapid.SampledFrom(roster(t, m.s, c.ID, false)).Draw(t, "speaker")
		n.SpeakerID = &speaker.ID
	}
	if all := m.messages(t, c.ID); len(all) > 0 && rapid.Bool().Draw(t, "elsewhere") {
		n.Parent = scene.To(rapid.SampledFrom(all).Draw(t, "beside").ParentID)
	}
	if n.Role == scene.RoleUser {
		_, err := m.s.Append(context.Background(), c.ID, n)
		ok(t, 0, err)
		return
	}
	moods := []string{rapid.SampledFrom([]string{"calm", "tense"}).Draw(t, "mood")}
	reply := scene.Reply{NewMessage: n, Log: &scene.Log{ActiveMoods: moods}, Director: &scene.DirectorState{ActiveMoods: moods}}
	_, err := m.s.SaveReply(context.Background(), c.ID, reply)
	ok(t, 0, err)
}

// change is an action of a call that takes a message and returns the path.
func (m machine) change(call func(*scene.Service, context.Context, string, int64) ([]scene.Step, error)) func(*rapid.T) {
	return func(t *rapid.T) {
		c := m.any(t, false)
		all := m.messages(t, c.ID)
		if len(all) == 0 {
			t.Skip("there is none")
		}
		mid := rapid.SampledFrom(all).Draw(t, "message").ID
		extent, err := m.s.DeletePreview(context.Background(), c.ID, mid)
		ok(t, extent, err)
		path, err := call(m.s, context.Background(), c.ID, mid)
		ok(t, path, err)
		if left := m.messages(t, c.ID); len(left) != len(all) && len(all)-len(left) != extent.Messages {
			t.Fatalf("%d messages are gone, announced were %d", len(all)-len(left), extent.Messages)
		}
	}
}

func (m machine) propose(t *rapid.T) {
	c := m.any(t, true)
	to := rapid.SampledFrom(roster(t, m.s, c.ID, false)).Draw(t, "member")
	propose(t, m.s, c.ID, to.ID, "new")
}

func (m machine) decide(t *rapid.T) {
	c := m.any(t, true)
	open, err := m.s.Proposals(context.Background(), c.ID, "")
	if ok(t, open, err); len(open) == 0 {
		t.Skip("there is none")
	}
	p := rapid.SampledFrom(open).Draw(t, "proposal")
	if rapid.Bool().Draw(t, "apply") {
		_, _ = m.s.ApplyProposal(context.Background(), c.ID, p.ID)
		return
	}
	_, err = m.s.RejectProposal(context.Background(), c.ID, p.ID)
	ok(t, 0, err)
}

func (m machine) messages(t *rapid.T, id string) (all []scene.Message) {
	err := m.s.Store.View(context.Background(), func(tx scene.Tx) (err error) {
		all, err = tx.Messages.Of(id)
		return err
	})
	return ok(t, all, err)
}

// check holds what must always be so, on one snapshot.
func (m machine) check(t *rapid.T) {
	err := m.s.Store.View(context.Background(), func(tx scene.Tx) error {
		list, err := tx.Conversations.All()
		all := map[string]scene.Conversation{}
		for _, c := range list {
			all[c.ID] = c
		}
		for _, c := range list {
			if root, alive := all[c.Root()]; !alive || root.RootID != nil || c.RootID != nil && c.Kind == scene.Solo {
				t.Fatalf("%s points at %s, which is no living root", c.ID, c.Root())
			}
			checkTree(t, tx, c, checkCast(t, tx, c))
			checkMoods(t, tx, c)
		}
		return err
	})
	ok(t, 0, err)
}

// checkCast returns the ids of all members, tombstones too.
func checkCast(t *rapid.T, tx scene.Tx, c scene.Conversation) map[string]bool {
	members, err := tx.Members.Roster(c.ID)
	ids, keys, cards, active := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, m := range ok(t, members, err) {
		if keys[m.Key] || m.ConversationID != c.ID || m.Name == "" {
			t.Fatalf("%+v", m)
		}
		ids[m.ID], keys[m.Key] = true, true
		if !m.Active {
			continue
		}
		active[m.ID] = true
		if m.CardID != nil {
			if cards[*m.CardID] {
				t.Fatalf("the card %s is there twice", *m.CardID)
			}
			cards[*m.CardID] = true
		}
	}
	if (len(active) > 0) != (c.Kind == scene.Group) {
		t.Fatalf("%d members in a %s", len(active), c.Kind)
	}
	pending := map[string]bool{}
	open, err := tx.Proposals.Of(c.ID, scene.Pending, scene.Stale)
	for _, p := range ok(t, open, err) {
		if !active[p.MemberID] || p.Status == scene.Pending && pending[p.MemberID] {
			t.Fatalf("%+v", p)
		}
		pending[p.MemberID] = pending[p.MemberID] || p.Status == scene.Pending
	}
	return ids
}

func checkTree(t *rapid.T, tx scene.Tx, c scene.Conversation, members map[string]bool) {
	list, err := tx.Messages.Of(c.ID)
	all := map[int64]scene.Message{}
	for _, m := range ok(t, list, err) {
		depth := 1
		if m.ParentID != nil {
			parent, known := all[*m.ParentID]
			if !known {
				t.Fatalf("message %d has a parent that is not there", m.ID)
			}
			depth = parent.Depth + 1
		}
		if m.Depth != depth || m.SpeakerID != nil && !members[*m.SpeakerID] {
			t.Fatalf("%+v", m)
		}
		all[m.ID] = m
	}
	if (c.ActiveLeaf == nil) != (len(all) == 0) {
		t.Fatalf("of %d messages the visible one is %v", len(all), c.ActiveLeaf)
	}
	if c.ActiveLeaf == nil {
		return
	}
	leaf, known := all[*c.ActiveLeaf]
	path, err := tx.Messages.Path(*c.ActiveLeaf, 0)
	if ok(t, path, err); !known || len(path) != leaf.Depth || path[len(path)-1].ID != leaf.ID {
		t.Fatalf("the path to %d has %d steps, its depth is %d", *c.ActiveLeaf, len(path), leaf.Depth)
	}
	for i, step := range path {
		if i > 0 && (step.ParentID == nil || *step.ParentID != path[i-1].ID) {
			t.Fatalf("step %d does not follow the one before", i)
		}
	}
}

// checkMoods: the moods are those that the visible branch ended with, unless a
// summary stands for what was before.
func checkMoods(t *rapid.T, tx scene.Tx, c scene.Conversation) {
	var want []string
	if c.ActiveLeaf != nil {
		last, err := tx.Logs.Last(*c.ActiveLeaf)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			t.Fatalf("%v", err)
		}
		want = last.ActiveMoods
	}
	d, err := tx.Directors.Get(c.ID)
	if ok(t, d, err); !slices.Equal(d.ActiveMoods, want) && !strings.Contains(c.Title, "(continued)") {
		t.Fatalf("the moods are %q, the branch ended with %q", d.ActiveMoods, want)
	}
}
