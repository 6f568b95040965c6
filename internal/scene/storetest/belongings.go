package storetest

import (
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func uploads(t *testing.T, s scene.Store) {
	ids := grow(t, s, "c", -1, 0, 1, -1, 3, -1)
	want := filled[scene.Upload](0)
	want.MessageID = ids[1]
	data := []byte("a\x00\xff\xfe")
	add := func(message int64, data []byte) (id int64) {
		u := want
		u.MessageID = message
		update(t, s, func(tx scene.Tx) (err error) {
			id, err = tx.Uploads.Insert(u, data)
			return err
		})
		return id
	}
	want.ID = add(ids[1], data)
	want.Size = len(data)
	empty := want
	empty.ID, empty.Size = add(ids[1], nil), 0
	view(t, s, func(tx scene.Tx) error {
		got, bytes, err := tx.Uploads.Content(want.ID)
		same(t, "Content", got, want)
		same(t, "its bytes", bytes, data)
		if err != nil {
			return err
		}
		got, bytes, err = tx.Uploads.Content(empty.ID)
		same(t, "the empty one", got, empty)
		same(t, "no bytes", bytes, []byte{})
		return err
	})
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, _, err := tx.Uploads.Content(1 << 62); return err })

	// Copies are files of their own.
	update(t, s, func(tx scene.Tx) error {
		return tx.Uploads.Copy(map[int64]int64{ids[1]: ids[4], ids[0]: ids[3], ids[2]: ids[5]})
	})
	path := func(leaf int64) [][]scene.Upload {
		steps := read(t, s, func(tx scene.Tx) ([]scene.Step, error) { return tx.Messages.Path(leaf, 0) })
		return pluck(steps, func(st scene.Step) []scene.Upload { return st.Uploads })
	}
	same(t, "the old path", path(ids[2]), [][]scene.Upload{nil, {want, empty}, nil})
	copies := path(ids[4])[1]
	if len(copies) != 2 {
		t.Fatalf("of two files %d were copied", len(copies))
	}
	if copies[0].ID <= empty.ID || copies[1].ID <= copies[0].ID {
		t.Errorf("the copies got the numbers %d and %d", copies[0].ID, copies[1].ID)
	}
	update(t, s, func(tx scene.Tx) error { return tx.Messages.Delete(ids[:1]) })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, _, err := tx.Uploads.Content(want.ID); return err })
	view(t, s, func(tx scene.Tx) error {
		got, bytes, err := tx.Uploads.Content(copies[0].ID)
		want.ID, want.MessageID = copies[0].ID, ids[4]
		same(t, "the copy", got, want)
		same(t, "its bytes", bytes, data)
		return err
	})
}

func proposals(t *testing.T, s scene.Store) {
	want := filled[scene.Proposal](0)
	want.ConversationID, want.MemberID, want.Status = "c", "m", scene.Pending
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Conversations, group("c"), group("d")) },
			func() error { return insert(tx.Members, member("m", "c", 0), member("n", "c", 1)) },
			func() error { return tx.Proposals.Insert(&want) },
		)
	})
	get := func(tx scene.Tx) (scene.Proposal, error) { return tx.Proposals.Get(want.ID) }
	same(t, "Get", read(t, s, get), want)
	refuse(t, s, fault.Conflict, func(tx scene.Tx) error {
		p := proposal("c", "m", scene.Pending, 0)
		return tx.Proposals.Insert(&p)
	})
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Proposals.Get(1 << 62); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error {
		p := want
		p.ID = 1 << 62
		return tx.Proposals.Save(p)
	})

	id := want.ID
	want = filled[scene.Proposal](1)
	want.ID, want.ConversationID, want.MemberID, want.Status, want.DecidedAt = id, "c", "m", scene.Stale, nil
	update(t, s, func(tx scene.Tx) error { return tx.Proposals.Save(want) })
	same(t, "Save", read(t, s, get), want)

	older, newer := proposal("c", "m", scene.Pending, 0), proposal("c", "n", scene.Pending, 9)
	done := proposal("c", "n", scene.Applied, 5)
	update(t, s, func(tx scene.Tx) error {
		for _, p := range []*scene.Proposal{&newer, &older, &done} {
			if err := tx.Proposals.Insert(p); err != nil {
				return err
			}
		}
		return nil
	})
	of := func(conversation string, in ...scene.ProposalStatus) []int64 {
		rows := read(t, s, func(tx scene.Tx) ([]scene.Proposal, error) { return tx.Proposals.Of(conversation, in...) })
		return pluck(rows, func(p scene.Proposal) int64 { return p.ID })
	}
	same(t, "pending and stale", of("c", scene.Pending, scene.Stale), []int64{newer.ID, want.ID, older.ID})
	same(t, "applied", of("c", scene.Applied), []int64{done.ID})
	same(t, "in no state", of("c"), []int64{})
	same(t, "of another", of("d", scene.Pending), []int64{})
}

func choices(t *testing.T, s scene.Store) {
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Conversations, group("c"), group("d")) },
			func() error { return insert(tx.Worlds, world("w2"), world("w1")) },
			func() error { return tx.Choices.Put(scene.Choice{ConversationID: "c", WorldID: "w2", Enabled: true}) },
			func() error { return tx.Choices.Put(scene.Choice{ConversationID: "c", WorldID: "w1", Enabled: true}) },
			func() error { return tx.Choices.Put(scene.Choice{ConversationID: "c", WorldID: "w1", Enabled: false}) },
			func() error { return tx.Choices.Put(scene.Choice{ConversationID: "d", WorldID: "w1", Enabled: true}) },
		)
	})
	of := func(tx scene.Tx) ([]scene.Choice, error) { return tx.Choices.Of("c") }
	same(t, "by world", read(t, s, of), []scene.Choice{
		{ConversationID: "c", WorldID: "w1"}, {ConversationID: "c", WorldID: "w2", Enabled: true},
	})
	for range 2 { // the second time there is none
		update(t, s, func(tx scene.Tx) error { return tx.Choices.Delete("c", "w1") })
		same(t, "after Delete", read(t, s, of), []scene.Choice{{ConversationID: "c", WorldID: "w2", Enabled: true}})
	}
}
