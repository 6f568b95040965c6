package storetest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jp/internal/scene"
)

// tree is the plainest store of messages that one can think of, to compare
// with: those of one conversation in the order of their ids.
type tree []scene.Message

func (tr tree) get(id int64) scene.Message {
	return tr[slices.IndexFunc(tr, func(m scene.Message) bool { return m.ID == id })]
}

func (tr tree) children(parent *int64) (ids []int64) {
	for _, m := range tr {
		if parent == nil && m.ParentID == nil || parent != nil && m.ParentID != nil && *m.ParentID == *parent {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (tr tree) path(leaf int64, limit int) (steps []scene.Step) {
	for id := &leaf; id != nil; {
		m := tr.get(*id)
		siblings := tr.children(m.ParentID)
		st := scene.Step{Message: m, Branches: len(siblings), Branch: slices.Index(siblings, m.ID)}
		if st.Branch > 0 {
			st.PrevBranch = &siblings[st.Branch-1]
		}
		if st.Branch < len(siblings)-1 {
			st.NextBranch = &siblings[st.Branch+1]
		}
		steps = append(steps, st)
		id = m.ParentID
	}
	slices.Reverse(steps)
	if limit > 0 {
		steps = steps[max(0, len(steps)-limit):]
	}
	return steps
}

func (tr tree) deepest(id int64) int64 {
	for {
		below := tr.children(&id)
		if len(below) == 0 {
			return id
		}
		id = below[len(below)-1]
	}
}

// below are messages and all that descends from them, each once.
func (tr tree) below(ids []int64) (all []int64) {
	for _, m := range tr {
		if slices.Contains(ids, m.ID) || m.ParentID != nil && slices.Contains(all, *m.ParentID) {
			all = append(all, m.ID)
		}
	}
	return all
}

// trees grows, reads and prunes trees at random.
func trees(t *testing.T, s scene.Store) {
	made := 0
	rapid.Check(t, func(r *rapid.T) {
		made++
		c := group(string(rune('a'+made%26)) + at(made).String())
		update(t, s, func(tx scene.Tx) error {
			if err := tx.Conversations.Insert(c); err != nil {
				return err
			}
			tr, err := prune(r, tx, c.ID)
			if err != nil {
				return err
			}
			rows, err := tx.Messages.Of(c.ID)
			same(r, "Of", rows, []scene.Message(tr))
			return err
		})
	})
}

// prune runs random steps on a tree and compares after each.
func prune(r *rapid.T, tx scene.Tx, conversation string) (tr tree, err error) {
	for range rapid.IntRange(1, 25).Draw(r, "steps") {
		pick := func() int64 { return rapid.SampledFrom(tr).Draw(r, "message").ID }
		if len(tr) > 0 && rapid.IntRange(0, 9).Draw(r, "act") == 0 {
			ids := []int64{pick(), pick()}
			gone := tr.below(ids)
			e, err := tx.Messages.Extent(ids)
			if err != nil {
				return nil, err
			}
			same(r, "Extent", e.Messages, len(gone))
			if err := tx.Messages.Delete(ids); err != nil {
				return nil, err
			}
			tr = slices.DeleteFunc(tr, func(m scene.Message) bool { return slices.Contains(gone, m.ID) })
		} else {
			m := message(conversation, nil)
			m.Depth = 1
			if len(tr) > 0 && rapid.IntRange(0, 4).Draw(r, "root") > 0 {
				m.ParentID = ptr(pick())
				m.Depth = tr.get(*m.ParentID).Depth + 1
			}
			want := m
			if err := tx.Messages.Insert(&m); err != nil {
				return nil, err
			}
			want.ID = m.ID
			same(r, "Insert", m, want)
			tr = append(tr, m)
		}
		if len(tr) > 0 {
			if err := compare(r, tx, tr, pick(), rapid.IntRange(0, 6).Draw(r, "limit")); err != nil {
				return nil, err
			}
		}
	}
	return tr, nil
}

func compare(r *rapid.T, tx scene.Tx, tr tree, id int64, limit int) error {
	steps, err := tx.Messages.Path(id, limit)
	if err != nil {
		return err
	}
	same(r, "Path", steps, tr.path(id, limit))
	siblings, err := tx.Messages.Siblings(tr.get(id))
	if err != nil {
		return err
	}
	same(r, "Siblings", siblings, tr.children(tr.get(id).ParentID))
	end, err := tx.Messages.Deepest(id)
	same(r, "Deepest", end, tr.deepest(id))
	return err
}
