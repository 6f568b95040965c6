package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
)

// Behaviour is what Conformance wants a model to do.
type Behaviour string

// The behaviours. A model answers and fails as often as it is asked.
const (
	Answers Behaviour = "answers" // with some words, then FinishStop
	Calls   Behaviour = "calls"   // the tool of the request, which is forced
	Fails   Behaviour = "fails"   // without an answer
	Breaks  Behaviour = "breaks"  // within an answer
	Stalls  Behaviour = "stalls"  // within an answer, until the context ends
)

// Conformance holds a model to the contract of llm.Model. open returns a model
// that behaves as wanted, or nil when such a model never does. Each model made
// gets at most 8 requests.
func Conformance(t *testing.T, open func(*testing.T, Behaviour) llm.Model) {
	need := func(t *testing.T, b Behaviour) llm.Model {
		t.Helper()
		m := open(t, b)
		if m == nil {
			t.Skipf("this model never %s", b)
		}
		return m
	}
	t.Run("answers", func(t *testing.T) { testAnswers(t, need(t, Answers)) })
	t.Run("parallel", func(t *testing.T) { testParallel(t, need(t, Answers)) })
	t.Run("leaves early", func(t *testing.T) { testLeave(t, need(t, Answers)) })
	t.Run("context ended before", func(t *testing.T) { testCancel(t, need(t, Answers), 0) })
	t.Run("context ends within", func(t *testing.T) { testCancel(t, need(t, Answers), 1) })
	t.Run("context ends a stall", func(t *testing.T) { testCancel(t, need(t, Stalls), 1) })
	t.Run("calls", func(t *testing.T) { testCalls(t, need(t, Calls)) })
	t.Run("fails", func(t *testing.T) {
		if got := testFailure(t, need(t, Fails)); got.text != "" {
			t.Errorf("a failure with text %q", got.text)
		}
	})
	t.Run("breaks", func(t *testing.T) {
		if got := testFailure(t, need(t, Breaks)); got.text == "" {
			t.Error("what came before the break is missing")
		}
	})
}

// request is what the suite asks.
func request() llm.Request {
	return llm.Request{
		Model:    "conformance",
		System:   []string{"You are brief."},
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "Say something."}},
	}
}

// answer is a stream as it was seen.
type answer struct {
	text     string
	finish   llm.Finish
	finishes int
	after    int // chunks behind the finish
	usage    *llm.Usage
	calls    []llm.ToolCall
	args     []string
	err      error
	errs     int
	chunks   int
}

// read ranges over a stream; each is called after every chunk.
func read(ctx context.Context, t *testing.T, m llm.Model, req llm.Request, each func(chunks int)) answer {
	t.Helper()
	var a answer
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			a.err = err
			a.errs++
			continue
		}
		if a.finishes > 0 || a.errs > 0 {
			a.after++
		}
		a.chunks++
		a.text += c.Text
		if c.Usage != nil {
			a.usage = c.Usage
		}
		if c.Finish != "" {
			a.finish = c.Finish
			a.finishes++
		}
		if d := c.Tool; d != nil {
			a.fragment(t, *d)
		}
		if each != nil {
			each(a.chunks)
		}
	}
	if a.finishes+a.errs != 1 || a.after > 0 {
		t.Errorf("%d finishes, %d errors, %d chunks behind the end; want one end and nothing behind it", a.finishes, a.errs, a.after)
	}
	return a
}

func (a *answer) fragment(t *testing.T, d llm.ToolDelta) {
	t.Helper()
	switch {
	case d.Index == len(a.calls):
		if d.ID == "" || d.Name == "" {
			t.Errorf("the first fragment %+v lacks the id or the name", d)
		}
		a.calls = append(a.calls, llm.ToolCall{ID: d.ID, Name: d.Name})
		a.args = append(a.args, "")
	case d.Index < 0 || d.Index > len(a.calls):
		t.Fatalf("fragment %+v after %d calls", d, len(a.calls))
	}
	a.args[d.Index] += d.Arguments
}

func testAnswers(t *testing.T, m llm.Model) {
	req, same := request(), request()
	a := read(t.Context(), t, m, req, nil)
	if a.err != nil || a.finish != llm.FinishStop || strings.TrimSpace(a.text) == "" {
		t.Errorf("text %q, finish %q, error %v", a.text, a.finish, a.err)
	}
	if u := a.usage; u != nil && (u.Cached > u.Input || u.Reasoning > u.Output || u.Cached < 0 || u.Reasoning < 0) {
		t.Errorf("usage %+v: a part is larger than the whole", *u)
	}
	if diff := cmp.Diff(same, req); diff != "" {
		t.Errorf("the request was changed (-before +after):\n%s", diff)
	}
}

func testParallel(t *testing.T, m llm.Model) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if a := read(t.Context(), t, m, request(), nil); a.err != nil || a.text == "" {
				t.Errorf("text %q, error %v", a.text, a.err)
			}
		})
	}
	wg.Wait()
}

func testLeave(t *testing.T, m llm.Model) {
	for _, err := range m.Stream(t.Context(), request()) {
		if err != nil {
			t.Fatal(err)
		}
		break // a model that yields again panics here
	}
}

// testCancel ends the context after some chunks; its cause must come out.
func testCancel(t *testing.T, m llm.Model, after int) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if after == 0 {
		cancel(enough)
	}
	a := read(ctx, t, m, request(), func(chunks int) {
		if chunks == after {
			cancel(enough)
		}
	})
	if !errors.Is(a.err, enough) || a.chunks != after {
		t.Errorf("%d chunks and error %v; want %d and the context's cause", a.chunks, a.err, after)
	}
}

func testCalls(t *testing.T, m llm.Model) {
	req := request()
	req.Tools = []llm.Tool{{
		Name:   "note",
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}}
	req.ToolChoice = llm.ToolChoice{Mode: llm.ToolNamed, Name: "note"}
	a := read(t.Context(), t, m, req, nil)
	if a.err != nil || a.finish != llm.FinishToolCalls {
		t.Fatalf("finish %q, error %v", a.finish, a.err)
	}
	if len(a.calls) == 0 {
		t.Fatal("no tool was called")
	}
	for i, call := range a.calls {
		var args map[string]any
		if err := json.Unmarshal([]byte(a.args[i]), &args); err != nil || call.Name != "note" {
			t.Errorf("call of %q with %q: %v", call.Name, a.args[i], err)
		}
	}
}

func testFailure(t *testing.T, m llm.Model) answer {
	a := read(t.Context(), t, m, request(), nil)
	if e, ok := errors.AsType[*llm.Error](a.err); !ok || e.Kind == "" || e.Message == "" {
		t.Errorf("error %#v; want an *llm.Error with a kind and a message", a.err)
	}
	return a
}
