package reply

import (
	"context"
	"errors"
	"iter"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
)

// DefaultCycles is how often one reply may run tools when Limits do not say.
const DefaultCycles = 50

// Limits bound a reply. The zero value of each field but Cycles means: none.
type Limits struct {
	Retries    int           // of one model call, before its first delta
	Backoff    time.Duration // wait before the first retry; doubles with each
	MaxBackoff time.Duration // longest wait, also when the provider asks for more
	// Idle is the longest silence of a stream; keep-alives are no silence.
	// Before the first chunk it is tenfold: a model on one's own machine reads
	// a long history for minutes, and asking again would only begin anew.
	Idle     time.Duration
	MaxBytes int // of one answer: text, reasoning, tool calls and what is Untold
	Cycles   int // batches of tool calls in one reply; 0 means DefaultCycles
}

// Speaker replies. Its fields are only read.
type Speaker struct {
	Model llm.Model
	// Prompt builds the request anew before every model call, from what is
	// durable by then. Its error ends the reply.
	Prompt func(ctx context.Context) (Prompt, error)
	Tools  Tools // nil: every call is answered with "unknown tool"
	Limits Limits
}

// Reply yields deltas as they stream and a record after each answer and each
// batch of tool results; the caller makes a record durable before it goes on,
// because the next prompt is built on it. It ends after an answer without
// calls, or with one error:
//   - *llm.Error as the model reported it, or of kind TimedOut, TooLong, Broken,
//     Empty or Rejected (a refusal);
//   - ctx's cause; a tool batch that was running is recorded first;
//   - *fault.Error (Invalid) when the limit on cycles is reached;
//   - Prompt's error.
//
// Everything runs in the caller's goroutine. Leaving the loop stops all.
func (s Speaker) Reply(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := s.reply(ctx, func(e Event) bool { return yield(e, nil) }); err != nil && err != errLeft {
			yield(Event{}, err)
		}
	}
}

// sink takes an event and tells whether more are wanted.
type sink func(Event) bool

// errLeft says that the caller has left the loop: nothing may be yielded any
// more.
var errLeft = errors.New("the caller left the loop")

func (s Speaker) reply(ctx context.Context, emit sink) error {
	limit := s.Limits.Cycles
	if limit <= 0 {
		limit = DefaultCycles
	}
	for cycle := 0; ; cycle++ {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		prompt, err := s.Prompt(ctx)
		if err != nil {
			return err
		}
		if cycle > 0 {
			// A tool that stays forced would be called for ever.
			switch prompt.Request.ToolChoice.Mode {
			case llm.ToolRequired, llm.ToolNamed:
				prompt.Request.ToolChoice = llm.ToolChoice{Mode: llm.ToolAuto}
			}
		}
		answer, unfit, err := s.answer(ctx, prompt, emit)
		if err != nil || len(answer.Calls) == 0 {
			return err
		}
		if cycle == limit {
			if !emit(Event{Record: &Record{Results: notRun(answer.Calls, limit)}}) {
				return errLeft
			}
			return fault.New(fault.Invalid, "the reply was stopped after %d batches of tool calls", limit).
				WithHint("resume it to let it go on, or raise the limit")
		}
		results := s.run(ctx, answer.Calls, unfit)
		if !emit(Event{Record: &Record{Results: results}}) {
			return errLeft
		}
	}
}

// answer makes one model call, with its retries, and records what it brought.
// unfit holds the reasons why calls, by id, must not be run.
func (s Speaker) answer(ctx context.Context, prompt Prompt, emit sink) (a *Answer, unfit map[string]string, err error) {
	c := newCall(prompt, s.Limits, emit)
	err = c.stream(ctx, s.Model)
	for attempt := 1; attempt <= s.Limits.Retries && c.mayRetry(err); attempt++ {
		wait := s.Limits.wait(attempt, err)
		if !emit(Event{Delta: Delta{Notice: retryNotice(err, attempt, s.Limits.Retries, wait)}}) {
			return nil, nil, errLeft
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, nil, err
		}
		c = newCall(prompt, s.Limits, emit)
		err = c.stream(ctx, s.Model)
	}
	if err == errLeft {
		return nil, nil, err
	}
	if !c.release() {
		return nil, nil, errLeft
	}
	a, unfit, err = c.finish(ctx, err)
	if notice := c.droppedNotice(a); notice != "" && !emit(Event{Delta: Delta{Notice: notice}}) {
		return nil, nil, errLeft
	}
	if a != nil && !emit(Event{Record: &Record{Answer: a}}) {
		return nil, nil, errLeft
	}
	return a, unfit, err
}
