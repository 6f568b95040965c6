package config

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/lib/fault"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// golden runs f on every testdata/<kind>/*.txtar and compares what it returns
// with the archive's last file, want.
func golden(t *testing.T, kind string, f func(t *testing.T, a *txtar.Archive) string) {
	paths, err := filepath.Glob(filepath.Join("testdata", kind, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases for %s: %v", kind, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := f(t, a)
			i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			if i < 0 {
				a.Files = append(a.Files, txtar.File{Name: "want"})
				i = len(a.Files) - 1
			}
			if *update {
				a.Files[i].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[i].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func file(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// house is a workspace on disk, driven by the lines of an archive's "do":
//
//	base                 read the layers
//	in DIR               change the working directory (before base)
//	-c TEXT              as on the command line
//	show [KEY]           what the merged tree holds, JSON; all of it as TOML
//	final [KEY]          the same of the finalized tree
//	explain KEY          where it was set
//	find ID, names, dirs
//	over JSON            go on with a conversation whose stream holds JSON
//	delta                what it has to gain
//	capture ID SOURCE    what an invitation would store
//	roster, ready NAME, check
type house struct {
	t      *testing.T
	out    strings.Builder
	root   string
	loader *Loader
	stack  *Stack
	stream Tree // of a conversation that goes on
}

func newHouse(t *testing.T, a *txtar.Archive) *house {
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, root: tmp}
	for _, f := range a.Files {
		if !strings.Contains(f.Name, "/") {
			continue
		}
		path := filepath.Join(tmp, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws := filepath.Join(tmp, "ws")
	if err := os.MkdirAll(filepath.Join(ws, ".jp"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.loader = &Loader{
		UserDir: filepath.Join(tmp, "user"), Root: ws, Cwd: ws, SiloDir: filepath.Join(tmp, "silo"),
		Environ: append(strings.Fields(file(a, "env")), "HOME="+filepath.Join(tmp, "home")),
		Note:    func(s string) { h.printf("note: %s\n", s) },
	}
	h.stack = &Stack{note: h.loader.Note}
	return h
}

func (h *house) printf(format string, args ...any) {
	h.out.WriteString(strings.ReplaceAll(fmt.Sprintf(format, args...), h.root, "$TMP"))
}

func (h *house) fail(err error) {
	h.printf("error (%s): %s\n", fault.CodeOf(err), err)
	if hint := fault.HintOf(err); hint != "" {
		h.printf("hint: %s\n", hint)
	}
}

func (h *house) run(line string) {
	cmd, arg, _ := strings.Cut(line, " ")
	switch cmd {
	case "base":
		s, err := h.loader.Base()
		if err != nil {
			h.fail(err)
			return
		}
		h.stack = s
	case "in":
		h.loader.Cwd = filepath.Join(h.root, arg)
	case "-c":
		if err := h.assign(arg); err != nil {
			h.fail(err)
		}
	case "show":
		h.show(h.stack.Merged(), arg)
	case "final":
		f, err := Finalize(h.stack.Merged())
		if err != nil {
			h.fail(err)
			return
		}
		h.show(f, arg)
	case "explain":
		for _, s := range h.stack.Explain(arg) {
			h.printf("%s %s: %s = %s\n", s.Origin.Kind, s.Origin, s.Key, canonJSON(s.Value))
		}
	case "over":
		h.stream = trees(h.t, arg)[0]
		h.stack = h.stack.Over(h.stream)
	case "delta":
		now, err := Finalize(h.stack.Merged())
		if err != nil {
			h.t.Fatal(err)
		}
		d, err := Delta(h.stream, now)
		if err != nil {
			h.t.Fatal(err)
		}
		h.printf("%s\n", canonJSON(d))
	case "find":
		files, err := h.loader.Find(h.stack, arg)
		if err != nil {
			h.fail(err)
			return
		}
		h.printf("%s\n", strings.Join(files, " "))
	case "names":
		h.printf("%q\n", h.loader.Names(h.stack))
	case "dirs":
		h.printf("%q\n", h.loader.Dirs(h.stack))
	case "capture":
		h.capture(arg)
	case "roster":
		h.printf("%q captured %q\n", Roster(h.stack.Merged()), Captured(h.stack.Merged()))
	case "check":
		if err := CheckRoster(h.stack.Merged()); err != nil {
			h.fail(err)
		}
	case "ready":
		a, err := ParticipantConfig(h.stack.Merged(), arg)
		if err == nil {
			err = a.Ready()
		}
		if err != nil {
			h.fail(err)
			return
		}
		h.printf("%s is ready: %s\n", a.ID, a.Model)
	default:
		h.t.Fatalf("unknown line %q", line)
	}
}

func (h *house) assign(arg string) error {
	a, err := ParseAssignment(arg)
	if err != nil {
		return err
	}
	if a.Path == "" {
		return h.stack.Assign(a)
	}
	layers, err := h.loader.Source(h.stack, a.Path)
	if err != nil {
		return err
	}
	return push(h.stack, layers)
}

func (h *house) show(t Tree, key string) {
	if key == "" {
		h.printf("%s", Effective(t))
		return
	}
	path, err := SplitKey(key)
	if err != nil {
		h.t.Fatal(err)
	}
	h.printf("%s\n", canonJSON(at(t, path...)))
}

func (h *house) capture(arg string) {
	id, source, _ := strings.Cut(arg, " ")
	sub, left, err := Capture(h.loader, h.stack, id, source)
	if err != nil {
		h.fail(err)
		return
	}
	h.printf("left out: %q\n", left)
	plain := Diff(settle(Defaults()), Tree{Reserved: sub})
	b, _ := json.MarshalIndent(table(plain, Reserved), "", "  ")
	h.printf("beside the defaults: %s\n", b)
	if err := h.stack.Push(Layer{Tree: WithAssistant(Tree{}, id, sub)}); err != nil {
		h.fail(err)
	}
}

func TestHouse(t *testing.T) {
	for _, kind := range []string{"layers", "extends", "assign", "capture", "resume"} {
		t.Run(kind, func(t *testing.T) {
			golden(t, kind, func(t *testing.T, a *txtar.Archive) string {
				h := newHouse(t, a)
				for line := range strings.Lines(file(a, "do")) {
					if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
						continue
					}
					h.printf("> %s\n", line)
					h.run(line)
				}
				return h.out.String()
			})
		})
	}
}

func trees(t *testing.T, text string) []Tree {
	var out []Tree
	for _, part := range strings.Split(text, "\n+\n") {
		tree, err := decodeJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tree)
	}
	return out
}

// Layers of merge cases are JSON objects, separated by lines of "+".
func TestMergeCases(t *testing.T) {
	golden(t, "merge", func(t *testing.T, a *txtar.Archive) string {
		tree := Tree{}
		for _, l := range trees(t, file(a, "layers")) {
			tree = Merge(tree, l)
		}
		return canonical(tree)
	})
}

// A diff case is from, to; what comes out must lead from one to the other.
func TestDiffCases(t *testing.T) {
	golden(t, "diff", func(t *testing.T, a *txtar.Archive) string {
		from, to := merged(trees(t, file(a, "from"))...), merged(trees(t, file(a, "to"))...)
		d := Diff(from, to)
		if diff := cmp.Diff(to, merged(from, d)); diff != "" {
			t.Errorf("it does not lead to to (-want +got):\n%s", diff)
		}
		return canonical(d)
	})
}

func TestSnapshotCases(t *testing.T) {
	golden(t, "snapshot", func(t *testing.T, a *txtar.Archive) string {
		in, err := decodeTOML([]byte(file(a, "config.toml")))
		if err != nil {
			t.Fatal(err)
		}
		if err := (Layer{Origin: Origin{Path: "config.toml"}, Tree: in}).check(); err != nil {
			t.Fatal(err)
		}
		f, err := Finalize(in)
		if err != nil {
			t.Fatal(err)
		}
		return canonical(Snapshot(f))
	})
}

func TestSystemParts(t *testing.T) {
	golden(t, "system", func(t *testing.T, a *txtar.Archive) string {
		in, err := decodeTOML([]byte(file(a, "assistant.toml")))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParticipantConfig(Tree{Reserved: in}, Reserved)
		if err != nil {
			t.Fatal(err)
		}
		parts := c.SystemParts(file(a, "tools") != "")
		return strings.Join(parts, "\n=====\n") + "\n"
	})
}

func canonical(t Tree) string {
	b, _ := json.MarshalIndent(t, "", "  ")
	return string(b) + "\n"
}
