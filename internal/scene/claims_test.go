package scene_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// claim takes a conversation for an exchange that ignores being stopped.
func claim(t failing, s *scene.Service, id string) (release func()) {
	t.Helper()
	c, err := s.Claim(context.Background(), id, func() {})
	return ok(t, c, err).Release
}

// exchange claims a conversation and gives it back some time after it is
// stopped.
func exchange(t failing, s *scene.Service, id string, dies time.Duration) (stopped *atomic.Bool) {
	t.Helper()
	stop := make(chan struct{})
	once := sync.OnceFunc(func() { close(stop) })
	c, err := s.Claim(context.Background(), id, once)
	ok(t, c, err)
	stopped = &atomic.Bool{}
	go func() {
		<-stop
		stopped.Store(true)
		time.Sleep(dies)
		c.Release()
	}()
	return stopped
}

// changes are the calls that must not happen beside an exchange.
func changes(s *scene.Service, id string, mid int64) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"edit":    func(ctx context.Context) error { return s.EditMessage(ctx, id, mid, "new") },
		"switch":  func(ctx context.Context) error { _, err := s.SwitchBranch(ctx, id, mid); return err },
		"convert": func(ctx context.Context) error { _, _, err := s.ConvertToGroup(ctx, id); return err },
		"delete":  func(ctx context.Context) error { _, err := s.DeleteMessage(ctx, id, mid); return err },
	}
}

func TestOneClaimAtATime(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	release := claim(t, s, "a")
	_, err := s.Claim(ctx, "a", func() {})
	refuse(t, err, fault.Busy)
	claim(t, s, "b")
	release()
	second := claim(t, s, "a")
	release() // again, and too late: it is somebody else's now
	_, err = s.Claim(ctx, "a", func() {})
	refuse(t, err, fault.Busy)
	second()

	var won atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := s.Claim(ctx, "c", func() {}); err == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d exchanges have the claim", won.Load())
	}
}

func TestChangesWaitForTheExchange(t *testing.T) {
	for _, name := range []string{"edit", "switch", "convert", "delete"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t)
				c, err := s.CreateConversation(t.Context(), scene.NewConversation{})
				ok(t, c, err)
				change := changes(s, c.ID, say(t, s, c.ID, "Hi.", nil))[name]

				release := claim(t, s, c.ID)
				start := time.Now()
				time.AfterFunc(14*time.Second, release)
				if err := change(t.Context()); err != nil {
					t.Error(err)
				}
				if waited := time.Since(start); waited != 14*time.Second {
					t.Errorf("waited %v", waited)
				}
			})
		})
	}
}

func TestChangesDoNotWaitForEver(t *testing.T) {
	for _, name := range []string{"edit", "switch", "convert", "delete"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newService(t)
				c, err := s.CreateConversation(t.Context(), scene.NewConversation{})
				ok(t, c, err)
				change := changes(s, c.ID, say(t, s, c.ID, "Hi.", nil))[name]
				release := claim(t, s, c.ID)
				start := time.Now()
				refuse(t, change(t.Context()), fault.Busy)
				if waited := time.Since(start); waited != 15*time.Second {
					t.Errorf("waited %v", waited)
				}

				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := change(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				if got := shown(t, s, c.ID); len(got) != 1 || got[0] != "Hi." {
					t.Errorf("%q", got)
				}
				release()
				if err := change(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestSettingsDoNotWait: what a running exchange has a snapshot of is changed
// at once.
func TestSettingsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		ctx := t.Context()
		c, m := addGroup(t, s, "Anna")
		addWorld(t, s, scene.World{Name: "w"})
		p := propose(t, s, c.ID, m[0].ID, "x")
		defer claim(t, s, c.ID)()
		start := time.Now()
		_, err := s.ChangeConversation(ctx, c.ID, scene.ConversationChange{Title: scene.To("New")}, nil)
		ok(t, 0, err)
		_, _, err = s.SetMembers(ctx, c.ID, specs(m...), nil)
		ok(t, 0, err)
		_, err = s.SetWorld(ctx, c.ID, "w", true)
		ok(t, 0, err)
		_, err = s.ApplyProposal(ctx, c.ID, p.ID)
		ok(t, 0, err)
		fork(t, s, c.ID, "checkpoint")
		fork(t, s, c.ID, "compress")
		fork(t, s, c.ID, "new")
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestDeletingStopsTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		ctx := t.Context()
		c, _ := addGroup(t, s, "Anna")
		stopped := exchange(t, s, c.ID, 3*time.Second)
		done := make(chan error)
		go func() { done <- s.DeleteConversation(ctx, c.ID) }()
		synctest.Wait()
		if !stopped.Load() {
			t.Error("the exchange was not stopped")
		}
		conversation(t, s, c.ID) // still there for what the exchange saves
		_, err := s.Claim(ctx, c.ID, func() {})
		refuse(t, err, fault.Busy)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		_, err = s.Conversation(ctx, c.ID)
		refuse(t, err, fault.NotFound)
		claim(t, s, c.ID)() // nothing of the deletion is left
	})
}

func TestDeletingGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		ctx := t.Context()
		root, _ := addGroup(t, s, "Anna")
		f := fork(t, s, root.ID, "new")
		free := exchange(t, s, f.ID, 0)
		release := claim(t, s, root.ID)
		refuse(t, s.DeleteConversation(ctx, root.ID), fault.Busy)
		_, err := s.DeleteGroup(ctx, root.ID)
		refuse(t, err, fault.Busy)
		if !free.Load() {
			t.Error("the fork's exchange was not stopped")
		}
		conversation(t, s, root.ID)
		conversation(t, s, f.ID)
		claim(t, s, f.ID)()
		release()
		n, err := s.DeleteGroup(ctx, root.ID)
		if ok(t, n, err); n != 2 {
			t.Errorf("deleted %d", n)
		}
	})
}

// TestNothingBeginsInWhatIsBeingDeleted, not even where nothing had to be
// stopped.
func TestNothingBeginsInWhatIsBeingDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		ctx := t.Context()
		root, _ := addGroup(t, s, "Anna")
		idle := fork(t, s, root.ID, "new")
		exchange(t, s, root.ID, time.Second)
		done := make(chan error)
		go func() {
			_, err := s.DeleteGroup(ctx, root.ID)
			done <- err
		}()
		synctest.Wait()
		start := time.Now()
		_, err := s.Claim(ctx, idle.ID, func() {})
		refuse(t, err, fault.Busy)
		if waited := time.Since(start); waited != 0 {
			t.Errorf("waited %v", waited)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestDeletingSeesForksMadeMeanwhile: a fork that is made while the group is
// waiting for an exchange goes with it, and so does what runs in the fork.
func TestDeletingSeesForksMadeMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		ctx := t.Context()
		root, _ := addGroup(t, s, "Anna")
		exchange(t, s, root.ID, time.Second)
		done := make(chan int)
		go func() {
			n, err := s.DeleteGroup(ctx, root.ID)
			if err != nil {
				t.Error(err)
			}
			done <- n
		}()
		synctest.Wait()
		late := fork(t, s, root.ID, "new")
		stopped := exchange(t, s, late.ID, time.Second)
		if n := <-done; n != 2 || !stopped.Load() {
			t.Errorf("deleted %d; the fork's exchange stopped: %v", n, stopped.Load())
		}
	})
}

// Families are listed with the root last, so two deletions may name the same
// conversations in different orders. Neither waits for what the other holds.
func TestDeletingTwiceAtOnce(t *testing.T) {
	for range 20 { // it depends on who wakes first
		synctest.Test(t, func(t *testing.T) {
			s := newService(t)
			root, _ := addGroup(t, s, "Anna")
			next := fork(t, s, root.ID, "next")
			fork(t, s, root.ID, "last")
			exchange(t, s, next.ID, time.Second)
			gone := make(chan error, 2)
			remove := func() { _, err := s.DeleteGroup(t.Context(), next.ID); gone <- err }
			go remove()
			synctest.Wait()
			if err := s.DeleteConversation(t.Context(), root.ID); err != nil {
				t.Fatal(err)
			}
			go remove()
			for range 2 {
				if err := <-gone; err != nil && fault.CodeOf(err) != fault.NotFound {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestClaimWaitsForAChange: a change is no exchange, so that sending right
// after an edit is not refused.
func TestClaimWaitsForAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		gate := make(chan struct{})
		s := serviceOn(slow{store, gate})
		c, _ := addGroup(t, serviceOn(store), "Anna")
		mid := say(t, serviceOn(store), c.ID, "Hi.", nil)
		edited := make(chan error, 1)
		go func() { edited <- s.EditMessage(t.Context(), c.ID, mid, "new") }()
		synctest.Wait() // the edit holds the conversation

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Claim(ctx, c.ID, func() {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		claimed := make(chan error, 1)
		go func() {
			_, err := s.Claim(t.Context(), c.ID, func() {})
			claimed <- err
		}()
		synctest.Wait()
		close(gate)
		if err := errors.Join(<-edited, <-claimed); err != nil {
			t.Error(err)
		}
	})
}

// slow is a store whose changes wait until gate is closed.
type slow struct {
	scene.Store
	gate chan struct{}
}

func (s slow) Update(ctx context.Context, fn func(scene.Tx) error) error {
	<-s.gate
	return s.Store.Update(ctx, fn)
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		one := exchange(t, s, "a", 2*time.Second)
		two := exchange(t, s, "b", 3*time.Second)
		start := time.Now()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !one.Load() || !two.Load() || time.Since(start) != 3*time.Second {
			t.Errorf("stopped: %v, %v, after %v", one.Load(), two.Load(), time.Since(start))
		}
		_, err := s.Claim(t.Context(), "c", func() {})
		refuse(t, err, fault.Busy)
	})
}

func TestCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		defer claim(t, s, "a")()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestYield: an exchange that has done what it was asked for makes way for the
// next one, and only for exchanges.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		c, _ := addGroup(t, s, "Anna")
		mid := say(t, s, c.ID, "Hi.", nil)
		stopped := make(chan struct{})
		first, err := s.Claim(t.Context(), c.ID, sync.OnceFunc(func() { close(stopped) }))
		ok(t, first, err)
		_, err = s.Claim(t.Context(), c.ID, func() {})
		refuse(t, err, fault.Busy)

		first.Yield()
		edited := make(chan error)
		go func() { edited <- s.EditMessage(t.Context(), c.ID, mid, "new") }()
		synctest.Wait()
		if !s.Running(c.ID) {
			t.Error("it has the conversation no more")
		}
		select {
		case <-stopped:
			t.Error("an edit stopped it")
		default:
		}
		go func() {
			<-stopped
			time.Sleep(3 * time.Second)
			first.Release()
		}()
		var won, busy atomic.Int32
		var all sync.WaitGroup
		start := time.Now()
		for range 5 { // one of them, and it does not yield
			all.Go(func() {
				_, err := s.Claim(t.Context(), c.ID, func() {})
				if err == nil {
					won.Add(1)
				} else if fault.CodeOf(err) == fault.Busy {
					busy.Add(1)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || busy.Load() != 4 || time.Since(start) != 3*time.Second {
			t.Errorf("%d won, %d were busy, after %v", won.Load(), busy.Load(), time.Since(start))
		}
		time.Sleep(patience)
		<-edited
	})
}

const patience = 15 * time.Second

// TestYieldToNobody: what does not end although it is told is not waited for.
func TestYieldToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		first, err := s.Claim(t.Context(), "a", func() {})
		ok(t, first, err)
		first.Yield()
		start := time.Now()
		_, err = s.Claim(t.Context(), "a", func() {})
		refuse(t, err, fault.Busy)
		if waited := time.Since(start); waited != patience {
			t.Errorf("waited %v", waited)
		}
		first.Release()
		second, err := s.Claim(t.Context(), "a", func() {})
		ok(t, second, err)
		first.Yield() // too late: it is somebody else's now
		_, err = s.Claim(t.Context(), "a", func() {})
		refuse(t, err, fault.Busy)
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		c, _ := addGroup(t, s, "Anna")
		stop := func(active, settled bool, after time.Duration) {
			t.Helper()
			start := time.Now()
			a, d, err := s.Stop(t.Context(), c.ID)
			if ok(t, 0, err); a != active || d != settled || time.Since(start) != after {
				t.Errorf("active %v, settled %v after %v", a, d, time.Since(start))
			}
		}
		stop(false, true, 0)
		if s.Running(c.ID) {
			t.Error("something runs")
		}
		stopped := exchange(t, s, c.ID, 14*time.Second)
		if !s.Running(c.ID) {
			t.Error("nothing runs")
		}
		stop(true, true, 14*time.Second)
		if !stopped.Load() || s.Running(c.ID) {
			t.Error("it runs on")
		}
		exchange(t, s, c.ID, 20*time.Second)
		stop(true, false, patience)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if active, settled, err := s.Stop(ctx, c.ID); !active || settled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("active %v, settled %v, %v", active, settled, err)
		}
		_, _, err := s.Stop(t.Context(), "x")
		refuse(t, err, fault.NotFound)
		stop(true, true, 4*time.Second) // the rest of the twenty
	})
}

// TestStopIsForExchanges: a change is short, and nothing that could be stopped.
func TestStopIsForExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		gate := make(chan struct{})
		s := serviceOn(slow{store, gate})
		c, _ := addGroup(t, serviceOn(store), "Anna")
		mid := say(t, serviceOn(store), c.ID, "Hi.", nil)
		edited := make(chan error, 1)
		go func() { edited <- s.EditMessage(t.Context(), c.ID, mid, "new") }()
		synctest.Wait() // the edit holds the conversation
		active, settled, err := s.Stop(t.Context(), c.ID)
		if ok(t, 0, err); active || !settled || s.Running(c.ID) {
			t.Errorf("active %v, settled %v", active, settled)
		}
		close(gate)
		if err := <-edited; err != nil {
			t.Error(err)
		}
	})
}
