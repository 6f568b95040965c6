package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// titles are those of all conversations.
func titles(tx scene.Tx) ([]string, error) {
	rows, err := tx.Conversations.All()
	return pluck(rows, func(c scene.Conversation) string { return c.Title }), err
}

// retitle sets the title of a conversation.
func retitle(tx scene.Tx, id, title string) error {
	c, err := tx.Conversations.Get(id)
	if err != nil {
		return err
	}
	c.Title = title
	return tx.Conversations.Save(c)
}

func commit(t *testing.T, s scene.Store) {
	runs := 0
	update(t, s, func(tx scene.Tx) error {
		runs++
		if err := tx.Conversations.Insert(group("c")); err != nil {
			return err
		}
		if err := retitle(tx, "c", "mine"); err != nil {
			return err
		}
		got, err := titles(tx)
		same(t, "a transaction reads its own writes", got, []string{"mine"})
		return err
	})
	if runs != 1 {
		t.Errorf("fn ran %d times", runs)
	}
	same(t, "after the commit", read(t, s, titles), []string{"mine"})
	if err := s.View(context.Background(), func(tx scene.Tx) error { return tx.Conversations.Delete("c") }); err == nil {
		t.Error("a View changed something")
	}
	same(t, "after a View", read(t, s, titles), []string{"mine"})
}

func rollback(t *testing.T, s scene.Store) {
	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Insert(group("c")) })
	work := func(tx scene.Tx) {
		err := all(
			func() error { return tx.Conversations.Insert(group("d")) },
			func() error { return retitle(tx, "c", "changed") },
			func() error { m := message("c", nil); return tx.Messages.Insert(&m) },
		)
		if err != nil {
			t.Error(err)
		}
	}
	mine := errors.New("mine")
	err := s.Update(context.Background(), func(tx scene.Tx) error { work(tx); return mine })
	if !errors.Is(err, mine) {
		t.Errorf("Update returned %v, not what fn did", err)
	}
	func() {
		defer func() {
			if got := recover(); got != "mine" {
				t.Errorf("the panic became %v", got)
			}
		}()
		_ = s.Update(context.Background(), func(tx scene.Tx) error { work(tx); panic("mine") })
	}()
	if err := s.View(context.Background(), func(scene.Tx) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("View returned %v, not what fn did", err)
	}
	same(t, "after an error and a panic", read(t, s, titles), []string{"The inn"})
	same(t, "messages", read(t, s, func(tx scene.Tx) ([]scene.Message, error) { return tx.Messages.Of("c") }), []scene.Message{})
	// The writer is free again.
	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Insert(group("d")) })
}

func snapshot(t *testing.T, s scene.Store) {
	update(t, s, func(tx scene.Tx) error { return insert(tx.Conversations, group("c"), group("d")) })
	view(t, s, func(tx scene.Tx) error {
		before, err := titles(tx)
		if err != nil {
			return err
		}
		update(t, s, func(other scene.Tx) error {
			if err := retitle(other, "c", "changed"); err != nil {
				return err
			}
			// Neither does a View see what is not committed.
			same(t, "during the change", read(t, s, titles), before)
			return other.Conversations.Delete("d")
		})
		again, err := titles(tx)
		same(t, "within the View", again, before)
		if err != nil {
			return err
		}
		_, err = tx.Conversations.Get("d")
		return err
	})
	same(t, "after it", read(t, s, titles), []string{"changed"})
}

func serial(t *testing.T, s scene.Store) {
	const writers, each = 16, 10
	c := group("c")
	c.Revision = 0
	update(t, s, func(tx scene.Tx) error { return tx.Conversations.Insert(c) })
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				err := s.Update(context.Background(), func(tx scene.Tx) error {
					c, err := tx.Conversations.Get("c")
					if err != nil {
						return err
					}
					c.Revision++
					return tx.Conversations.Save(c)
				})
				if err == nil {
					err = s.View(context.Background(), func(tx scene.Tx) error {
						_, err := tx.Conversations.Overviews()
						return err
					})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c = read(t, s, func(tx scene.Tx) (scene.Conversation, error) { return tx.Conversations.Get("c") })
	if c.Revision != writers*each {
		t.Errorf("%d of %d changes are there", c.Revision, writers*each)
	}
}

func cancelled(t *testing.T, s scene.Store) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	never := func(scene.Tx) error { t.Error("fn ran"); return nil }
	for name, run := range map[string]func(context.Context, func(scene.Tx) error) error{"View": s.View, "Update": s.Update} {
		wantInterrupted(t, name+" after the end", run(gone, never))
	}

	// The context ends after everything was written.
	for i := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		wantInterrupted(t, "Update", s.Update(ctx, func(tx scene.Tx) error {
			err := tx.Conversations.Insert(group(fmt.Sprint(i)))
			cancel()
			return err
		}))
	}
	same(t, "what is there", read(t, s, titles), []string{})

	// The context ends while another one holds the store.
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	update(t, s, func(tx scene.Tx) error {
		go func() { done <- s.Update(ctx, never) }()
		cancel()
		wantInterrupted(t, "a waiting Update", <-done)
		return tx.Conversations.Insert(group("c"))
	})
	same(t, "what is there", read(t, s, titles), []string{"The inn"})
}

func wantInterrupted(t *testing.T, what string, err error) {
	t.Helper()
	if fault.CodeOf(err) != fault.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("%s returned %v", what, err)
	}
}
