package sqlstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jp/internal/scene"
	"jp/internal/scene/sqlstore"
)

func at(n int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(n) * time.Microsecond)
}

func open(tb testing.TB) *sqlstore.Store {
	tb.Helper()
	s, err := sqlstore.Open(context.Background(), filepath.Join(tb.TempDir(), "scenes.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func update(tb testing.TB, s scene.Store, fn func(scene.Tx) error) {
	tb.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func view(tb testing.TB, s scene.Store, fn func(scene.Tx) error) {
	tb.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		tb.Fatal(err)
	}
}

func group(id string) scene.Conversation {
	return scene.Conversation{
		ID: id, Kind: scene.Group, Title: "The inn", TurnMode: scene.Manual, MaxSpeakers: 3, ContextMode: scene.Private,
		CreatedAt: at(0), UpdatedAt: at(0), AccessedAt: at(0), Revision: 1, RosterRevision: 1,
	}
}

// chain makes a conversation that is one line of n messages of 1 kB, and
// returns the last one's id.
func chain(tb testing.TB, s scene.Store, id string, n int) (leaf int64) {
	tb.Helper()
	body := strings.Repeat("A line of talk. ", 64)
	update(tb, s, func(tx scene.Tx) error {
		c := group(id)
		if err := tx.Conversations.Insert(c); err != nil {
			return err
		}
		var parent *int64
		for i := range n {
			m := scene.Message{ConversationID: id, ParentID: parent, Role: scene.RoleAssistant, Content: body, TurnIndex: i, CreatedAt: at(i)}
			if err := tx.Messages.Insert(&m); err != nil {
				return err
			}
			parent, leaf = &m.ID, m.ID
		}
		c.ActiveLeaf = &leaf
		return tx.Conversations.Save(c)
	})
	return leaf
}

const long = 50_000

func BenchmarkInsertMessage(b *testing.B) {
	s := open(b)
	leaf := chain(b, s, "c", 1)
	n := 0
	for b.Loop() {
		n++
		update(b, s, func(tx scene.Tx) error {
			m := scene.Message{ConversationID: "c", ParentID: &leaf, Role: scene.RoleUser, Content: strings.Repeat("x", 1000), CreatedAt: at(n)}
			err := tx.Messages.Insert(&m)
			leaf = m.ID
			return err
		})
	}
}

func BenchmarkPath(b *testing.B) {
	s := open(b)
	leaf := chain(b, s, "c", long)
	for _, limit := range []int{200, 0} {
		b.Run(fmt.Sprintf("last=%d", limit), func(b *testing.B) {
			for b.Loop() {
				view(b, s, func(tx scene.Tx) error {
					steps, err := tx.Messages.Path(leaf, limit)
					if want := max(limit, long*(1-min(limit, 1))); len(steps) != want {
						b.Fatalf("%d steps", len(steps))
					}
					return err
				})
			}
		})
	}
}

func BenchmarkDeleteChain(b *testing.B) {
	s := open(b)
	for b.Loop() {
		b.StopTimer()
		chain(b, s, "c", long)
		b.StartTimer()
		update(b, s, func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
	}
}

func BenchmarkDeleteMessages(b *testing.B) {
	s := open(b)
	for b.Loop() {
		b.StopTimer()
		leaf := chain(b, s, "c", long)
		b.StartTimer()
		update(b, s, func(tx scene.Tx) error { return tx.Messages.Delete([]int64{leaf - long + 1}) })
		b.StopTimer()
		update(b, s, func(tx scene.Tx) error { return tx.Conversations.Delete("c") })
		b.StartTimer()
	}
}

func BenchmarkFork(b *testing.B) {
	s := open(b)
	chain(b, s, "c", 5000)
	service := scene.New(scene.Config{Store: s, Now: func() time.Time { return at(0) }, Rand: rand.NewChaCha8([32]byte{1})})
	for b.Loop() {
		if _, err := service.Checkpoint(context.Background(), "c", ""); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOverviews(b *testing.B) {
	s := open(b)
	for i := range 1000 {
		chain(b, s, fmt.Sprint("c", i), 50)
	}
	for b.Loop() {
		view(b, s, func(tx scene.Tx) error {
			all, err := tx.Conversations.Overviews()
			if len(all) != 1000 {
				b.Fatalf("%d conversations", len(all))
			}
			return err
		})
	}
}

// BenchmarkSaveCalls keeps the five calls of one reply after 2,000 messages,
// of which the last few are new, with twenty exchanges before it.
func BenchmarkSaveCalls(b *testing.B) {
	s := open(b)
	leaf := chain(b, s, "c", 1)
	service := scene.New(scene.Config{Store: s, Now: func() time.Time { return at(0) }, Rand: rand.NewChaCha8([32]byte{1})})
	var history []scene.CallMessage
	for i := range 2000 {
		history = append(history, scene.CallMessage{Role: "user", Text: strings.Repeat(fmt.Sprint("line ", i), 100)})
	}
	n := 0
	for b.Loop() {
		n++
		var calls []scene.Call
		for i := range 5 {
			calls = append(calls, scene.Call{Messages: append(history[:len(history):len(history)], scene.CallMessage{Text: fmt.Sprint(n, i)})})
		}
		if err := service.SaveCalls(context.Background(), "c", leaf, fmt.Sprint(n), calls); err != nil {
			b.Fatal(err)
		}
	}
}
