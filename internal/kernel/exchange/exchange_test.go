package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
	"jp/internal/lib/fault"
)

// act is one thing that a scripted speaker yields.
type act struct {
	event reply.Event
	err   error
}

func says(s string) act { return act{event: reply.Event{Delta: reply.Delta{Text: s}}} }
func keeps(s string, why reply.Incomplete) act {
	return act{event: reply.Event{Record: &reply.Record{Answer: &reply.Answer{
		Parts: []reply.Part{{Kind: reply.Text, Text: s}}, Incomplete: why}}}}
}
func fails(err error) act { return act{err: err} }

// room is responder and ledger; it logs what happens in one list with what is
// announced.
type room struct {
	t       *testing.T
	scripts map[string][]act
	refuse  string // text that the ledger refuses
	log     []string
}

var (
	_ exchange.Responder = (*room)(nil)
	_ exchange.Ledger    = (*room)(nil)
)

var errRefused = fault.New(fault.Storage, "disk full")

func (r *room) Respond(ctx context.Context, slot exchange.Slot) iter.Seq2[reply.Event, error] {
	return func(yield func(reply.Event, error) bool) {
		defer func() { r.log = append(r.log, slot.Speaker+" ends") }()
		for _, a := range r.scripts[slot.Speaker] {
			if !yield(a.event, a.err) || a.err != nil {
				return
			}
		}
	}
}

func (r *room) Commit(ctx context.Context, slot exchange.Slot, rec reply.Record) error {
	if ctx.Err() != nil {
		r.t.Error("a commit can be cut short")
	}
	text := rec.Answer.Parts[0].Text
	r.log = append(r.log, fmt.Sprintf("%s commits %q", slot.Speaker, text))
	if text == r.refuse {
		return errRefused
	}
	return nil
}

func (r *room) announce(e exchange.Event) {
	line := fmt.Sprintf("%s %s %d/%d", e.Slot.Speaker, e.Kind, e.Index+1, e.Total)
	switch e.Kind {
	case exchange.Streamed:
		line += fmt.Sprintf(" %q", e.Delta.Text)
	case exchange.Saved:
		line += fmt.Sprintf(" %q%s", e.Record.Answer.Parts[0].Text, e.Record.Answer.Incomplete)
	case exchange.Failed:
		line += " " + e.Err.Error()
	}
	if e.Kind != exchange.Failed && e.Err != nil || e.Kind != exchange.Saved && e.Record.Answer != nil {
		r.t.Errorf("%s carries what is not its own: %+v", e.Kind, e)
	}
	r.log = append(r.log, line)
}

func plan(names ...string) []exchange.Slot {
	var slots []exchange.Slot
	for _, n := range names {
		slots = append(slots, exchange.Slot{Speaker: n, Cue: "as " + n})
	}
	return slots
}

func TestRun(t *testing.T) {
	cut := &llm.Error{Kind: llm.Broken, Message: "cut"}
	whole := func(s string) []act { return []act{says(s), keeps(s, reply.Whole)} }
	for _, c := range []struct {
		name    string
		plan    []exchange.Slot
		second  []act // of b; a and c are always whole
		refuse  string
		want    []string
		stopped *exchange.Stopped
	}{
		{name: "nobody"},
		{name: "one", plan: plan("a"), want: []string{
			"a started 1/1", `a streamed 1/1 "A"`, `a commits "A"`, `a saved 1/1 "A"`, "a ends", "a finished 1/1"}},
		{name: "two", plan: plan("c", "a"), want: []string{
			"c started 1/2", `c streamed 1/2 "C"`, `c commits "C"`, `c saved 1/2 "C"`, "c ends", "c finished 1/2",
			"a started 2/2", `a streamed 2/2 "A"`, `a commits "A"`, `a saved 2/2 "A"`, "a ends", "a finished 2/2"}},
		{name: "three, the second with several records", plan: plan("a", "b", "c"),
			second: []act{says("B"), keeps("B1", reply.Whole), keeps("B2", reply.Length)}, want: []string{
				"a started 1/3", `a streamed 1/3 "A"`, `a commits "A"`, `a saved 1/3 "A"`, "a ends", "a finished 1/3",
				"b started 2/3", `b streamed 2/3 "B"`, `b commits "B1"`, `b saved 2/3 "B1"`, `b commits "B2"`, `b saved 2/3 "B2"length`, "b ends", "b finished 2/3",
				"c started 3/3", `c streamed 3/3 "C"`, `c commits "C"`, `c saved 3/3 "C"`, "c ends", "c finished 3/3"}},
		{name: "the same speaker twice", plan: plan("a", "a"), want: []string{
			"a started 1/2", `a streamed 1/2 "A"`, `a commits "A"`, `a saved 1/2 "A"`, "a ends", "a finished 1/2",
			"a started 2/2", `a streamed 2/2 "A"`, `a commits "A"`, `a saved 2/2 "A"`, "a ends", "a finished 2/2"}},
		{name: "the second of three fails with nothing", plan: plan("a", "b", "c"), second: []act{fails(cut)}, want: []string{
			"a started 1/3", `a streamed 1/3 "A"`, `a commits "A"`, `a saved 1/3 "A"`, "a ends", "a finished 1/3",
			"b started 2/3", "b ends", "b failed 2/3 cut"},
			stopped: &exchange.Stopped{Slot: plan("b")[0], Remaining: plan("c"), Err: cut}},
		{name: "the second of three fails with a part", plan: plan("a", "b", "c"),
			second: []act{says("B"), keeps("B", reply.ByError), fails(cut)}, want: []string{
				"a started 1/3", `a streamed 1/3 "A"`, `a commits "A"`, `a saved 1/3 "A"`, "a ends", "a finished 1/3",
				"b started 2/3", `b streamed 2/3 "B"`, `b commits "B"`, `b saved 2/3 "B"error`, "b ends", "b failed 2/3 cut"},
			stopped: &exchange.Stopped{Slot: plan("b")[0], Remaining: plan("c"), Err: cut}},
		{name: "the last fails", plan: plan("a", "b"), second: []act{fails(cut)}, want: []string{
			"a started 1/2", `a streamed 1/2 "A"`, `a commits "A"`, `a saved 1/2 "A"`, "a ends", "a finished 1/2",
			"b started 2/2", "b ends", "b failed 2/2 cut"},
			stopped: &exchange.Stopped{Slot: plan("b")[0], Remaining: []exchange.Slot{}, Err: cut}},
		{name: "what could not be saved is not announced", plan: plan("a", "c"), refuse: "A", want: []string{
			"a started 1/2", `a streamed 1/2 "A"`, `a commits "A"`, "a ends", "a failed 1/2 disk full"},
			stopped: &exchange.Stopped{Slot: plan("a")[0], Remaining: plan("c"), Err: errRefused}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &room{t: t, refuse: c.refuse, scripts: map[string][]act{"a": whole("A"), "b": c.second, "c": whole("C")}}
			err := exchange.Run(t.Context(), c.plan, r, r, r.announce)
			if diff := cmp.Diff(c.want, r.log); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if c.stopped == nil {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			got, ok := errors.AsType[*exchange.Stopped](err)
			if !ok || got.Err != c.stopped.Err || !errors.Is(err, c.stopped.Err) {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(c.stopped.Remaining, got.Remaining); diff != "" || got.Slot != c.stopped.Slot {
				t.Errorf("stopped at %v, remaining %s", got.Slot, diff)
			}
			if fault.CodeOf(err) != fault.CodeOf(c.stopped.Err) {
				t.Errorf("code %s", fault.CodeOf(err))
			}
		})
	}
}

func TestStoppedBeforeASlot(t *testing.T) {
	cause := errors.New("by hand")
	for _, at := range []string{"a", ""} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := &room{t: t, scripts: map[string][]act{"a": {keeps("A", reply.Whole)}}}
		if at == "" {
			cancel(cause)
		}
		err := exchange.Run(ctx, plan("a", "b", "c"), r, r, func(e exchange.Event) {
			r.announce(e)
			if e.Kind == exchange.Finished && e.Slot.Speaker == at {
				cancel(cause)
			}
		})
		cancel(nil)
		got, ok := errors.AsType[*exchange.Stopped](err)
		if !ok || got.Err != cause {
			t.Fatalf("error %v", err)
		}
		want, next, remaining := []string(nil), "a", 2
		if at == "a" {
			want, next, remaining = []string{"a started 1/3", `a commits "A"`, `a saved 1/3 "A"`, "a ends", "a finished 1/3"}, "b", 1
		}
		if diff := cmp.Diff(want, r.log); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got.Slot.Speaker != next || len(got.Remaining) != remaining {
			t.Errorf("stopped before %q, then %v", got.Slot.Speaker, got.Remaining)
		}
	}
}

// A stop within a reply: the part is still saved, with a context that the stop
// does not reach, and nobody else is started.
func TestStoppedWithinAReply(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &room{t: t, scripts: map[string][]act{
		"a": {says("A"), keeps("A", reply.Interrupted), fails(context.Canceled)},
	}}
	err := exchange.Run(ctx, plan("a", "b"), r, r, func(e exchange.Event) {
		r.announce(e)
		if e.Kind == exchange.Streamed {
			cancel()
		}
	})
	want := []string{"a started 1/2", `a streamed 1/2 "A"`, `a commits "A"`, `a saved 1/2 "A"interrupted`, "a ends", "a failed 1/2 context canceled"}
	if diff := cmp.Diff(want, r.log); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("code %s", fault.CodeOf(err))
	}
}

// A reply that was whole before the stop is whole.
func TestStoppedAtTheEndOfAReply(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &room{t: t, scripts: map[string][]act{"a": {keeps("A", reply.Whole)}}}
	err := exchange.Run(ctx, plan("a"), r, r, func(e exchange.Event) {
		r.announce(e)
		cancel()
	})
	if err != nil || r.log[len(r.log)-1] != "a finished 1/1" {
		t.Errorf("error %v after %q", err, r.log)
	}
}
