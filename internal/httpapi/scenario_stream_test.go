package httpapi_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"

	"jp/internal/lib/sse"
)

// client is one request of a script. Its answer can be looked at while it
// comes.
type client struct {
	path  string
	leave func()
	ended chan struct{}

	mu      sync.Mutex
	answer  *httptest.ResponseRecorder
	changed chan struct{}
}

func newClient() *client {
	return &client{answer: httptest.NewRecorder(), changed: make(chan struct{}), ended: make(chan struct{})}
}

// Header implements http.ResponseWriter.
func (c *client) Header() http.Header { return c.answer.Header() }

// WriteHeader implements http.ResponseWriter.
func (c *client) WriteHeader(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer.WriteHeader(code)
	c.wake()
}

// Write implements http.ResponseWriter.
func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.wake()
	return c.answer.Write(p)
}

// Flush implements http.Flusher.
func (c *client) Flush() {}

func (c *client) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *client) body() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.answer.Body.Bytes())
}

func (c *client) code() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answer.Code
}

// events are the events that came so far.
func (c *client) events() (list []sse.Event) {
	body := c.body()
	whole := bytes.LastIndex(body, []byte("\n\n")) + 1
	for e, err := range sse.Read(bytes.NewReader(body[:whole]), 0) {
		if err == nil && !e.Comment {
			list = append(list, e)
		}
	}
	return list
}

// tooLong is when a script has waited in vain.
const tooLong = 20 * time.Second

// await waits until a client's answer is as wanted.
func (c *client) await(ts *testscript.TestScript, what string, is func() bool) {
	limit := time.NewTimer(tooLong)
	defer limit.Stop()
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if is() {
			return
		}
		select {
		case <-changed:
		case <-c.ended:
			if !is() {
				ts.Fatalf("the answer ended without %s: %s", what, c.body())
			}
			return
		case <-limit.C:
			ts.Fatalf("no %s in %s", what, c.body())
		}
	}
}

// begin sends a request and does not wait for its end: only until something is
// answered.
func begin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: begin NAME METHOD PATH [Name:value…] [BODY | @FILE]")
	}
	w := in(ts)
	w.settle(ts)
	head, body := requestOf(ts, args[3:])
	ctx, leave := context.WithCancel(context.Background())
	c := w.dispatch(ctx, args[1], args[2], head, body)
	c.leave = leave
	if w.begun == nil {
		w.begun = map[string]*client{}
	}
	w.begun[args[0]] = c
}

// until waits for an event of a request that was begun.
func until(ts *testscript.TestScript, neg bool, args []string) {
	c := begun(ts, args[0])
	c.await(ts, args[1], func() bool {
		return slices.ContainsFunc(c.events(), func(e sse.Event) bool { return e.Type == args[1] })
	})
}

// finish waits for the end of a request that was begun, and makes its answer
// the one that is looked at.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	w, c := in(ts), begun(ts, args[0])
	w.settle(ts)
	select {
	case <-c.ended:
	case <-time.After(tooLong):
		ts.Fatalf("%s does not end: %s", c.path, c.body())
	}
	w.request, w.looked, w.answer = c.path, false, c
	ts.Logf("%d\n%s", c.code(), c.body())
}

// leave is a client that goes away.
func leave(ts *testscript.TestScript, neg bool, args []string) {
	c := begun(ts, args[0])
	c.leave()
	<-c.ended
}

func begun(ts *testscript.TestScript, name string) *client {
	c, ok := in(ts).begun[name]
	if !ok {
		ts.Fatalf("nothing called %s was begun", name)
	}
	return c
}

// told is what of an event's data stands in a list of events.
var told = map[string][]string{
	"user_message_created": {"content"}, "phase_status": {"channel", "label", "state"}, "step_start": {"step"},
	"reasoning": {"pass", "delta"}, "director_done": {"active_moods"}, "speaking_plan": {"plan.#.name"},
	"speaker_start": {"name", "index", "total", "cue"}, "writer_done": {"editor_will_run"}, "draft_update": {"draft"},
	"writer_rewrite": {"refined_text"}, "editor_done": {"tool_calls.#.name"}, "feedback": {"values"},
	"speaker_done": {"name", "turn_index", "content", "incomplete", "cut"}, "speaker_failed": {"detail"},
	"warning": {"stage", "kind"}, "error": {"stage", "kind", "headline"}, "done": {"status"},
}

// events compares the events of the last answer with a list of them, a line
// each, and holds what is true of every stream.
func events(ts *testscript.TestScript, neg bool, args []string) {
	w := in(ts)
	w.settle(ts)
	var got strings.Builder
	var last sse.Event
	for i, e := range w.answer.events() {
		orderly(ts, w.answer.path, last, e, i == 0)
		if e.Type == "token" && last.Type == "token" { // one line for all that follow each other
			got.WriteString(e.Data)
			last = e
			continue
		}
		if got.Len() > 0 {
			got.WriteByte('\n')
		}
		got.WriteString(e.Type)
		if e.Type == "token" {
			got.WriteString(" " + e.Data)
		}
		for _, field := range told[e.Type] {
			if v := gjson.Get(e.Data, field); v.Exists() && v.Raw != `""` && v.Raw != "false" {
				got.WriteString(" " + v.Raw)
			}
		}
		last = e
	}
	got.WriteByte('\n')
	if flag.Lookup("update").Value.String() == "true" {
		rewrite(ts, args[0], got.String())
		return
	}
	if diff := cmp.Diff(ts.ReadFile(args[0]), got.String()); diff != "" {
		ts.Fatalf("the events are not those of %s (-file +got):\n%s\n%s", args[0], diff, got.String())
	}
}

// rewrite puts a file into the script that runs.
func rewrite(ts *testscript.TestScript, name, text string) {
	path := filepath.Join(scripts, ts.Name()+".txtar")
	archive, err := txtar.ParseFile(path)
	ts.Check(err)
	for i, f := range archive.Files {
		if f.Name == name {
			archive.Files[i].Data = []byte(text)
		}
	}
	ts.Check(os.WriteFile(path, txtar.Format(archive), 0o644))
}

// orderly fails for an event that does not say where it belongs, or whose id
// does not follow on the one before.
func orderly(ts *testscript.TestScript, path string, last, e sse.Event, first bool) {
	cid := regexp.MustCompile(`/conversations/([^/]+)`).FindStringSubmatch(path)[1]
	if e.Type != "token" && e.Type != "director_start" {
		if got := gjson.Get(e.Data, "conversation_id").String(); got != cid {
			ts.Fatalf("%s is of conversation %q, not %s: %s", e.Type, got, cid, e.Data)
		}
		exchange := gjson.Get(e.Data, "exchange_id").String()
		if exchange == "" || !strings.HasPrefix(e.ID, exchange+".") {
			ts.Fatalf("%s %s is of exchange %q", e.Type, e.ID, exchange)
		}
	}
	var n, before int64
	_, _ = fmt.Sscan(e.ID[strings.LastIndexByte(e.ID, '.')+1:], &n)
	if first {
		return
	}
	_, _ = fmt.Sscan(last.ID[strings.LastIndexByte(last.ID, '.')+1:], &before)
	if n != before+1 {
		ts.Fatalf("event %s follows %s", e.ID, last.ID)
	}
}

// eventAt keeps the id of the n-th event of a type, from 1 on, as $VAR.
func eventAt(ts *testscript.TestScript, neg bool, args []string) {
	n := number(ts, args[2])
	for _, e := range in(ts).answer.events() {
		if e.Type == args[1] {
			if n--; n == 0 {
				ts.Setenv(args[0], e.ID)
				return
			}
		}
	}
	ts.Fatalf("there is no such %s", args[1])
}

// eventJSON looks at the data of the last event of a type.
func eventJSON(ts *testscript.TestScript, neg bool, args []string) {
	w := in(ts)
	w.settle(ts)
	for _, e := range slices.Backward(w.answer.events()) {
		if e.Type == args[0] {
			shown := newClient()
			_, _ = shown.Write([]byte(e.Data))
			keep := w.answer
			w.answer = shown
			jsonAt(ts, neg, args[1:])
			w.answer = keep
			return
		}
	}
	ts.Fatalf("there is no %s", args[0])
}
