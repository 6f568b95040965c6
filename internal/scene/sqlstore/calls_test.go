package sqlstore

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/scene"
)

// TestPromptsAreThereOnce: what calls have in common is kept once, and what no
// call has any more is not kept at all.
func TestPromptsAreThereOnce(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	update := func(fn func(scene.Tx) error) {
		t.Helper()
		if err := s.Update(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	var ids []int64
	update(func(tx scene.Tx) error {
		err := tx.Conversations.Insert(scene.Conversation{
			ID: "c", Kind: scene.Group, TurnMode: scene.Manual, MaxSpeakers: 1, ContextMode: scene.Private,
		})
		for range 2 {
			m := scene.Message{ConversationID: "c", Role: scene.RoleAssistant}
			if err == nil {
				err = tx.Messages.Insert(&m)
			}
			ids = append(ids, m.ID)
		}
		return err
	})
	// Two speakers of one exchange after 100 messages: the second has the first's
	// reply, too.
	call := func(texts ...string) scene.Call {
		c := scene.Call{Messages: []scene.CallMessage{{Role: "system", Text: "body"}}}
		for i := range 100 {
			c.Messages = append(c.Messages, scene.CallMessage{Role: "user", Text: fmt.Sprint("line ", i%50)})
		}
		for _, text := range texts {
			c.Messages = append(c.Messages, scene.CallMessage{Role: "user", Text: text})
		}
		return c
	}
	put := func(message int64, exchange string, calls ...scene.Call) {
		t.Helper()
		update(func(tx scene.Tx) error {
			return tx.Calls.Put(scene.Message{ID: message, ConversationID: "c"}, exchange, calls)
		})
	}
	want := func(when string, calls, messages, texts int) {
		t.Helper()
		got := []int{}
		for _, table := range []string{"prompt_calls", "prompt_messages", "prompt_texts"} {
			got = append(got, count(t, s.readers, table))
		}
		if diff := cmp.Diff([]int{calls, messages, texts}, got); diff != "" {
			t.Errorf("%s: calls, messages, texts (-want +got):\n%s", when, diff)
		}
	}
	put(ids[0], "x", call("plan"), call("cue"))
	want("one speaker", 2, 101+2, 51+2)
	put(ids[1], "x", call("reply", "cue"))
	want("two speakers", 3, 101+4, 51+3)
	put(ids[1], "x", call("reply", "cue"))
	want("the same again", 4, 101+4, 51+3)
	put(ids[1], "y", call("last"))
	update(func(tx scene.Tx) error { return tx.Calls.Keep("c", 1) })
	want("one exchange kept", 1, 101+1, 51+1)
	put(ids[0], "z", call("plan"))
	update(func(tx scene.Tx) error { return tx.Messages.Delete(ids[1:]) })
	want("a message deleted", 1, 101+1, 51+1)
	update(func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
	want("all deleted", 0, 0, 0)
}
