package reply_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
)

// step is what a scripted model does next: wait, then yield.
type step struct {
	wait  time.Duration
	chunk llm.Chunk
	err   error
}

// model plays one script per call and keeps what it was asked. Like a wire it
// ends with ctx's cause, or, when rude, with an error of its own.
type model struct {
	scripts  [][]step
	requests []llm.Request
	open     int // streams that have not ended
	rude     bool
}

func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	m.requests = append(m.requests, req)
	script := m.scripts[min(len(m.requests), len(m.scripts))-1]
	return func(yield func(llm.Chunk, error) bool) {
		m.open++
		defer func() { m.open-- }()
		for _, s := range script {
			if s.wait > 0 {
				select {
				case <-time.After(s.wait):
				case <-ctx.Done():
				}
			}
			if err := context.Cause(ctx); err != nil {
				if m.rude {
					err = &llm.Error{Kind: llm.Unreachable, Message: "connection closed"}
				}
				yield(llm.Chunk{}, err)
				return
			}
			if !yield(s.chunk, s.err) || s.err != nil {
				return
			}
		}
	}
}

func text(s string) step        { return step{chunk: llm.Chunk{Text: s}} }
func think(s string) step       { return step{chunk: llm.Chunk{Reasoning: s}} }
func replay(k, v string) step   { return step{chunk: llm.Chunk{Replay: map[string]any{k: v}}} }
func finish(f llm.Finish) step  { return step{chunk: llm.Chunk{Finish: f}} }
func fail(k llm.Kind) step      { return step{err: &llm.Error{Kind: k, Provider: "p", Message: "sorry"}} }
func wait(d time.Duration) step { return step{wait: d} } // then a keep-alive
func later(k llm.Kind, d int) step {
	s := fail(k)
	s.err.(*llm.Error).RetryAfter = time.Duration(d) * time.Second
	return s
}
func usage(in, out int) step {
	return step{chunk: llm.Chunk{Usage: &llm.Usage{Input: in, Output: out}}}
}
func call(i int, id, name, args string) step {
	return step{chunk: llm.Chunk{Tool: &llm.ToolDelta{Index: i, ID: id, Name: name, Arguments: args}}}
}

var stop = finish(llm.FinishStop)

// tools answers calls with their own arguments.
type tools struct {
	calls [][]llm.ToolCall
	on    func()
	bring func([]llm.ToolCall) []reply.Result
}

func (t *tools) Call(_ context.Context, calls []llm.ToolCall) []reply.Result {
	t.calls = append(t.calls, calls)
	if t.on != nil {
		t.on()
	}
	if t.bring != nil {
		return t.bring(calls)
	}
	var results []reply.Result
	for _, c := range calls {
		results = append(results, reply.Result{Call: c.ID, Name: c.Name, Content: "ran " + string(c.Arguments)})
	}
	return results
}

var (
	_ llm.Model   = (*model)(nil)
	_ reply.Tools = (*tools)(nil)
)

// show makes one line of an event.
func show(e reply.Event, err error) string {
	if err != nil {
		if le, ok := errors.AsType[*llm.Error](err); ok {
			return fmt.Sprintf("error %s %s", le.Kind, le.Error())
		}
		return "error " + err.Error()
	}
	if e.Record != nil {
		return showRecord(*e.Record)
	}
	switch d := e.Delta; {
	case d.Text != "":
		return fmt.Sprintf("text %q", d.Text)
	case d.Reasoning != "":
		return fmt.Sprintf("think %q", d.Reasoning)
	case d.Tool != "":
		return "tool " + d.Tool
	default:
		return "notice " + d.Notice
	}
}

func showRecord(r reply.Record) string {
	var b strings.Builder
	if r.Answer == nil {
		b.WriteString("RESULTS")
		for _, res := range r.Results {
			fmt.Fprintf(&b, " %s/%s %q", res.Call, res.Name, res.Content)
			if res.IsError {
				b.WriteString(" error")
			}
		}
		return b.String()
	}
	b.WriteString("ANSWER")
	for _, p := range r.Answer.Parts {
		fmt.Fprintf(&b, " %s %q", p.Kind, p.Text)
		if p.Replay != nil {
			fmt.Fprintf(&b, " %v", p.Replay)
		}
	}
	for _, c := range r.Answer.Calls {
		fmt.Fprintf(&b, " call %s/%s %s", c.ID, c.Name, c.Arguments)
	}
	if r.Answer.Incomplete != reply.Whole {
		fmt.Fprintf(&b, " incomplete=%s", r.Answer.Incomplete)
	}
	if r.Answer.Usage != (llm.Usage{}) {
		fmt.Fprintf(&b, " usage=%d/%d", r.Answer.Usage.Input, r.Answer.Usage.Output)
	}
	return b.String()
}
