// Package exchange runs one request's replies: speakers answer one after
// another, each after the earlier ones' replies are durable, and nothing is
// announced as finished before it is.
//
// It knows neither models nor files. Who answers how is the Responder's
// matter, where replies are kept the Ledger's.
package exchange

import (
	"context"
	"fmt"
	"iter"

	"jp/internal/kernel/reply"
)

// Slot is a speaker to answer, with an optional one-line instruction.
type Slot struct {
	Speaker string
	Cue     string
}

// Responder produces one speaker's reply.
type Responder interface {
	// Respond yields deltas as they stream and records as they are finished;
	// a record is durable when the yield returns true. A non-nil error ends
	// the reply as failed; whatever is worth keeping was yielded before it.
	// Errors: *llm.Error, ctx's cause, and the responder's own set-up errors.
	Respond(ctx context.Context, slot Slot) iter.Seq2[reply.Event, error]
}

// Ledger keeps replies.
type Ledger interface {
	// Commit makes one record of slot's reply durable before it returns. It
	// must not be cut short by a stopped exchange: ctx carries no cancellation.
	// Errors: fault.Storage, and fault.Damaged when somebody damaged what is
	// kept meanwhile.
	Commit(ctx context.Context, slot Slot, rec reply.Record) error
}

// Kind says what an Event announces.
type Kind string

// The kinds of events, in the order in which an exchange announces them:
// Started, then Streamed and Saved in any mix, then Finished or Failed, for
// each slot; nothing follows a Failed. A slot that was not begun, because the
// exchange was stopped before it, is not announced at all.
const (
	Started  Kind = "started"
	Streamed Kind = "streamed"
	Saved    Kind = "saved"
	Finished Kind = "finished"
	Failed   Kind = "failed"
)

// Event is announced to whoever draws or forwards the exchange.
type Event struct {
	Kind   Kind
	Slot   Slot
	Index  int // 0-based place of the slot in the plan
	Total  int // slots in the plan
	Delta  reply.Delta
	Record reply.Record // of Saved
	Err    error        // of Failed
}

// Stopped is the error of an exchange that ended early. Earlier slots'
// replies are complete and durable.
type Stopped struct {
	Slot      Slot   // whose reply failed, was stopped or could not begin
	Remaining []Slot // those after it
	Err       error
}

func (s *Stopped) Error() string { return fmt.Sprintf("%s did not finish: %v", s.Slot.Speaker, s.Err) }
func (s *Stopped) Unwrap() error { return s.Err }

// Run answers every slot of plan in order and announces what happens, from the
// calling goroutine. An empty plan is rest: nothing is announced. It returns
// nil or a *Stopped.
func Run(ctx context.Context, plan []Slot, r Responder, l Ledger, announce func(Event)) error {
	for i, slot := range plan {
		at := Event{Slot: slot, Index: i, Total: len(plan)}
		err := context.Cause(ctx)
		if err == nil {
			err = runSlot(ctx, at, r, l, announce)
		}
		if err != nil {
			return &Stopped{Slot: slot, Remaining: plan[i+1:], Err: err}
		}
	}
	return nil
}

func runSlot(ctx context.Context, at Event, r Responder, l Ledger, announce func(Event)) error {
	say := func(k Kind, fill func(*Event)) {
		e := at
		e.Kind = k
		fill(&e)
		announce(e)
	}
	say(Started, func(*Event) {})
	err := answer(ctx, at.Slot, r, l, say)
	if err != nil {
		say(Failed, func(e *Event) { e.Err = err })
	} else {
		say(Finished, func(*Event) {})
	}
	return err
}

// answer commits a slot's records and announces each once it is durable.
func answer(ctx context.Context, slot Slot, r Responder, l Ledger, say func(Kind, func(*Event))) error {
	for ev, err := range r.Respond(ctx, slot) {
		if err != nil {
			return err
		}
		if ev.Record == nil {
			say(Streamed, func(e *Event) { e.Delta = ev.Delta })
			continue
		}
		if err := l.Commit(context.WithoutCancel(ctx), slot, *ev.Record); err != nil {
			return err
		}
		say(Saved, func(e *Event) { e.Record = *ev.Record })
	}
	return nil
}
