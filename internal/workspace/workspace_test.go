package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// TestMain lets the test binary play another process.
func TestMain(m *testing.M) {
	role, root := os.Getenv("WORKSPACE_CHILD"), os.Getenv("WORKSPACE_ROOT")
	if role == "" {
		os.Exit(m.Run())
	}
	env := Env{Getenv: os.Getenv, Now: time.Now, Rand: rand.Reader, Pid: os.Getpid(), Command: "child " + role}
	if err := play(role, root, env); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
}

func play(role, root string, env Env) error {
	w, err := Find(root, env)
	if err != nil {
		return err
	}
	ctx := context.Background()
	switch role {
	case "create": // many in the same tenth of a second
		at := time.Unix(1_700_000_000, 0)
		w.env.Now = func() time.Time { return at }
		for n := range 20 {
			c, err := w.Create(ctx, Spec{Base: config.Tree{}, Title: fmt.Sprintf("%d-%d", env.Pid, n)})
			if err != nil {
				return err
			}
			fmt.Println(c.ID)
			c.Close()
		}
		return nil
	case "append", "write":
		id, err := conversation.ParseID(os.Getenv("WORKSPACE_ID"))
		if err != nil {
			return err
		}
		for n := 0; n < 100 || role == "write"; n++ {
			if err := appendOne(ctx, w, id, fmt.Sprintf("%s %d", os.Getenv("WORKSPACE_NAME"), n)); err != nil {
				return err
			}
			if role == "write" {
				fmt.Println(n)
			}
		}
	}
	return nil
}

func appendOne(ctx context.Context, w *Workspace, id conversation.ID, text string) error {
	c, err := w.Open(ctx, id, Wait{For: -1})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, ev := range []conversation.Event{{Kind: conversation.TurnStart}, {Kind: conversation.ChatRequest, Content: text}} {
		if _, err := c.Stream.Append(ev); err != nil {
			return err
		}
	}
	return c.Save(ctx)
}

// testEnv keeps everything of the user below dir.
func testEnv(t testing.TB, dir string) Env {
	t.Helper()
	vars := map[string]string{"JP_USER_DATA_DIR": filepath.Join(dir, "data"), "JP_SESSION": "test"}
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return Env{
		Getenv: func(k string) string { return vars[k] },
		Now:    func() time.Time { at = at.Add(time.Second); return at },
		Rand:   rand.Reader, Pid: os.Getpid(), Command: "test",
	}
}

func newWorkspace(t testing.TB) *Workspace {
	t.Helper()
	dir := t.TempDir()
	w, created, err := Init(filepath.Join(dir, "work"), testEnv(t, dir))
	if err != nil || !created {
		t.Fatal(created, err)
	}
	return w
}

// with returns the same workspace as another run would see it.
func (w *Workspace) with(t testing.TB, change func(*Env)) *Workspace {
	t.Helper()
	env := w.env
	change(&env)
	other, err := Find(w.Root, env)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

func create(t testing.TB, w *Workspace, title string, texts ...string) conversation.ID {
	t.Helper()
	spec := Spec{Base: config.Tree{}, Title: title}
	for _, text := range texts {
		spec.Events = append(spec.Events, conversation.Event{Kind: conversation.ChatRequest, Content: text})
	}
	c, err := w.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func put(t testing.TB, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func tree(t testing.TB, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if !d.IsDir() {
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

func TestFind(t *testing.T) {
	w := newWorkspace(t)
	deep := filepath.Join(w.Root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := Find(deep, w.env)
	if err != nil || got.Root != w.Root || got.ID != w.ID {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = Find(filepath.Dir(w.Root), w.env)
	if fault.CodeOf(err) != fault.NotFound || fault.HintOf(err) == "" {
		t.Errorf("outside: %v", err)
	}
	again, created, err := Init(w.Root, w.env)
	if err != nil || created || again.ID != w.ID {
		t.Errorf("second Init: %v, %v", created, err)
	}
	if got := tree(t, w.Root); got != ".jp/.id" {
		t.Errorf("Init made %q", got)
	}
}

func TestID(t *testing.T) {
	for name, c := range map[string]struct{ data, id, want string }{
		"two lines":      {"notice\nb31ai\n", "b31ai", ""},
		"no line break":  {"b31ai", "b31ai", ""},
		"Windows":        {"notice\r\nb31ai\r\n", "b31ai", ""},
		"empty":          {"", "", `:1: "" is no workspace id`},
		"conflict":       {"<<<<<<< HEAD", "", ":1: the file holds the conflict markers"},
		"whole conflict": {"notice\n<<<<<<< HEAD\naaaaa\n=======\nbbbbb\n>>>>>>> x\n", "", ":2: the file holds the conflict markers"},
		"half solved":    {"notice\naaaaa\n>>>>>>> x\naaaaa\n", "", ":3: the file holds the conflict markers"},
		"path":           {"notice\n../../x\n", "", `:2: "../../x" is no workspace id`},
		"capitals":       {"notice\nABC\n", "", ":2:"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, ".jp", ".id")
			put(t, path, c.data)
			w, err := Find(dir, testEnv(t, dir))
			if c.want == "" {
				if err != nil || w.ID != c.id {
					t.Fatalf("%v, %v", w, err)
				}
				return
			}
			if fault.CodeOf(err) != fault.Damaged || !strings.Contains(err.Error(), path+c.want) {
				t.Errorf("got %v, want %s%s", err, path, c.want)
			}
			if _, _, err := Init(dir, testEnv(t, dir)); fault.CodeOf(err) != fault.Damaged {
				t.Errorf("Init on it: %v", err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.data {
				t.Error("the file was changed")
			}
		})
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".jp"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir, testEnv(t, dir)); fault.CodeOf(err) != fault.NotFound || !strings.Contains(fault.HintOf(err), "jp init") {
		t.Errorf("without id: %v", err)
	}
	if _, created, err := Init(dir, testEnv(t, dir)); err != nil || !created {
		t.Errorf("Init: %v, %v", created, err)
	}
}

func TestUserDirectories(t *testing.T) {
	for _, c := range []struct {
		vars         map[string]string
		home         string
		data, config string
	}{
		{map[string]string{}, "/home/u", "/home/u/.local/share/jp", "/home/u/.config/jp"},
		{map[string]string{"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, "/home/u", "/d/jp", "/c/jp"},
		{map[string]string{"XDG_DATA_HOME": "d", "XDG_CONFIG_HOME": "c"}, "/home/u", "/home/u/.local/share/jp", "/home/u/.config/jp"},
		{map[string]string{"JP_USER_DATA_DIR": "d", "JP_GLOBAL_CONFIG_DIR": "/c", "XDG_DATA_HOME": "/x"}, "", "d", "/c"},
		{map[string]string{}, "", "", ""},
	} {
		env := Env{Getenv: func(k string) string { return c.vars[k] }, Home: c.home}
		if got := env.DataDir(); got != filepath.FromSlash(c.data) {
			t.Errorf("%v: data %q", c.vars, got)
		}
		if got := env.ConfigDir(); got != filepath.FromSlash(c.config) {
			t.Errorf("%v: config %q", c.vars, got)
		}
	}
}

func TestSilo(t *testing.T) {
	w := newWorkspace(t)
	parent := filepath.Join(w.env.DataDir(), "workspace")
	if _, err := os.Stat(parent); err == nil {
		t.Error("the silo was made without need")
	}
	if want := filepath.Join(parent, "work-"+w.ID); w.Silo() != want {
		t.Errorf("silo %s, want %s", w.Silo(), want)
	}
	for _, name := range []string{"other-" + w.ID, w.ID} { // the later one was changed last
		if err := os.MkdirAll(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := w.with(t, func(*Env) {}).Silo(); filepath.Base(got) != "other-"+w.ID && name != w.ID {
			t.Errorf("with %s: silo %s", name, got)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(parent, "other-"+w.ID), old, old); err != nil {
		t.Fatal(err)
	}
	if got := w.with(t, func(*Env) {}).Silo(); filepath.Base(got) != w.ID {
		t.Errorf("the newest of two is %s", got)
	}
	create(t, w, "") // makes the one named after the workspace
	if got := w.with(t, func(*Env) {}).Silo(); got != w.Silo() {
		t.Errorf("silo %s, want %s", got, w.Silo())
	}
	if to, err := os.Readlink(filepath.Join(w.Silo(), "storage")); err != nil || to != filepath.Join(w.Root, ".jp") {
		t.Errorf("storage leads to %q, %v", to, err)
	}
}

func TestWithoutSilo(t *testing.T) {
	w := newWorkspace(t).with(t, func(e *Env) { e.Getenv = func(string) string { return "" } })
	id := create(t, w, "", "hi")
	if got := tree(t, filepath.Join(w.Root, ".jp", "locks")); got != id.String()+".lock" {
		t.Errorf("locks: %q", got)
	}
	_, err := w.Create(t.Context(), Spec{Base: config.Tree{}, Local: true})
	if fault.CodeOf(err) != fault.Storage {
		t.Errorf("local: %v", err)
	}
	if items, err := w.List(); err != nil || len(items) != 1 {
		t.Errorf("%v, %v", items, err)
	}
}

func spawn(t *testing.T, w *Workspace, role string, vars ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WORKSPACE_CHILD="+role, "WORKSPACE_ROOT="+w.Root, "JP_USER_DATA_DIR="+w.env.DataDir())
	cmd.Env = append(cmd.Env, vars...)
	return cmd
}

// Two processes create conversations in the same tenth of a second.
func TestIDsNeverCollide(t *testing.T) {
	w := newWorkspace(t)
	var cmds []*exec.Cmd
	var outs []*strings.Builder
	for range 2 {
		cmd, out := spawn(t, w, "create"), &strings.Builder{}
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	var ids []string
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err, outs[i])
		}
		ids = append(ids, strings.Fields(outs[i].String())...)
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 40 {
		t.Errorf("%d different ids of 40", n)
	}
	if items, err := w.List(); err != nil || len(items) != 40 || items[39].ID != 17000000039 {
		t.Errorf("%d conversations, %v", len(items), err)
	}
}

// Two processes write into one conversation: nothing is lost, and each one's
// requests are in its order.
func TestTwoWriters(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Shared", "first")
	var cmds []*exec.Cmd
	for _, name := range []string{"a", "b"} {
		cmd := spawn(t, w, "append", "WORKSPACE_ID="+id.String(), "WORKSPACE_NAME="+name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := w.Read(id)
	if err != nil || c.Broken != nil {
		t.Fatal(err, c.Broken)
	}
	next := map[string]int{}
	for _, i := range c.Stream.Requests()[1:] {
		ev, err := c.Stream.Event(i)
		if err != nil {
			t.Fatal(err)
		}
		name, n, _ := strings.Cut(ev.Content, " ")
		if n != strconv.Itoa(next[name]) {
			t.Fatalf("%s wrote %s where %d was expected", name, n, next[name])
		}
		next[name]++
	}
	if next["a"] != 100 || next["b"] != 100 {
		t.Errorf("requests: %v", next)
	}
}

// A writer is killed over and over: what it said was saved is there.
func TestKilledWriter(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Killed", "first")
	saved := 1
	for round := range 8 {
		cmd := spawn(t, w, "write", "WORKSPACE_ID="+id.String(), "WORKSPACE_NAME="+strconv.Itoa(round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1)
		for said := 0; said <= round; {
			if _, err := out.Read(buf); err != nil {
				t.Fatal(err)
			}
			if buf[0] == '\n' {
				said++
				saved++
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		c, err := w.Read(id)
		if err != nil || c.Broken != nil {
			t.Fatal(err, c.Broken)
		}
		n := len(c.Stream.Requests())
		if n < saved {
			t.Fatalf("round %d: %d requests, %d were announced as saved", round, n, saved)
		}
		saved = n
	}
	if err := appendOne(t.Context(), w, id, "last"); err != nil {
		t.Fatal(err)
	}
	if left := tree(t, filepath.Join(w.Root, ".jp", "conversations")); strings.Count(left, "\n") != 2 {
		t.Errorf("left behind:\n%s", left)
	}
}
