package storetest

import (
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// say adds a message and returns its id.
func say(tx scene.Tx, conversation string, parent *int64) (int64, error) {
	m := message(conversation, parent)
	err := tx.Messages.Insert(&m)
	return m.ID, err
}

// grow makes a conversation and adds messages: each is the child of the one
// with the index given, or a root at -1.
func grow(t *testing.T, s scene.Store, conversation string, parents ...int) (ids []int64) {
	t.Helper()
	update(t, s, func(tx scene.Tx) error {
		if err := tx.Conversations.Insert(group(conversation)); err != nil {
			return err
		}
		for _, p := range parents {
			var parent *int64
			if p >= 0 {
				parent = &ids[p]
			}
			id, err := say(tx, conversation, parent)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids
}

func messages(t *testing.T, s scene.Store) {
	ids := grow(t, s, "c", -1)
	grow(t, s, "d")
	want := filled[scene.Message](0)
	want.ID, want.ConversationID, want.ParentID, want.SpeakerID = 0, "c", &ids[0], ptr("m")
	want.Role, want.Incomplete = scene.RoleUser, scene.IncompleteError
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Members, member("m", "c", 0), member("n", "c", 1)) },
			func() error { return tx.Messages.Insert(&want) },
		)
	})
	if want.ID <= ids[0] || want.Depth != 2 {
		t.Errorf("the child of %d got the id %d and the depth %d", ids[0], want.ID, want.Depth)
	}
	get := func(tx scene.Tx) (scene.Message, error) { return tx.Messages.Get("c", want.ID) }
	same(t, "Get", read(t, s, get), want)

	// Save leaves alone what never changes.
	saved := filled[scene.Message](1)
	saved.ID, saved.SpeakerID, saved.Role, saved.Incomplete = want.ID, ptr("n"), scene.RoleAssistant, scene.IncompleteInterrupted
	moved := saved
	moved.ConversationID, moved.ParentID = "d", nil
	update(t, s, func(tx scene.Tx) error { return tx.Messages.Save(moved) })
	saved.ConversationID, saved.ParentID, saved.Depth, saved.CreatedAt = want.ConversationID, want.ParentID, want.Depth, want.CreatedAt
	same(t, "Save", read(t, s, get), saved)

	bare := message("c", &ids[0])
	bare.ID = want.ID
	update(t, s, func(tx scene.Tx) error { return tx.Messages.Save(bare) })
	bare.Depth, bare.CreatedAt = want.Depth, want.CreatedAt
	same(t, "Save of nothing but text", read(t, s, get), bare)

	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Messages.Get("d", want.ID); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Messages.Get("c", 1<<62); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { saved.ID = 1 << 62; return tx.Messages.Save(saved) })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Messages.Path(1<<62, 0); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Messages.Deepest(1 << 62); return err })
	refuse(t, s, fault.Invalid, func(tx scene.Tx) error { _, err := say(tx, "c", ptr(int64(1<<62))); return err })
	refuse(t, s, fault.Invalid, func(tx scene.Tx) error { _, err := say(tx, "d", &ids[0]); return err })
	refuse(t, s, fault.Invalid, func(tx scene.Tx) error { _, err := say(tx, "nothing", nil); return err })

	// A number is never given twice, not even that of the newest.
	update(t, s, func(tx scene.Tx) error { return tx.Messages.Delete([]int64{want.ID}) })
	update(t, s, func(tx scene.Tx) error {
		id, err := say(tx, "c", nil)
		if id <= want.ID {
			t.Errorf("after %d was deleted the next message got %d", want.ID, id)
		}
		return err
	})
}

// places: a path says where each message stands among its siblings.
func places(t *testing.T, s scene.Store) {
	//	0 ─ 1 ─ 4 ─ 7
	//	  ├ 3 ─ 5
	//	  └ 6
	//	2 ─ 8
	ids := grow(t, s, "c", -1, 0, -1, 0, 1, 3, 0, 4, 2)
	foreign := grow(t, s, "d", -1, 0)
	path := func(leaf, limit int) (out []place) {
		steps := read(t, s, func(tx scene.Tx) ([]scene.Step, error) { return tx.Messages.Path(ids[leaf], limit) })
		for _, st := range steps {
			out = append(out, placeOf(st, ids))
		}
		return out
	}
	none := -1
	same(t, "Path", path(5, 0), []place{{0, 1, 2, 0, none, 2}, {3, 2, 3, 1, 1, 6}, {5, 3, 1, 0, none, none}})
	same(t, "the last two", path(7, 2), []place{{4, 3, 1, 0, none, none}, {7, 4, 1, 0, none, none}})
	same(t, "the last one", path(6, 1), []place{{6, 2, 3, 2, 3, none}})
	same(t, "more than there are", path(8, 9), []place{{2, 1, 2, 1, 0, none}, {8, 2, 1, 0, none, none}})

	view(t, s, func(tx scene.Tx) error {
		for at, want := range map[int][]int64{
			0: {ids[0], ids[2]}, 3: {ids[1], ids[3], ids[6]}, 7: {ids[7]},
		} {
			m, err := tx.Messages.Get("c", ids[at])
			if err != nil {
				return err
			}
			got, err := tx.Messages.Siblings(m)
			if err != nil {
				return err
			}
			same(t, "Siblings", got, want)
		}
		for from, want := range map[int]int{0: 6, 1: 7, 3: 5, 8: 8} {
			got, err := tx.Messages.Deepest(ids[from])
			if err != nil || got != ids[want] {
				t.Errorf("Deepest of %d is %d, %v", from, got, err)
			}
		}
		rows, err := tx.Messages.Of("d")
		same(t, "Of", pluck(rows, func(m scene.Message) int64 { return m.ID }), foreign)
		return err
	})
}

// place is a step in indexes: message, depth, branches, branch, neighbours.
type place [6]int

func placeOf(st scene.Step, ids []int64) place {
	index := func(id *int64) int {
		for i := range ids {
			if id != nil && *id == ids[i] {
				return i
			}
		}
		return -1
	}
	return place{index(&st.ID), st.Depth, st.Branches, st.Branch, index(st.PrevBranch), index(st.NextBranch)}
}

// deep: chains are as long as conversations, and go in one call.
func deep(t *testing.T, s scene.Store) {
	const length = 1500 // more than SQLite nests
	parents := make([]int, length)
	for i := range parents {
		parents[i] = i - 1
	}
	chain := grow(t, s, "c", parents...)
	other := grow(t, s, "d", parents...)
	view(t, s, func(tx scene.Tx) error {
		steps, err := tx.Messages.Path(chain[length-1], 0)
		same(t, "the path", pluck(steps, func(s scene.Step) int64 { return s.ID }), chain)
		return err
	})
	update(t, s, func(tx scene.Tx) error {
		end, err := tx.Messages.Deepest(chain[0])
		if err != nil || end != chain[length-1] {
			t.Errorf("Deepest is %d, %v", end, err)
		}
		e, err := tx.Messages.Extent(chain[1:2])
		same(t, "Extent", e, scene.Extent{Messages: length - 1, Assistants: length - 1})
		return err
	})
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return tx.Messages.Delete(chain[1:2]) },
			func() error { return tx.Conversations.Delete("d") },
		)
	})
	view(t, s, func(tx scene.Tx) error {
		rows, err := tx.Messages.Of("c")
		same(t, "what is left", pluck(rows, func(m scene.Message) int64 { return m.ID }), chain[:1])
		if err != nil {
			return err
		}
		rows, err = tx.Messages.Of("d")
		if len(rows) > 0 {
			t.Errorf("of %d messages %d outlived their conversation", len(other), len(rows))
		}
		return err
	})
}
