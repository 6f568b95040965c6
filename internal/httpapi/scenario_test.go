package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"jp/internal/httpapi"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
	"jp/internal/scene/sqlstore"
)

// The stories of the API. Every script in testdata/scenario has a server of
// its own – handler, service and database, a clock that stands still, the same
// random numbers each time – and says in its first line which sentences of the
// requirement it holds. Its commands beside testscript's own:
//
//	http METHOD PATH [Name:value…] [BODY | @FILE]  sends a request; what a
//	                     script does not look at has to succeed
//	upload METHOD PATH FIELD=@FILE[;NAME] | FIELD=TEXT …  sends a form
//	status N             of the last answer, as are the rest
//	json PATH [VALUE]    that the body holds VALUE there (a path of gjson); a
//	                     VALUE that is JSON is compared as JSON, all else as a
//	                     string; ! json PATH: there is nothing, and with a
//	                     VALUE: something else
//	contains TEXT…, lacks TEXT…   of the body's bytes
//	header NAME [VALUE]  that there is one, with that value; ! header: not so
//	capture VAR [PATH]   keeps a value (a header: @NAME) as $VAR
//	save FILE            keeps the body
//	same FILE            that the body is that of FILE, compared as JSON if it is
//	say CONVERSATION ROLE [-flag VALUE…] TEXT   appends a message to the story;
//	                     flags: by, parent (or none), exchange, turn, author,
//	                     file (NAME;MIME;FILE), incomplete, direction, draft,
//	                     cut, as (keeps the id)
//	propose CONVERSATION MEMBER [-flag VALUE…] SHEET   stages a sheet; flags:
//	                     exchange, summary, as
//	answer URL FILE      what the model server at URL says from now on
//	model PASS STEP…     how the model answers the next call of a pass
//	                     (director, writer, editor, feedback, sheet) that has no
//	                     answer yet: words that stream, think:TEXT, call:JSON (the
//	                     forced tool), hold:NAME until a release NAME,
//	                     break:KIND (of llm). A call without an answer fails
//	asked PASS N         waits until models were called N times for a pass
//	requests [PASS]      what models were sent is looked at from now on
//	begin NAME METHOD PATH …   like http, but goes on when the answer begins
//	until NAME EVENT     waits for an event of it; leave NAME: the client goes
//	finish NAME          waits for its end; its answer is the last one now
//	events FILE          the last answer's events, a line each
//	eventid VAR EVENT N  keeps the id of the N-th EVENT as $VAR
//	event EVENT PATH [VALUE]   like json, for the data of the last such event
//
// A body may name variables as ${VAR}. A file standing.json lists endpoints
// that come from configuration.
//
// With -update the lists of events are written anew.
func TestScenarios(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   scripts,
		Setup: setup,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"http": send, "upload": upload,
			"status": status, "json": jsonAt, "contains": contains, "lacks": lacks, "header": header,
			"capture": capture, "save": save, "same": same,
			"say": say, "propose": propose, "answer": answer,
			"model": modelSays, "release": release, "asked": asked, "requests": requests,
			"begin": begin, "until": until, "leave": leave, "finish": finish,
			"events": events, "eventid": eventAt, "event": eventJSON,
		},
	})
}

const scripts = "testdata/scenario"

// TestScenariosCoverRoutes runs after the scripts, since it stands behind them,
// and fails for every operation of the API that none of them made succeed.
func TestScenariosCoverRoutes(t *testing.T) {
	all, err := filepath.Glob(scripts + "/*.txtar")
	if err != nil || ran.scripts < len(all) {
		t.Skipf("only %d of %d scripts ran", ran.scripts, len(all))
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	answer := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/api/openapi.json", nil)
	r.Host = loopback
	w.handler.ServeHTTP(answer, r)
	if err := json.Unmarshal(answer.Body.Bytes(), &doc); err != nil || len(doc.Paths) == 0 {
		t.Fatalf("the description of the API: %v: %s", err, answer.Body)
	}
	byMethod := map[string][]string{}
	for path, operations := range doc.Paths {
		for method := range operations {
			byMethod[strings.ToUpper(method)] = append(byMethod[strings.ToUpper(method)], path)
		}
	}
	for method, paths := range byMethod {
		for _, path := range paths {
			if !ran.served(method, path, paths) {
				t.Errorf("no scenario runs %s %s", method, path)
			}
		}
	}
}

// world is what one script plays in.
type world struct {
	handler http.Handler
	scenes  *scene.Service
	servers *servers
	player  *player
	begun   map[string]*client
	request string // the last one, for failures
	answer  *client
	looked  bool // at the answer's status
	log     lines
}

// lines is a log that many write.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// take returns what was written since it was called last.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.buf.Reset()
	return l.buf.String()
}

// loopback is the host that requests name.
const loopback = "127.0.0.1:8787"

func setup(e *testscript.Env) error {
	w, done, err := newWorld(e.WorkDir)
	if err != nil {
		return err
	}
	e.Defer(done)
	e.Values[worldKey{}] = w
	ran.begin()
	return nil
}

func newWorld(dir string) (*world, func(), error) {
	standing, err := standing(dir)
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlstore.Open(context.Background(), filepath.Join(dir, ".scenes.db"))
	if err != nil {
		return nil, nil, err
	}
	w := &world{servers: &servers{answers: map[string][]byte{}}, player: &player{called: make(chan struct{})}}
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	random := rand.NewChaCha8([32]byte{})
	w.scenes = scene.New(scene.Config{Store: store, Now: now, Rand: random, Standing: standing})
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelError}))
	w.handler = httpapi.New(httpapi.Config{
		Scenes:  w.scenes,
		Runner:  &pipeline.Runner{Scenes: w.scenes, Models: w.player, Now: now, Log: log},
		Version: "test",
		Log:     log,
		HTTP:    w.servers,
		Now:     now,
	})
	return w, func() {
		_ = w.scenes.Close(context.Background())
		_ = store.Close()
	}, nil
}

type worldKey struct{}

func in(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

func standing(dir string) (list []scene.Endpoint, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "standing.json"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	return list, err
}

// expand replaces ${VAR}, also where testscript leaves quoted text alone.
func expand(ts *testscript.TestScript, s string) string {
	return regexp.MustCompile(`\$\{\w+\}`).ReplaceAllStringFunc(s, func(m string) string {
		return ts.Getenv(m[2 : len(m)-1])
	})
}

func send(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: http METHOD PATH [Name:value…] [BODY | @FILE]")
	}
	head, body := requestOf(ts, args[2:])
	in(ts).do(ts, args[0], args[1], head, body)
}

// requestOf reads headers and a body.
func requestOf(ts *testscript.TestScript, args []string) (head http.Header, body []byte) {
	head = http.Header{}
	for _, arg := range args {
		switch name, value, _ := strings.Cut(arg, ":"); {
		case regexp.MustCompile(`^[A-Za-z-]+:`).MatchString(arg):
			head.Add(name, expand(ts, value))
		case strings.HasPrefix(arg, "@"):
			body = []byte(expand(ts, ts.ReadFile(arg[1:])))
		default:
			body = []byte(expand(ts, arg))
		}
	}
	if body != nil && head.Get("Content-Type") == "" {
		head.Set("Content-Type", "application/json")
	}
	return head, body
}

func (w *world) do(ts *testscript.TestScript, method, path string, head http.Header, body []byte) {
	w.settle(ts)
	c := w.dispatch(context.Background(), method, path, head, body)
	<-c.ended
	w.request, w.looked, w.answer = method+" "+path, false, c
	ts.Logf("%d %s\n%s\n%s", c.code(), c.Header().Get("Content-Type"), shown(w.body()), w.log.take())
}

// dispatch sends a request and does not wait for its end.
func (w *world) dispatch(ctx context.Context, method, path string, head http.Header, body []byte) *client {
	c := newClient()
	c.path = path
	r := httptest.NewRequest(method, path, bytes.NewReader(body)).WithContext(ctx)
	r.Host = loopback
	if host := head.Get("Host"); host != "" {
		r.Host = host
	}
	r.Header = head
	go func() {
		defer close(c.ended)
		w.handler.ServeHTTP(c, r)
		ran.note(method, r.URL.Path, c.code())
	}()
	return c
}

// settle fails when the last answer was an error that nobody expected.
func (w *world) settle(ts *testscript.TestScript) {
	if w.answer != nil && !w.looked && w.answer.code() >= 400 {
		ts.Fatalf("%s was answered %d: %s", w.request, w.answer.code(), w.body())
	}
	w.looked = true
}

func (w *world) body() []byte { return w.answer.body() }

func shown(body []byte) string {
	if len(body) > 4000 {
		return strconv.QuoteToASCII(string(body[:4000])) + "…"
	}
	return string(body)
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	w := in(ts)
	w.looked = true
	if neg || strconv.Itoa(w.answer.code()) != args[0] {
		ts.Fatalf("%s: status %d, not %s: %s", w.request, w.answer.code(), args[0], w.body())
	}
}

func jsonAt(ts *testscript.TestScript, neg bool, args []string) {
	w := in(ts)
	w.settle(ts)
	got := gjson.GetBytes(w.body(), expand(ts, args[0]))
	switch {
	case neg && len(args) == 1:
		if got.Exists() {
			ts.Fatalf("%s is %s", args[0], got.Raw)
		}
		return
	case !got.Exists():
		ts.Fatalf("no %s in %s", args[0], w.body())
	case len(args) == 1:
		return
	}
	want := expand(ts, args[1])
	if neg == equal(got, want) {
		ts.Fatalf("%s: %s is %s; expected: %s (negated: %v)", w.request, args[0], got.Raw, want, neg)
	}
}

// equal compares JSON with what a script says: as JSON if it is.
func equal(got gjson.Result, want string) bool {
	if !json.Valid([]byte(want)) {
		return got.Type == gjson.String && got.String() == want
	}
	return cmp.Equal(decoded([]byte(got.Raw)), decoded([]byte(want)))
}

// decoded is what JSON says, or the text that is none.
func decoded(b []byte) (v any) {
	if json.Unmarshal(b, &v) != nil {
		return string(b)
	}
	return v
}

func contains(ts *testscript.TestScript, neg bool, args []string) { search(ts, !neg, args) }
func lacks(ts *testscript.TestScript, neg bool, args []string)    { search(ts, neg, args) }

func search(ts *testscript.TestScript, want bool, args []string) {
	in(ts).settle(ts)
	for _, arg := range args {
		if text := expand(ts, arg); bytes.Contains(in(ts).body(), []byte(text)) != want {
			ts.Fatalf("%s: %q is there: %v; in %s", in(ts).request, text, !want, shown(in(ts).body()))
		}
	}
}

func header(ts *testscript.TestScript, neg bool, args []string) {
	got, there := in(ts).answer.Header()[http.CanonicalHeaderKey(args[0])]
	if len(args) > 1 {
		there = there && strings.Join(got, ", ") == expand(ts, args[1])
	}
	if there == neg {
		ts.Fatalf("%s: header %s is %q; expected: %q (negated: %v)", in(ts).request, args[0], got, args[1:], neg)
	}
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	w := in(ts)
	w.settle(ts)
	value := string(w.body())
	if len(args) > 1 {
		if name, ok := strings.CutPrefix(args[1], "@"); ok {
			value = w.answer.Header().Get(name)
		} else if got := gjson.GetBytes(w.body(), expand(ts, args[1])); got.Exists() {
			value = got.String()
		} else {
			ts.Fatalf("no %s in %s", args[1], w.body())
		}
	}
	ts.Setenv(args[0], value)
}

func save(ts *testscript.TestScript, neg bool, args []string) {
	in(ts).settle(ts)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), in(ts).body(), 0o600))
}

func same(ts *testscript.TestScript, neg bool, args []string) {
	in(ts).settle(ts)
	diff := cmp.Diff(decoded([]byte(ts.ReadFile(args[0]))), decoded(in(ts).body()))
	if (diff == "") == neg {
		ts.Fatalf("%s against %s (-file +body):\n%s", in(ts).request, args[0], diff)
	}
}
