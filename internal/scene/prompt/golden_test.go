package prompt_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// left are macros that somebody should have replaced.
var left = regexp.MustCompile(`(?i)\{\{\s*(user|char|roll|random|pick|time|date|trim|original|//)`)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestPrompts: what every call of a scene is given, to the byte. The scene is
// told as script says.
func TestPrompts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := read(t, ar)
			var out []txtar.File
			for _, f := range ar.Files {
				if !strings.HasPrefix(f.Name, "want/") {
					out = append(out, f)
				}
			}
			for _, speak := range s.speaks {
				name := "want/" + strings.Replace(speak[0], "-", "neutral", 1)
				got := s.say(speak[0], speak[1])
				out = append(out, txtar.File{Name: name, Data: []byte(got)})
				if diff := cmp.Diff(s.files[name]+"\n", got); diff != "" && !*update {
					t.Errorf("%s (-want +got)\n%s", name, diff)
				}
				if m := left.FindString(got); m != "" && !s.literal {
					t.Errorf("%s has %s left", name, m)
				}
			}
			if *update {
				ar.Files = out
				if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
