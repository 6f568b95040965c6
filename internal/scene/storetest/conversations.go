package storetest

import (
	"strings"
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func conversationID(c scene.Conversation) string { return c.ID }

func overviews(t *testing.T, s scene.Store) {
	card := "card of nobody"
	quiet, asked, read1, busy := group("quiet"), group("asked"), solo("read", &card), group("busy")
	quiet.CreatedAt = at(30)
	asked.UpdatedAt = at(40)
	read1.AccessedAt = at(50)
	busy.CreatedAt = at(20)
	long := strings.Repeat("é", 150) + "\x00" + strings.Repeat("👩", 100)
	update(t, s, func(tx scene.Tx) error {
		if err := insert(tx.Conversations, read1, busy, quiet, asked); err != nil {
			return err
		}
		a, b, gone, plain := member("m1", "busy", 2), member("m3", "busy", 1), member("m2", "busy", 0), member("m0", "busy", 1)
		a.CardID, b.CardID, gone.CardID = &card, ptr("other"), ptr("third")
		gone.Active = false
		a.Muted = true
		if err := insert(tx.Members, a, b, gone, plain); err != nil {
			return err
		}
		root := message("busy", nil)
		if err := tx.Messages.Insert(&root); err != nil {
			return err
		}
		leaf := message("busy", &root.ID)
		if err := tx.Messages.Insert(&leaf); err != nil {
			return err
		}
		newest := message("busy", nil) // of another branch than the active one
		newest.Content = long
		if err := tx.Messages.Insert(&newest); err != nil {
			return err
		}
		busy.ActiveLeaf = &leaf.ID
		return tx.Conversations.Save(busy)
	})
	got := read(t, s, func(tx scene.Tx) ([]scene.Overview, error) { return tx.Conversations.Overviews() })
	same(t, "Overviews", got, []scene.Overview{
		{Conversation: read1},
		{Conversation: asked},
		{Conversation: quiet},
		{
			Conversation: busy, MessageCount: 2, LastMessage: string([]rune(long)[:200]),
			MemberNames: []string{"Name m0", "Name m3", "Name m1"}, CardIDs: []string{"other", card},
		},
	})
}

func ptr[T any](v T) *T { return &v }

func families(t *testing.T, s scene.Store) {
	card := "card"
	fork2, fork1, foreign := group("a fork"), group("fork"), group("foreign")
	fork2.RootID, fork1.RootID, foreign.RootID = ptr("root"), ptr("root"), ptr("other")
	stray := group("stray")
	stray.CardID = &card // a group has no card
	tombstone, muted := member("m1", "root", 0), member("m2", "fork", 0)
	tombstone.CardID, tombstone.Active = &card, false
	muted.CardID, muted.Muted = &card, true
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Conversations, group("root"), group("other"), solo("solo", &card)) },
			func() error { return insert(tx.Conversations, fork1, foreign, fork2, solo("bare", nil), stray) },
			func() error { return insert(tx.Members, tombstone, muted) },
		)
	})
	for _, c := range []struct {
		root string
		want []string
	}{
		{"root", []string{"root", "fork", "a fork"}},
		{"other", []string{"other", "foreign"}},
		{"solo", nil},
		{"fork", []string{"fork"}},
		{"nothing", nil},
	} {
		rows := read(t, s, func(tx scene.Tx) ([]scene.Conversation, error) { return tx.Conversations.Family(c.root) })
		same(t, "Family "+c.root, pluck(rows, conversationID), c.want)
	}
	rows := read(t, s, func(tx scene.Tx) ([]scene.Conversation, error) { return tx.Conversations.OfCard(card) })
	same(t, "OfCard", pluck(rows, conversationID), []string{"solo", "fork"})
}

func rosters(t *testing.T, s scene.Store) {
	gone := member("b", "c", 1)
	gone.Active = false
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Conversations, group("c"), group("d")) },
			func() error {
				return insert(tx.Members, member("z", "c", 0), member("x", "d", 0), member("c", "c", 1), member("a", "c", 2), gone)
			},
		)
	})
	ids := func(conversation string) []string {
		rows := read(t, s, func(tx scene.Tx) ([]scene.Member, error) { return tx.Members.Roster(conversation) })
		return pluck(rows, func(m scene.Member) string { return m.ID })
	}
	same(t, "by Order, then id, tombstones too", ids("c"), []string{"z", "b", "c", "a"})
	same(t, "of nothing", ids("nothing"), []string{})
}

// keys: what is unique among members.
func keys(t *testing.T, s scene.Store) {
	a, b := member("a", "c", 0), member("b", "c", 1)
	a.CardID, b.CardID = ptr("card a"), ptr("card b")
	b.Active = false
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Conversations, group("c"), group("d")) },
			func() error { return insert(tx.Members, a, b) },
		)
	})
	add := func(change func(m *scene.Member)) func(scene.Tx) error {
		m := member("new", "c", 2)
		change(&m)
		return func(tx scene.Tx) error { return tx.Members.Insert(m) }
	}
	refuse(t, s, fault.Conflict, add(func(m *scene.Member) { m.Key = a.Key }))
	refuse(t, s, fault.Conflict, add(func(m *scene.Member) { m.Key = b.Key })) // a tombstone's counts
	refuse(t, s, fault.Conflict, add(func(m *scene.Member) { m.CardID = a.CardID }))
	refuse(t, s, fault.Conflict, func(tx scene.Tx) error {
		again := b
		again.CardID, again.Active = a.CardID, true
		return tx.Members.Save(again)
	})
	for _, change := range []func(m *scene.Member){
		func(m *scene.Member) { m.CardID = b.CardID }, // only a tombstone has it
		func(m *scene.Member) { m.ID, m.CardID, m.Active = "new 1", a.CardID, false },
		func(m *scene.Member) { m.ID, m.ConversationID, m.Key, m.CardID = "new 2", "d", a.Key, a.CardID },
		func(m *scene.Member) { m.ID, m.Name = "new 3", a.Name },
		func(m *scene.Member) { m.ID, m.Key = "new 4", strings.ToUpper(a.Key) },
	} {
		update(t, s, add(func(m *scene.Member) {
			change(m)
			if m.Key == "key-new" {
				m.Key += m.ID
			}
		}))
	}
	// Two swap their cards within a transaction.
	update(t, s, func(tx scene.Tx) error {
		c, err := tx.Members.Get("new")
		if err != nil {
			return err
		}
		cleared := a
		cleared.Active = false
		a.CardID, c.CardID = c.CardID, a.CardID
		return all(
			func() error { return tx.Members.Save(cleared) },
			func() error { return tx.Members.Save(c) },
			func() error { return tx.Members.Save(a) },
		)
	})
}
