package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

func directors(t *testing.T, s scene.Store) {
	update(t, s, func(tx scene.Tx) error { return insert(tx.Conversations, group("c"), group("d")) })
	get := func(conversation string) scene.DirectorState {
		return read(t, s, func(tx scene.Tx) (scene.DirectorState, error) { return tx.Directors.Get(conversation) })
	}
	same(t, "nothing saved", get("c"), scene.DirectorState{ConversationID: "c"})
	other := filled[scene.DirectorState](0)
	other.ConversationID = "d"
	update(t, s, func(tx scene.Tx) error { return tx.Directors.Save(other) })
	for turn := range 2 {
		want := filled[scene.DirectorState](turn)
		want.ConversationID = "c"
		update(t, s, func(tx scene.Tx) error { return tx.Directors.Save(want) })
		same(t, "saved", get("c"), want)
	}
	update(t, s, func(tx scene.Tx) error { return tx.Directors.Save(scene.DirectorState{ConversationID: "c"}) })
	same(t, "emptied", get("c"), scene.DirectorState{ConversationID: "c"})
	same(t, "another's", get("d"), other)

	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Delete("d") })
	same(t, "gone with its conversation", get("d"), scene.DirectorState{ConversationID: "d"})
}

func logs(t *testing.T, s scene.Store) {
	ids := grow(t, s, "c", -1, 0, 1, 2, 1)
	grow(t, s, "d", -1)
	full := filled[scene.Log](0)
	full.ConversationID, full.MessageID = "c", &ids[1]
	again := scene.Log{ConversationID: "c", MessageID: &ids[1], Plan: []byte("[]"), CreatedAt: at(1)}
	side := scene.Log{ConversationID: "c", MessageID: &ids[4], CreatedAt: at(2)}
	foreign := scene.Log{ConversationID: "d", CreatedAt: at(3)}
	update(t, s, func(tx scene.Tx) error {
		for _, l := range []*scene.Log{&side, &full, &foreign, &again} {
			if err := tx.Logs.Insert(l); err != nil {
				return err
			}
		}
		return nil
	})
	list := func(fn func(tx scene.Tx) ([]scene.Log, error)) []scene.Log { return read(t, s, fn) }
	of := func(messages ...int64) []scene.Log {
		return list(func(tx scene.Tx) ([]scene.Log, error) { return tx.Logs.OfMessages(messages...) })
	}
	same(t, "of a message", of(ids[1]), []scene.Log{full, again})
	many := append(make([]int64, 2000), ids...)
	same(t, "of many", of(many...), []scene.Log{side, full, again})
	same(t, "of none", of(), []scene.Log{})
	same(t, "of one without", of(ids[0]), []scene.Log{})
	conversation := func(tx scene.Tx) ([]scene.Log, error) { return tx.Logs.OfConversation("c") }
	same(t, "of a conversation", list(conversation), []scene.Log{side, full, again})

	last := func(leaf int64) scene.Log {
		return read(t, s, func(tx scene.Tx) (scene.Log, error) { return tx.Logs.Last(leaf) })
	}
	same(t, "its own", last(ids[4]), side)
	same(t, "above", last(ids[3]), again)
	for _, leaf := range []int64{ids[0], 1 << 62} {
		refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Logs.Last(leaf); return err })
	}

	// A log outlives its message, but not its conversation.
	update(t, s, func(tx scene.Tx) error { return tx.Messages.Delete(ids[1:2]) })
	side.MessageID, full.MessageID, again.MessageID = nil, nil, nil
	same(t, "of what is gone", list(conversation), []scene.Log{side, full, again})
	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
	same(t, "gone", list(conversation), []scene.Log{})
}

// prompt is a list of messages; one that ends in "+" has an image.
func prompt(texts ...string) []scene.CallMessage {
	var out []scene.CallMessage
	for i, text := range texts {
		m := scene.CallMessage{Role: []string{"system", "user", "assistant"}[min(i, 1+i%2)], Text: text}
		if bare, pictured := strings.CutSuffix(text, "+"); pictured {
			m.Text, m.Images = bare, 1
		}
		out = append(out, m)
	}
	return out
}

func calls(t *testing.T, s scene.Store) {
	ids := grow(t, s, "c", -1, 0, 1)
	other := grow(t, s, "d", -1)
	full := []scene.Call{filled[scene.Call](0), filled[scene.Call](1)}
	shared := []scene.Call{
		{Pass: "a", Messages: prompt("body", "one", "two")},
		{Pass: "b", Messages: prompt("body", "one")},                   // the beginning of the first
		{Pass: "c", Messages: prompt("body", "one", "two", "one", "")}, // its continuation
		{Pass: "d", Messages: prompt("body", "two", "two")},            // another way
		{Pass: "e", Messages: prompt("body", "one+")},                  // with a picture
		{Pass: "f", Messages: []scene.CallMessage{{Role: "user", Text: "body"}}},
		{Pass: "g"},
	}
	put := func(conversation string, message int64, exchange string, calls ...scene.Call) {
		update(t, s, func(tx scene.Tx) error {
			return tx.Calls.Put(scene.Message{ID: message, ConversationID: conversation}, exchange, calls)
		})
	}
	of := func(message int64) []scene.Call {
		return read(t, s, func(tx scene.Tx) ([]scene.Call, error) { return tx.Calls.Of(message) })
	}
	put("c", ids[1], "x", full...)
	put("c", ids[2], "x", shared[:3]...)
	put("c", ids[2], "y", shared[3:]...) // behind the others
	put("d", other[0], "x", shared...)
	same(t, "all fields", of(ids[1]), full)
	same(t, "in order", of(ids[2]), shared)
	same(t, "of none", of(ids[0]), []scene.Call{})
	put("c", ids[0], "z")
	same(t, "no calls", of(ids[0]), []scene.Call{})

	update(t, s, func(tx scene.Tx) error { return tx.Messages.Delete(ids[2:]) })
	same(t, "of what is gone", of(ids[2]), []scene.Call{})
	same(t, "of what stays", of(ids[1]), full)
	same(t, "of another", of(other[0]), shared)
	put("c", ids[0], "x", shared...) // all anew
	same(t, "put again", of(ids[0]), shared)
	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
	same(t, "of a conversation that is gone", of(ids[0]), []scene.Call{})
	same(t, "of another", of(other[0]), shared)
}

// pruned: the calls of the last exchanges stay whole, whatever they share with
// those that go.
func pruned(t *testing.T, s scene.Store) {
	ids := grow(t, s, "c", -1, 0, 1, 2)
	other := grow(t, s, "d", -1)
	call := func(n int) []scene.Call {
		texts := []string{"body"}
		for i := range n {
			texts = append(texts, fmt.Sprint("line ", i/2)) // each twice
		}
		return []scene.Call{{Pass: fmt.Sprint(n), Messages: prompt(append(texts, fmt.Sprint("end ", n))...)}}
	}
	update(t, s, func(tx scene.Tx) error {
		for _, p := range []struct {
			message  int64
			exchange string
			calls    []scene.Call
		}{
			{ids[0], "first", call(9)}, {ids[1], "second", call(3)}, {ids[2], "third", call(5)}, {ids[3], "third", call(0)},
			{ids[0], "first", call(1)}, // is the newest by this
		} {
			if err := tx.Calls.Put(scene.Message{ID: p.message, ConversationID: "c"}, p.exchange, p.calls); err != nil {
				return err
			}
		}
		return tx.Calls.Put(scene.Message{ID: other[0], ConversationID: "d"}, "old", call(4))
	})
	want := map[int64][]scene.Call{
		ids[0]: append(call(9), call(1)...), ids[1]: call(3), ids[2]: call(5), ids[3]: call(0), other[0]: call(4),
	}
	check := func(when string) {
		t.Helper()
		for message, calls := range want {
			same(t, when, read(t, s, func(tx scene.Tx) ([]scene.Call, error) { return tx.Calls.Of(message) }), calls)
		}
	}
	check("before")
	for _, step := range []struct {
		most int
		gone []int64
	}{{9, nil}, {3, nil}, {2, ids[1:2]}, {1, ids[2:4]}, {0, ids[:1]}} {
		update(t, s, func(tx scene.Tx) error { return tx.Calls.Keep("c", step.most) })
		for _, id := range step.gone {
			want[id] = nil
		}
		check(fmt.Sprint("keeping ", step.most))
	}
}

func onces(t *testing.T, s scene.Store) {
	update(t, s, func(tx scene.Tx) error { return insert(tx.Conversations, group("c"), group("d")) })
	want := filled[scene.Once](0)
	want.ConversationID, want.Key = "c", "key"
	elsewhere := want
	elsewhere.ConversationID, elsewhere.Body, elsewhere.CreatedAt = "d", "other", at(5)
	newer := want
	newer.Key, newer.CreatedAt = "Key", at(9)
	update(t, s, func(tx scene.Tx) error {
		return all(
			func() error { return tx.Onces.Put(want) },
			func() error { return tx.Onces.Put(elsewhere) },
			func() error { return tx.Onces.Put(newer) },
		)
	})
	get := func(conversation, key string) scene.Once {
		return read(t, s, func(tx scene.Tx) (scene.Once, error) { return tx.Onces.Get(conversation, key) })
	}
	lost := func(conversation, key string) {
		t.Helper()
		refuse(t, s, fault.NotFound, func(tx scene.Tx) error { _, err := tx.Onces.Get(conversation, key); return err })
	}
	same(t, "Get", get("c", "key"), want)
	same(t, "the same key elsewhere", get("d", "key"), elsewhere)
	same(t, "another key", get("c", "Key"), newer)
	lost("c", "")
	refuse(t, s, fault.Conflict, func(tx scene.Tx) error { return tx.Onces.Put(want) })

	purge := func(before time.Time) {
		update(t, s, func(tx scene.Tx) error { return tx.Onces.Purge(before) })
	}
	purge(want.CreatedAt)
	same(t, "as old as that", get("c", "key"), want)
	purge(at(5))
	lost("c", "key")
	same(t, "as old as that", get("d", "key"), elsewhere)
	update(t, s, func(tx scene.Tx) error { return tx.Onces.Put(want) }) // it is free again
	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
	lost("c", "Key")
}
