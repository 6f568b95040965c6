package conversation

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/workspace/config"
)

var update = flag.Bool("update", false, "rewrite the expected halves of testdata")

// counter makes predictable ids: 0000000, 0000001, …
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.n / 7 % 36
		if c.n%7 < 6 {
			p[i] = 0
		}
		c.n++
	}
	return len(p), nil
}

func testEnv() Env {
	at := time.Date(2026, 5, 1, 12, 0, 0, 250e6, time.UTC)
	return Env{Now: func() time.Time { return at }, Rand: &counter{}}
}

func render(s *Stream) []byte { return bytes.Join(s.contents(), nil) }

// fixtures returns the real conversations beside the repository.
func fixtures(t testing.TB) []string {
	t.Helper()
	dirs, _ := filepath.Glob(filepath.FromSlash("../../../../shared/fixtures/conversations/*"))
	if len(dirs) == 0 {
		t.Skip("../shared/fixtures is not there")
	}
	return dirs
}

func loadFixture(t testing.TB, dir string, env Env) *Stream {
	t.Helper()
	id, err := ParseID(filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(dir, id, env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func elements(t testing.TB, data []byte) []json.RawMessage {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFixturesSurviveASave(t *testing.T) {
	for _, dir := range fixtures(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			a, b := loadFixture(t, dir, testEnv()), loadFixture(t, dir, testEnv())
			if errs := a.Check(); len(errs) > 0 {
				t.Fatal(errs)
			}
			for i := range a.Len() {
				if a.At(i).ID != b.At(i).ID {
					t.Fatalf("two clones call entry %d %s and %s", i, a.At(i).ID, b.At(i).ID)
				}
			}
			before := a.Lines()
			out := filepath.Join(t.TempDir(), filepath.Base(dir))
			if err := os.MkdirAll(out, 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Append(Event{Kind: TurnStart}); err != nil {
				t.Fatal(err)
			}
			if err := a.Save(out); err != nil {
				t.Fatal(err)
			}
			c := loadFixture(t, out, testEnv())
			if len(c.repairs) > 0 || c.splits {
				t.Errorf("after a save: %d ids to repair, splits %v", len(c.repairs), c.splits)
			}
			if diff := cmp.Diff(before, c.Lines()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(b.ConfigAt(0), c.ConfigAt(0)); diff != "" {
				t.Error(diff)
			}
			old, _ := os.ReadFile(filepath.Join(dir, EventsFile))
			was := elements(t, old)
			was = was[len(was)-b.Len():]
			saved, _ := os.ReadFile(filepath.Join(out, EventsFile))
			for i, raw := range elements(t, saved)[:b.Len()] {
				rest, ok := bytes.CutPrefix(raw, fmt.Appendf(nil, "{\n    \"event_id\": %q,", b.At(i).ID))
				if !ok || !bytes.HasSuffix(was[i], rest) || len(was[i]) != len(rest)+1 {
					t.Fatalf("entry %d changed by more than its id:\n%s", i, raw)
				}
			}
		})
	}
}

// Each testdata/stream/*.txtar holds the files of a conversation. The expected
// halves are its lines and, after one message was appended, its files.
func TestGolden(t *testing.T) {
	paths, _ := filepath.Glob("testdata/stream/*.txtar")
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var events, base []byte
			for _, f := range ar.Files {
				switch f.Name {
				case EventsFile:
					events = f.Data
				case BaseFile:
					base = f.Data
				}
			}
			s, err := Parse(EventsFile, events, base, 17000000000, testEnv())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{"lines": describe(s)}
			if _, err := s.Append(Event{Kind: ChatResponse, Form: Message, Content: "<new> & \"quoted\"", Participant: "dev", Request: "rrrrrr1"}); err != nil {
				t.Fatal(err)
			}
			got["saved "+EventsFile] = string(render(s))
			got["saved "+BaseFile] = string(s.baseRaw)
			if *update {
				rewrite(t, path, ar, got)
				return
			}
			for _, f := range ar.Files {
				if want, ok := got[f.Name]; ok {
					delete(got, f.Name)
					if diff := cmp.Diff(string(f.Data), want); diff != "" {
						t.Errorf("%s (-want +got):\n%s", f.Name, diff)
					}
				}
			}
			if len(got) > 0 {
				t.Errorf("the case lacks %d of its expected halves; run with -update", len(got))
			}
		})
	}
}

func rewrite(t *testing.T, path string, ar *txtar.Archive, got map[string]string) {
	var files []txtar.File
	for _, f := range ar.Files {
		if f.Name == EventsFile || f.Name == BaseFile {
			files = append(files, f)
		}
	}
	for _, name := range []string{"lines", "saved " + EventsFile, "saved " + BaseFile} {
		files = append(files, txtar.File{Name: name, Data: []byte(got[name])})
	}
	ar.Files = files
	if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

func describe(s *Stream) string {
	var b strings.Builder
	fmt.Fprintf(&b, "turns %v requests %v\n", s.Turns(), s.Requests())
	for _, i := range s.Requests() {
		id := s.At(i).ID
		fmt.Fprintf(&b, "request %s: asked %v, waiting %v\n", id, s.Responders(id), s.Waiting(id))
	}
	for _, l := range s.Lines() {
		fmt.Fprintf(&b, "%s", l.Kind)
		for _, f := range []struct{ key, value string }{{"speaker", l.Speaker}, {"provider", l.Provider}, {"id", l.ID}, {"answers", l.Answers},
			{"call", l.Call.ID}, {"name", l.Call.Name}, {"arguments", string(l.Call.Arguments)}, {"only", strings.Join(l.Only, ",")}} {
			if f.value != "" {
				fmt.Fprintf(&b, " %s=%s", f.key, f.value)
			}
		}
		for _, f := range []struct {
			key string
			set bool
		}{{"human", l.Human}, {"error", l.IsError}, {"incomplete", l.Incomplete}} {
			if f.set {
				b.WriteString(" " + f.key)
			}
		}
		if l.Replay != nil {
			fmt.Fprintf(&b, " replay=%v", l.Replay)
		}
		fmt.Fprintf(&b, " %q\n", l.Text)
	}
	for _, err := range s.Check() {
		fmt.Fprintf(&b, "problem: %v\n", err)
	}
	return b.String()
}

func newStream(t testing.TB, base config.Tree) *Stream {
	t.Helper()
	s, err := New(17000000000, base, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAppend(t *testing.T) {
	s := newStream(t, config.Tree{})
	id, err := s.Append(Event{Kind: ChatRequest, Content: "hi"})
	if err != nil || id != "0000000" {
		t.Fatalf("%q, %v", id, err)
	}
	if next, err := s.Append(Event{Kind: TurnStart}); err != nil || next != "0000001" {
		t.Fatalf("%q, %v", next, err)
	}
	if _, err := s.Append(Event{ID: id, Kind: TurnStart}); err == nil {
		t.Error("an id was taken twice")
	}
	if _, err := s.Append(Event{Kind: "future_kind"}); err == nil {
		t.Error("an unknown kind was written")
	}
	if s.Len() != 2 {
		t.Errorf("failed appends left %d entries", s.Len())
	}
	broken := newStream(t, nil)
	broken.env.Rand = io.LimitReader(&counter{}, 3)
	if _, err := broken.Append(Event{Kind: TurnStart}); err == nil {
		t.Error("an id without randomness")
	}
}

func TestRandomIDIsUnbiased(t *testing.T) {
	// Bytes from 252 on would make the first four digits likelier.
	id, err := randomID(bytes.NewReader([]byte{255, 252, 251, 0, 35, 36, 10, 1, 2, 3}))
	if err != nil || id != "z0z0a12" {
		t.Errorf("%q, %v", id, err)
	}
}

func TestSaveIsIncremental(t *testing.T) {
	dir := t.TempDir()
	s := newStream(t, config.Tree{"user": config.Tree{"name": "jean"}})
	if err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, EventsFile)); string(got) != "[]\n" {
		t.Errorf("empty log %q", got)
	}
	for i := range 3 {
		if _, err := s.Append(Event{Kind: ChatRequest, Content: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(dir); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(filepath.Join(dir, EventsFile))
		if n := len(elements(t, got)); n != i+1 {
			t.Fatalf("after %d saves: %d events", i+1, n)
		}
	}
	before, _ := os.Stat(filepath.Join(dir, EventsFile))
	if err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(filepath.Join(dir, EventsFile)); !os.SameFile(before, after) {
		t.Error("a save without changes wrote")
	}
}

func TestLoadChangesNothing(t *testing.T) {
	dir := t.TempDir()
	log := `[{"type":"config_delta","timestamp":"2026-01-01 00:00:00.0","delta":{}},{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"x"}]`
	if err := os.WriteFile(filepath.Join(dir, EventsFile), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(dir, 1, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if got, _ := os.ReadFile(filepath.Join(dir, EventsFile)); string(got) != log || len(entries) != 1 {
		t.Errorf("saving an unchanged conversation wrote %d files, log %s", len(entries), got)
	}
}

// Somebody changed or removed the log while the conversation was open.
func TestSaveFollowsOtherWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	os.Mkdir(dir, 0o755)
	s := newStream(t, config.Tree{})
	s.Append(Event{Kind: ChatRequest, Content: "first"})
	if err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	other, err := Load(dir, s.id, Env{Now: s.env.Now, Rand: strings.NewReader("otherid")})
	if err != nil {
		t.Fatal(err)
	}
	other.Append(Event{Kind: ChatRequest, Content: "theirs"})
	if err := other.Save(dir); err != nil {
		t.Fatal(err)
	}
	s.Append(Event{Kind: ChatRequest, Content: "ours"})
	if err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	if got := requests(t, s); got != "first theirs ours" {
		t.Errorf("in memory: %s", got)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	s.Append(Event{Kind: ChatRequest, Content: "after"})
	if err := s.Save(dir); err != nil {
		t.Fatal(err)
	}
	again, err := Load(dir, s.id, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := requests(t, again); got != "first theirs ours after" {
		t.Errorf("on disk: %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, EventsFile), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Append(Event{Kind: ChatRequest, Content: "lost?"})
	if err := s.Save(dir); err == nil {
		t.Error("a damaged log was written over")
	}
	if got, _ := os.ReadFile(filepath.Join(dir, EventsFile)); string(got) != "[{" {
		t.Errorf("the damaged log is now %q", got)
	}
}

func requests(t *testing.T, s *Stream) string {
	t.Helper()
	var out []string
	for _, i := range s.Requests() {
		ev, err := s.Event(i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ev.Content)
	}
	return strings.Join(out, " ")
}

// A kill between writing the base and the log of an older conversation leaves
// the base in both.
func TestInterruptedSplit(t *testing.T) {
	log := []byte(`[{"type":"config_delta","timestamp":"2026-01-01 00:00:00.0","delta":{"conversation":{"attachments":["a"]}}},
		{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"x"}]`)
	whole, err := Parse(EventsFile, log, nil, 1, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	half, err := Parse(EventsFile, log, whole.baseRaw, 1, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.Config(), half.Config()); diff != "" || half.Len() != 1 {
		t.Errorf("%d entries, config %s", half.Len(), diff)
	}
	if whole.At(0).ID != half.At(0).ID {
		t.Error("the entry's id changed")
	}
	half.Append(Event{Kind: TurnStart})
	if n := len(elements(t, render(half))); n != 2 {
		t.Errorf("saved with %d entries", n)
	}
}

func TestConfig(t *testing.T) {
	model := func(name string) config.Tree {
		return config.Tree{"assistant": config.Tree{"name": "fixed", "model": config.Tree{"id": config.Tree{"provider": "openai", "name": name}}}}
	}
	s := newStream(t, model("a"))
	s.Append(Event{Kind: ChatRequest, Content: "1"})
	if changed, err := s.AppendConfig(model("a")); changed || err != nil {
		t.Errorf("no difference: changed %v, %v", changed, err)
	}
	if changed, err := s.AppendConfig(config.Merge(s.Config(), model("b"))); !changed || err != nil {
		t.Errorf("a difference: changed %v, %v", changed, err)
	}
	if changed, _ := s.AppendConfig(config.Merge(s.Config(), model("b"))); changed {
		t.Error("the same delta twice")
	}
	s.Append(Event{Kind: ChatRequest, Content: "2"})
	ev, err := s.Event(1)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Tree{"assistant": config.Tree{"model": config.Tree{"id": config.Tree{"provider": "openai", "name": "b"}}}}
	if diff := cmp.Diff(want, ev.Delta); diff != "" {
		t.Errorf("the delta holds more than the difference: %s", diff)
	}
	for i, want := range []string{"a", "a", "b"} {
		if diff := cmp.Diff(model(want), s.ConfigAt(i)); diff != "" {
			t.Errorf("at %d: %s", i, diff)
		}
	}
	if diff := cmp.Diff(model("b"), s.Config()); diff != "" {
		t.Error(diff)
	}
}

// A request whose id was doubled can still be answered: the references of old
// entries to it are lost, those of new ones are not.
func TestAnswerToADoubledRequest(t *testing.T) {
	log := `[{"event_id":"rrrrrr1","type":"chat_request","timestamp":"2026-01-01 00:00:00.0","content":"x","recipients":{"responders":["dev"]}},
	{"event_id":"aaaaaa1","request_id":"rrrrrr1","participant":"dev","type":"chat_response","timestamp":"2026-01-01 00:00:00.0","message":"old"},
	{"event_id":"rrrrrr1","type":"turn_start","timestamp":"2026-01-01 00:00:00.0"}]`
	s, err := Parse(EventsFile, []byte(log), []byte("{}"), 1, testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Waiting("rrrrrr1"); len(got) != 1 || s.Answered(1) != "" || !s.doubled["rrrrrr1"] {
		t.Errorf("waiting %v, answered %q", got, s.Answered(1))
	}
	if _, err := s.Append(Event{Kind: ChatResponse, Form: Message, Content: "new", Participant: "dev", Request: "rrrrrr1"}); err != nil {
		t.Fatal(err)
	}
	if got := s.Waiting("rrrrrr1"); len(got) != 0 {
		t.Errorf("after the answer: waiting %v", got)
	}
}

// LinesAt shows what was there then, links included.
func TestLinesAt(t *testing.T) {
	s := newStream(t, config.Tree{})
	id, err := s.Append(Event{Kind: ChatRequest, Content: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range []Event{
		{Kind: ToolCallRequest, CallID: "c", Name: "n", Participant: "dev", Request: id},
		{Kind: ToolCallResponse, CallID: "c", Participant: "dev", Request: id},
		{Kind: Compaction, StripTools: &ToolPolicy{Omit: true}},
	} {
		if _, err := s.Append(ev); err != nil {
			t.Fatal(err)
		}
	}
	var got []int
	for end := range s.Len() + 1 {
		got = append(got, len(s.LinesAt(end)))
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 1}, got); diff != "" {
		t.Error(diff)
	}
}
