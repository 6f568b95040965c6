package attach

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
)

func TestMatch(t *testing.T) {
	dir := fstest.MapFS{"b.md": {}, "a.md": {}, "c.txt": {}, ".d.md": {}, "sub/e.md": {}, "sub/.f/g.md": {}}
	for glob, want := range map[string][]string{
		"*.md":          {"a.md", "b.md"},
		"**/*.md":       {"a.md", "b.md", "sub/e.md"},
		"{b,a,a,?}.md":  {"a.md", "b.md"},
		"sub/.f/*.md":   {"sub/.f/g.md"},
		"*":             {"a.md", "b.md", "c.txt"},
		"missing/*.txt": nil,
	} {
		if got := match(dir, glob); !slices.Equal(got, want) {
			t.Errorf("%s matches %q, want %q", glob, got, want)
		}
	}
	// Enough is enough: a large tree is not listed to its end.
	for i := range 3 * MaxFiles {
		dir[fmt.Sprintf("many/%d/x", i)] = &fstest.MapFile{}
	}
	for _, glob := range []string{"**", "many/*/x", "{many,sub}/**/x"} {
		if n := len(match(dir, glob)); n != MaxFiles+1 {
			t.Errorf("%s lists %d files", glob, n)
		}
	}
}
