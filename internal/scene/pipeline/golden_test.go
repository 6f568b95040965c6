package pipeline_test

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// golden compares texts with those of an archive, by name.
func golden(t *testing.T, path string, texts map[string]string) {
	t.Helper()
	if *update {
		ar := &txtar.Archive{}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			ar.Files = append(ar.Files, txtar.File{Name: name, Data: []byte(ended(texts[name]))})
		}
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range ar.Files {
		want[f.Name] = string(f.Data)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if diff := cmp.Diff(want[name], ended(texts[name])); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is not looked at", name)
	}
}

// ended is a text that ends with its last line.
func ended(text string) string { return strings.TrimRight(text, "\n") + "\n" }
