package term

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the golden files")

// shown makes escapes and trailing spaces visible.
func shown(s string) string {
	s = strings.NewReplacer("\x1b", "␛", "\r", "␍").Replace(s)
	if !strings.HasSuffix(s, "\n") && s != "" {
		s += "␃\n"
	}
	return s
}

// goldens runs every testdata/<kind>/*.txtar: the file "in" is given to render
// and the other files are what it must return under their names.
func goldens(t *testing.T, kind string, names []string, render func(name, in string) string) {
	paths, err := filepath.Glob(filepath.Join("testdata", kind, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			for _, f := range a.Files {
				files[f.Name] = string(f.Data)
			}
			out := &txtar.Archive{Comment: a.Comment, Files: []txtar.File{{Name: "in", Data: []byte(files["in"])}}}
			for _, name := range names {
				got := shown(render(name, files["in"]))
				out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(got)})
				if diff := cmp.Diff(files[name], got); diff != "" && !*update {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// golden holds what draw writes on terminals of these widths against
// testdata/<name>, one file for each width.
func golden(t *testing.T, name string, terminals []int, draw func(Stream) error) {
	t.Helper()
	path, got := filepath.Join("testdata", name), &txtar.Archive{}
	for _, width := range terminals {
		var out bytes.Buffer
		if err := draw(Stream{Writer: &out, Pretty: true, Width: width}); err != nil {
			t.Fatal(err)
		}
		got.Files = append(got.Files, txtar.File{Name: strconv.Itoa(width), Data: []byte(shown(out.String()))})
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// streams are the outputs that goldens are drawn on.
func streamFor(name string, w *bytes.Buffer) Stream {
	switch name {
	case "color":
		return Stream{Writer: w, Pretty: true, Depth: Palette, Width: 60}
	case "mono":
		return Stream{Writer: w, Pretty: true, Width: 60}
	}
	return Stream{Writer: w}
}
