package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/lib/fanout"
)

func length(s string) int { return len(s) }

// drain reads to the end of a closed log.
func drain(t *testing.T, r *fanout.Reader[string]) []string {
	t.Helper()
	var got []string
	for {
		item, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		if item.Gap {
			got = append(got, "gap")
		} else {
			got = append(got, fmt.Sprintf("%d:%s", item.Seq, item.Value))
		}
	}
}

func TestReplay(t *testing.T) {
	l := fanout.New("x", 4, length)
	for _, s := range strings.Split("abcdef", "") {
		l.Append(s)
	}
	l.Close()
	if n := l.Append("late"); n != 0 {
		t.Errorf("a closed log took event %d", n)
	}
	for after, want := range map[int64][]string{
		0:  {"gap", "3:c", "4:d", "5:e", "6:f"},
		1:  {"gap", "3:c", "4:d", "5:e", "6:f"},
		2:  {"3:c", "4:d", "5:e", "6:f"},
		5:  {"6:f"},
		6:  nil,
		7:  {"gap", "3:c", "4:d", "5:e", "6:f"},
		-1: {"gap", "3:c", "4:d", "5:e", "6:f"},
	} {
		if diff := cmp.Diff(want, drain(t, l.After(after))); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", after, diff)
		}
		if ended := l.Ended(after); ended != (after >= 6) {
			t.Errorf("after %d: ended is %t", after, ended)
		}
	}
}

func TestOneLargeEventIsKept(t *testing.T) {
	l := fanout.New("x", 4, length)
	l.Append("a")
	l.Append("far too large")
	l.Close()
	if diff := cmp.Diff([]string{"gap", "2:far too large"}, drain(t, l.After(0))); diff != "" {
		t.Error(diff)
	}
}

// TestEveryReaderGetsEveryEvent runs writers and readers that come at any time.
func TestEveryReaderGetsEveryEvent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count, readers := rapid.IntRange(0, 60).Draw(rt, "events"), rapid.IntRange(1, 6).Draw(rt, "readers")
		l := fanout.New("x", 1<<20, length)
		got := make([][]string, readers)
		var all sync.WaitGroup
		for i := range readers {
			all.Go(func() { got[i] = drain(t, l.After(0)) })
		}
		var want []string
		for i := range count {
			s := fmt.Sprint(i)
			want = append(want, fmt.Sprintf("%d:%s", l.Append(s), s))
		}
		l.Close()
		all.Wait()
		for i := range readers {
			if diff := cmp.Diff(want, got[i]); diff != "" {
				rt.Fatalf("reader %d (-want +got):\n%s", i, diff)
			}
		}
	})
}

// TestSlowReader shows that nobody waits for a reader that does not read, and
// that it hears of its gap once.
func TestSlowReader(t *testing.T) {
	l := fanout.New("x", 3, length)
	slow := l.After(0)
	l.Append("a")
	if item, err := slow.Next(context.Background()); err != nil || item.Value != "a" {
		t.Fatal(item, err)
	}
	for range 1000 {
		l.Append("b")
	}
	l.Close()
	if diff := cmp.Diff([]string{"gap", "999:b", "1000:b", "1001:b"}, drain(t, slow)); diff != "" {
		t.Error(diff)
	}
}

func TestNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fanout.New("x", 100, length)
		r := l.After(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		got := make(chan string)
		go func() {
			item, _ := r.Next(t.Context())
			got <- item.Value
		}()
		synctest.Wait()
		l.Append("a")
		if v := <-got; v != "a" {
			t.Errorf("got %q", v)
		}
	})
}

func TestTopicsForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topics := fanout.NewTopics(10*time.Minute, 100, length)
		if topics.Of("c") != nil {
			t.Error("there is a log before there was one")
		}
		first := topics.Start("c", "one")
		time.Sleep(time.Hour)
		if topics.Of("c") != first {
			t.Error("a log that is written was dropped")
		}
		first.Close()
		second := topics.Start("c", "two")
		time.Sleep(10*time.Minute + time.Second)
		if topics.Of("c") != second || second.Name() != "two" {
			t.Error("the end of an old log dropped the new one")
		}
		second.Close()
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if topics.Of("c") != second {
			t.Error("a log was dropped early")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if topics.Of("c") != nil {
			t.Error("a log was kept too long")
		}
	})
}
