package archtest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the want sections of testdata")
	os.Exit(m.Run())
}

// TestRepository: the source obeys every law.
func TestRepository(t *testing.T) {
	tree, err := Load(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"cmd/jp", "internal/archtest", "internal/kernel/llm", "internal/lib/fault"} {
		if !slices.ContainsFunc(tree.Packages, func(p *Package) bool { return p.Dir == dir }) {
			t.Fatalf("%s is not in the tree: nothing was judged", dir)
		}
	}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, line := range rule.Check(tree) {
				t.Error(line)
			}
		})
	}
}

// TestRules: every rule reports its bad case and lets its good case pass. A
// case is testdata/<rule>.txtar: Go files, and the lines wanted.
func TestRules(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			name := filepath.Join("testdata", rule.Name+".txtar")
			arc, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(arc.Files, func(f txtar.File) bool { return f.Name == "want" })
			if at < 0 {
				t.Fatal("the case has no want section")
			}
			root, err := txtar.FS(&txtar.Archive{Files: slices.Delete(slices.Clone(arc.Files), at, at+1)})
			if err != nil {
				t.Fatal(err)
			}
			tree, err := Load(root)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(append(rule.Check(tree), ""), "\n")
			if strings.TrimSpace(got) == "" {
				t.Fatal("the rule reports nothing")
			}
			if updating() {
				arc.Files[at].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(arc), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(arc.Files[at].Data), got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStale: an exception that nothing needs is reported, one that is needed
// is not.
func TestStale(t *testing.T) {
	tree := &Tree{Packages: []*Package{{Dir: "a"}, {Dir: "b"}}}
	e := &exceptions{reasons: map[string]string{"a used": "", "b idle": "", "gone idle": ""}}
	if !e.allow("a used") || e.allow("a other") {
		t.Error("allow does not follow the table")
	}
	r := &report{}
	e.stale(tree, r)
	want := []string{`b: the exception "b idle" is not needed any more`}
	if diff := cmp.Diff(want, r.lines); diff != "" {
		t.Error(diff)
	}
}

// TestArchitecture: the page names every package there is.
func TestArchitecture(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, folders, ok := strings.Cut(string(page), "## Folders")
	folders, _, end := strings.Cut(folders, "## Layers")
	if !ok || !end {
		t.Fatal("ARCHITECTURE.md has no sections Folders and Layers")
	}
	tree, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree.Packages {
		if under(p.Dir, "scripts/...") {
			continue // tools of the house, one line for all
		}
		if !strings.Contains(folders, filepath.Base(p.Dir)) {
			t.Errorf("ARCHITECTURE.md does not name %s", p.Dir)
		}
	}
}
