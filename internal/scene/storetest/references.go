package storetest

import (
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// missing: what refers to nothing is refused at once.
func missing(t *testing.T, s scene.Store) {
	nothing := ptr("nothing")
	change := func(change func(c *scene.Conversation)) func(scene.Tx) error {
		c := group("d")
		change(&c)
		return func(tx scene.Tx) error { return tx.Conversations.Insert(c) }
	}
	locked, linked := card("k", "K"), card("k", "K")
	locked.PersonaLock, linked.WorldID = nothing, nothing
	spoken := message("c", nil)
	spoken.SpeakerID = nothing
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Conversations, group("c")) },
			func() error { return insert(tx.Members, member("m", "c", 0)) },
			func() error { return insert(tx.Worlds, world("w")) },
		)
	})
	for name, fn := range map[string]func(scene.Tx) error{
		"persona lock": change(func(c *scene.Conversation) { c.PersonaLock = nothing }),
		"root":         change(func(c *scene.Conversation) { c.RootID = nothing }),
		"leaf":         change(func(c *scene.Conversation) { c.ActiveLeaf = ptr(int64(1 << 62)) }),
		"member":       func(tx scene.Tx) error { return tx.Members.Insert(member("n", "nothing", 0)) },
		"speaker":      func(tx scene.Tx) error { m := spoken; return tx.Messages.Insert(&m) },
		"upload": func(tx scene.Tx) error {
			_, err := tx.Uploads.Insert(scene.Upload{MessageID: 1 << 62}, nil)
			return err
		},
		"proposal": func(tx scene.Tx) error {
			p := proposal("nothing", "m", scene.Pending, 0)
			return tx.Proposals.Insert(&p)
		},
		"proposal's": func(tx scene.Tx) error {
			p := proposal("c", "nothing", scene.Pending, 0)
			return tx.Proposals.Insert(&p)
		},
		"choice":         func(tx scene.Tx) error { return tx.Choices.Put(scene.Choice{ConversationID: "nothing", WorldID: "w"}) },
		"choice's world": func(tx scene.Tx) error { return tx.Choices.Put(scene.Choice{ConversationID: "c", WorldID: "nothing"}) },
		"director":       func(tx scene.Tx) error { return tx.Directors.Save(scene.DirectorState{ConversationID: "nothing"}) },
		"log":            func(tx scene.Tx) error { return tx.Logs.Insert(&scene.Log{ConversationID: "nothing"}) },
		"log's message": func(tx scene.Tx) error {
			return tx.Logs.Insert(&scene.Log{ConversationID: "c", MessageID: ptr(int64(1 << 62))})
		},
		"call": func(tx scene.Tx) error {
			return tx.Calls.Put(scene.Message{ID: 1 << 62, ConversationID: "c"}, "x", []scene.Call{{}})
		},
		"once":             func(tx scene.Tx) error { return tx.Onces.Put(scene.Once{ConversationID: "nothing"}) },
		"card's persona":   func(tx scene.Tx) error { return tx.Cards.Insert(locked) },
		"card's world":     func(tx scene.Tx) error { return tx.Cards.Insert(linked) },
		"picture":          func(tx scene.Tx) error { return tx.Cards.SetAvatar("nothing", scene.Avatar{}) },
		"entry":            func(tx scene.Tx) error { return tx.Entries.Insert(entry("e", "nothing", 0)) },
		"model":            func(tx scene.Tx) error { return tx.Models.Insert(model("m", "nothing")) },
		"endpoint's model": func(tx scene.Tx) error { return tx.Endpoints.Insert(scene.Endpoint{ID: "e", AgentConfig: nothing}) },
	} {
		t.Run(name, func(t *testing.T) { refuse(t, s, fault.Invalid, fn) })
	}
}

// belongings: what goes with the row that it belongs to.
func belongings(t *testing.T, s scene.Store) {
	ids := grow(t, s, "c", -1, 0)
	kept := grow(t, s, "d", -1)
	var file int64
	p, q := proposal("c", "m", scene.Pending, 0), proposal("c", "n", scene.Pending, 1)
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return insert(tx.Members, member("m", "c", 0), member("n", "c", 1), member("k", "d", 0)) },
			func() error { return insert(tx.Worlds, world("w"), world("v")) },
			func() error { return insert(tx.Entries, entry("e1", "w", 0), entry("e2", "v", 0)) },
			func() error { return tx.Choices.Put(scene.Choice{ConversationID: "c", WorldID: "w"}) },
			func() error { return tx.Choices.Put(scene.Choice{ConversationID: "d", WorldID: "w"}) },
			func() error { return tx.Choices.Put(scene.Choice{ConversationID: "d", WorldID: "v"}) },
			func() error { return tx.Proposals.Insert(&p) },
			func() error { return tx.Proposals.Insert(&q) },
			func() (err error) { file, err = tx.Uploads.Insert(scene.Upload{MessageID: ids[1]}, nil); return err },
			func() error { return insert(tx.Endpoints, scene.Endpoint{ID: "x"}, scene.Endpoint{ID: "y"}) },
			func() error { return insert(tx.Models, model("mx", "x"), model("my", "y")) },
		)
	})
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return tx.Members.Delete("m") },
			func() error { return tx.Worlds.Delete("w") },
			func() error { return tx.Endpoints.Delete("x") },
		)
	})
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Proposals.Get(p.ID); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Entries.Get("e1"); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Models.Get("mx"); return err })

	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Members.Get("n"); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Proposals.Get(q.ID); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Messages.Get("c", ids[0]); return err })
	refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, _, err := tx.Uploads.Content(file); return err })
	view(t, s, func(tx scene.Tx) error {
		chosen, err := tx.Choices.Of("c")
		same(t, "choices of c", chosen, []scene.Choice{})
		return err
	})

	// Nothing else went.
	view(t, s, func(tx scene.Tx) error {
		chosen, err := tx.Choices.Of("d")
		same(t, "choices of d", chosen, []scene.Choice{{ConversationID: "d", WorldID: "v"}})
		return all(
			func() error { return err },
			func() error { _, err := tx.Messages.Get("d", kept[0]); return err },
			func() error { _, err := tx.Members.Get("k"); return err },
			func() error { _, err := tx.Entries.Get("e2"); return err },
			func() error { _, err := tx.Models.Get("my"); return err },
		)
	})
}

// loose: a reference to a row that goes becomes nil, but for those to cards
// and to members' models, which stay: what they mean may come back, or stand
// elsewhere.
func loose(t *testing.T, s scene.Store) {
	ids := grow(t, s, "c", -1, 0)
	c, fork, k := group("c"), group("fork"), card("k", "K")
	c.ActiveLeaf, c.PersonaLock, fork.RootID = &ids[1], ptr("p"), ptr("c")
	k.WorldID, k.PersonaLock = ptr("w"), ptr("p")
	m := member("m", "c", 0)
	m.CardID, m.Model = ptr("k"), ptr("mx")
	said := message("c", &ids[0])
	said.SpeakerID = ptr("n")
	e := scene.Endpoint{ID: "e", Source: scene.SourceDatabase}
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return tx.Personas.Insert(persona("p")) },
			func() error { return tx.Worlds.Insert(world("w")) },
			func() error { return tx.Cards.Insert(k) },
			func() error { return tx.Conversations.Save(c) },
			func() error { return insert(tx.Conversations, fork, solo("s", ptr("k"))) },
			func() error { return insert(tx.Members, m, member("n", "c", 1)) },
			func() error { return tx.Messages.Insert(&said) },
			func() error { return tx.Endpoints.Insert(e) },
			func() error { return insert(tx.Models, model("mx", "e"), model("my", "e")) },
			func() error { e.WriterConfig, e.AgentConfig = ptr("mx"), ptr("my"); return tx.Endpoints.Save(e) },
		)
	})
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return tx.Personas.Delete("p") },
			func() error { return tx.Worlds.Delete("w") },
			func() error { return tx.Messages.Delete(ids[1:]) },
			func() error { return tx.Members.Delete("n") },
			func() error { return tx.Models.Delete("mx") },
		)
	})
	c.ActiveLeaf, c.PersonaLock, k.WorldID, k.PersonaLock, said.SpeakerID, e.WriterConfig = nil, nil, nil, nil, nil, nil
	same(t, "conversation", read(t, s, func(tx scene.Tx) (scene.Conversation, error) { return tx.Conversations.Get("c") }), c)
	same(t, "card", read(t, s, func(tx scene.Tx) (scene.Card, error) { return tx.Cards.Get("k") }), k)
	same(t, "message", read(t, s, func(tx scene.Tx) (scene.Message, error) { return tx.Messages.Get("c", said.ID) }), said)
	same(t, "endpoint", read(t, s, func(tx scene.Tx) (scene.Endpoint, error) { return tx.Endpoints.Get("e") }), e)
	same(t, "member", read(t, s, func(tx scene.Tx) (scene.Member, error) { return tx.Members.Get("m") }), m)

	update(t, s, func(tx scene.Tx) error { return tx.Cards.Delete("k") })
	same(t, "member", read(t, s, func(tx scene.Tx) (scene.Member, error) { return tx.Members.Get("m") }), m)
	same(t, "solo", read(t, s, func(tx scene.Tx) (scene.Conversation, error) { return tx.Conversations.Get("s") }), solo("s", ptr("k")))

	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
	fork.RootID = nil
	same(t, "fork", read(t, s, func(tx scene.Tx) (scene.Conversation, error) { return tx.Conversations.Get("fork") }), fork)
}
