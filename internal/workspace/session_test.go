package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/workspace/conversation"
)

func TestSessionFile(t *testing.T) {
	for _, c := range []struct {
		vars map[string]string
		sid  int
		file string
		want string
	}{
		{map[string]string{"JP_SESSION": "../x", "TMUX_PANE": "%1"}, 42, "env-JP_SESSION-d6b96a97d147daaa.json", `"id":"../x","source":{"type":"env","key":"JP_SESSION"}`},
		{map[string]string{"TMUX_PANE": "%1"}, 42, "getsid-42.json", `"id":"42","source":{"type":"getsid"}`},
		{map[string]string{"ITERM_SESSION_ID": "i", "WEZTERM_PANE": "7"}, 0, "env-WEZTERM_PANE-7902699be42c8a8e.json", `"id":"7","source":{"type":"env","key":"WEZTERM_PANE"}`},
		{nil, 0, "", ""},
	} {
		w := newWorkspace(t)
		data := w.env.DataDir()
		w = w.with(t, func(e *Env) {
			e.SID = c.sid
			e.Getenv = func(k string) string {
				if k == "JP_USER_DATA_DIR" {
					return data
				}
				return c.vars[k]
			}
		})
		id := create(t, w, "")
		if err := w.SetActive(id); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(w.Silo(), "sessions")
		if got := tree(t, dir); got != c.file {
			t.Errorf("%v: file %q, want %q", c.vars, got, c.file)
			continue
		}
		if c.file == "" {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(dir, c.file))
		if !strings.Contains(string(text), c.want) || !strings.HasPrefix(string(text), fmt.Sprintf(`{"history":[{"id":%d,"activated_at":"2026-05-01T12:00:0`, id)) {
			t.Errorf("%s", text)
		}
		if got, ok := w.Active(); !ok || got != id {
			t.Errorf("active %v, %v", got, ok)
		}
	}
}

func TestActive(t *testing.T) {
	w := newWorkspace(t)
	if _, ok := w.Active(); ok {
		t.Error("a new session has an active conversation")
	}
	a, b, c := create(t, w, "a"), create(t, w, "b"), create(t, w, "c")
	for _, id := range []conversation.ID{a, b, c, b} {
		if err := w.SetActive(id); err != nil {
			t.Fatal(err)
		}
	}
	check := func(active, previous conversation.ID) {
		t.Helper()
		x, _ := w.Active()
		y, _ := w.Previous()
		if x != active || y != previous {
			t.Errorf("active %d, previous %d; want %d, %d", x, y, active, previous)
		}
	}
	check(b, c)
	if _, err := w.Remove(t.Context(), b, Wait{}); err != nil {
		t.Fatal(err)
	}
	check(c, a)
	other := w.with(t, func(e *Env) {
		get := e.Getenv
		e.Getenv = func(k string) string { return strings.Replace(get(k), "test", "other", 1) }
	})
	if _, ok := other.Active(); ok {
		t.Error("another terminal shares the session")
	}
	archive := filepath.Join(conversations(w), ".archive")
	if err := os.Mkdir(archive, 0o755); err != nil {
		t.Fatal(err)
	}
	name := c.DirName("c")
	if err := os.Rename(filepath.Join(conversations(w), name), filepath.Join(archive, name)); err != nil {
		t.Fatal(err)
	}
	check(0, 0)
	put(t, filepath.Join(w.Silo(), "sessions", w.session().Source.fileName("test")), "{damaged")
	check(0, 0)
	if err := w.SetActive(a); err != nil {
		t.Fatal(err)
	}
	check(a, 0)
}

// The number of an ended process goes to another terminal one day.
// What cannot be remembered is no success.
func TestActiveIsNotRemembered(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "", "hi")
	if err := os.RemoveAll(w.Silo()); err != nil {
		t.Fatal(err)
	}
	put(t, w.Silo(), "in the way")
	if err := w.SetActive(id); fault.CodeOf(err) != fault.Storage {
		t.Errorf("unwritable: %v", err)
	}
	none := w.with(t, func(e *Env) { e.Getenv = func(k string) string { return map[string]string{"JP_SESSION": "test"}[k] } })
	if err := none.SetActive(id); fault.CodeOf(err) != fault.Storage || fault.HintOf(err) == "" || !none.InSession() {
		t.Errorf("no data directory: %v", err)
	}
	nobody := w.with(t, func(e *Env) { e.Getenv = func(string) string { return "" } })
	if err := nobody.SetActive(id); err != nil || nobody.InSession() {
		t.Errorf("no session: %v", err)
	}
}

func TestDeadSessionsAreForgotten(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "")
	dir := filepath.Join(w.Silo(), "sessions")
	gone := filepath.Join(dir, "getsid-999999999.json")
	alive := filepath.Join(dir, fmt.Sprintf("getsid-%d.json", os.Getpid()))
	put(t, gone, "{}")
	put(t, alive, "{}")
	if err := w.SetActive(id); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the session of a dead process is kept")
	}
	if _, err := os.Stat(alive); err != nil {
		t.Error("the session of a living process is gone")
	}
}

func TestHistoryIsBounded(t *testing.T) {
	w := newWorkspace(t)
	for n := range 150 {
		if err := w.SetActive(conversation.ID(n + 1)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(w.session())
	if n := strings.Count(string(data), "activated_at"); err != nil || n != sessionDepth {
		t.Errorf("%d entries, %v", n, err)
	}
}

func TestResolve(t *testing.T) {
	w := newWorkspace(t)
	a, b, c := create(t, w, "Review the parser"), create(t, w, "Review the lexer"), create(t, w, "2026 plans")
	for _, id := range []conversation.ID{a, b} {
		if err := w.SetActive(id); err != nil {
			t.Fatal(err)
		}
	}
	o, err := w.Open(t.Context(), a, Wait{})
	if err != nil {
		t.Fatal(err)
	}
	o.Meta.LastActivatedAt = w.env.Now()
	if err := o.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Close()
	for target, want := range map[string]conversation.ID{
		a.String(): a, a.String()[4:]: a, a.DirName("Review the parser"): a, a.String() + "-x1": a,
		"": b, ".": b, "active": b, "s": a, "previous": a, "r": a, "last": a, "n": c, "newest": c,
		"review the p": a, "Review the lexer": b, "2026-pl": c, "2026 plans": c,
	} {
		if got, err := w.Resolve(target); err != nil || got != want {
			t.Errorf("%q is %v, want %v (%v)", target, got, want, err)
		}
	}
	if err := appendOne(t.Context(), w, b, "more"); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Resolve("r"); err != nil || got != b {
		t.Errorf("recent is %v, want what was written to last, %v (%v)", got, b, err)
	}
	zero := create(t, w, "0")
	if got, err := w.Resolve("0"); err != nil || got != zero {
		t.Errorf("a title 0 is %v (%v)", got, err)
	}
	for target, code := range map[string]fault.Code{
		"review": fault.Invalid, "nothing": fault.NotFound, "jp-c5": fault.NotFound, "5": fault.NotFound, "!": fault.NotFound,
	} {
		if _, err := w.Resolve(target); fault.CodeOf(err) != code || fault.HintOf(err) == "" {
			t.Errorf("%q: %v, want %s", target, err, code)
		}
	}
}
