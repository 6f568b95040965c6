package lore_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/scene"
	"jp/internal/scene/lore"
)

// TestSelectGolden: testdata/select/*.txtar has worlds, a line each; entries, a
// JSON object each, of the first world and as NewEntry says; texts, a line
// each, as it is or as a JSON string; perhaps a budget; and what comes of it.
func TestSelectGolden(t *testing.T) {
	names, _ := filepath.Glob("testdata/select/*.txtar")
	if len(names) == 0 {
		t.Fatal("no cases")
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			arc, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c := readCase(t, arc)
			got := told(lore.Compile(c.worlds, c.entries).Select(c.texts, c.budget))
			for _, e := range c.entries {
				for _, w := range lore.Warnings(e) {
					got += "warning " + e.Name + ": " + w + "\n"
				}
			}
			if updating() {
				arc.Files = append(c.files, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(arc), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type selectCase struct {
	worlds  []scene.World
	entries []scene.Entry
	texts   []string
	budget  *int
	want    string
	files   []txtar.File // all but want
}

func readCase(t *testing.T, arc *txtar.Archive) selectCase {
	t.Helper()
	var c selectCase
	for _, f := range arc.Files {
		text := string(f.Data)
		if f.Name == "want" {
			c.want = text
			continue
		}
		c.files = append(c.files, f)
		for line := range strings.Lines(text) {
			c.read(t, f.Name, strings.TrimSuffix(line, "\n"))
		}
	}
	return c
}

func (c *selectCase) read(t *testing.T, file, line string) {
	t.Helper()
	var err error
	switch file {
	case "worlds":
		id, recursive := strings.CutSuffix(line, " recursive")
		c.worlds = append(c.worlds, scene.World{ID: id, Recursive: recursive})
	case "entries":
		e := scene.NewEntry()
		e.WorldID = c.worlds[0].ID
		err = json.Unmarshal([]byte(line), &e)
		e.ID = e.Name
		c.entries = append(c.entries, e)
	case "texts":
		if strings.HasPrefix(line, `"`) {
			err = json.Unmarshal([]byte(line), &line)
		}
		c.texts = append(c.texts, line)
	case "budget":
		var n int
		n, err = strconv.Atoi(line)
		c.budget = &n
	default:
		t.Fatalf("no such file: %s", file)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

// told is a selection, a line for each hit.
func told(s lore.Selection) string {
	var b strings.Builder
	for _, l := range []struct {
		name string
		hits []lore.Hit
	}{{"constant", s.Constant}, {"keyword", s.Keyword}, {"at depth", s.AtDepth}, {"dropped", s.Dropped}} {
		for _, h := range l.hits {
			fmt.Fprintf(&b, "%s %s, %d: %s\n", l.name, h.Entry.Name, h.Depth, h.Why)
		}
	}
	return b.String()
}

func TestSelectionJSON(t *testing.T) {
	if got := (lore.Selection{}).JSON(); got != nil {
		t.Errorf("of nothing: %s", got)
	}
	c := scene.NewEntry()
	c.ID, c.WorldID, c.Name, c.Content, c.Constant = "1", "w", "<Inn>", "Warm, loud.", true
	k := scene.NewEntry()
	k.ID, k.WorldID, k.Keys, k.Content = "2", "w", []string{"cat"}, "It “purrs”."
	got := lore.Compile([]scene.World{{ID: "w"}}, []scene.Entry{c, k}).Select([]string{"A cat."}, nil).JSON()
	want := `{"constant":[{"id":"1","world_id":"w","name":"<Inn>","why":"constant","depth":0,"tokens_est":3}],` +
		`"keyword":[{"id":"2","world_id":"w","name":"","why":"key “cat”","depth":0,"tokens_est":3}],"at_depth":[],"dropped":[]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestWork: expressions that would take too long are not run, and their
// entries are told of; what is quick is still found.
func TestWork(t *testing.T) {
	var entries []scene.Entry
	for _, key := range []string{"[y]", "[ab]{900}", "[cd]{900}", "[ef]{900}", "[wy]"} {
		e := scene.NewEntry()
		e.WorldID, e.Name, e.Keys, e.Regex = "w", key, []string{key}, true
		entries = append(entries, e)
	}
	second := entries[3]
	second.Name, second.Keys, second.Regex = "two ways", []string{"/[ef]{900}/", "end"}, false
	entries = append(entries, second)
	text := strings.Repeat("z", 50_000) + "y end"
	got := told(lore.Compile([]scene.World{{ID: "w"}}, entries).Select([]string{text, text}, nil))
	want := "keyword [y], 0: key “[y]”\nkeyword two ways, 0: key “end”\n" +
		"dropped [ab]{900}, 0: not looked for everywhere: its expressions take too long\n" +
		"dropped [cd]{900}, 0: not looked for everywhere: its expressions take too long\n" +
		"dropped [ef]{900}, 0: not looked for everywhere: its expressions take too long\n" +
		"dropped [wy], 0: not looked for everywhere: its expressions take too long\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCase: letters that differ only in case are the same, others are not.
func TestCase(t *testing.T) {
	fires := func(key, text rune) bool {
		e := scene.NewEntry()
		e.WorldID, e.Keys = "w", []string{string(key)}
		return len(lore.Compile([]scene.World{{ID: "w"}}, []scene.Entry{e}).Select([]string{string(text)}, nil).Keyword) == 1
	}
	for r := rune('A'); r <= unicode.MaxRune; r++ {
		if o := unicode.SimpleFold(r); o != r && !fires(r, o) {
			t.Errorf("%c is not %c", r, o)
		}
	}
	for _, pair := range []string{"×÷", "ая", "аa", "éè", "漢字", "ßs", "ōo", "ЯЮ"} {
		if r := []rune(pair); fires(r[0], r[1]) {
			t.Errorf("%c is %c", r[0], r[1])
		}
	}
}

// TestParallel: an index may be asked by many at once.
func TestParallel(t *testing.T) {
	worlds, entries := library(50, func(i int, e *scene.Entry) { e.Regex, e.Keys = i%2 == 0, []string{"ba", "ro"} })
	x := lore.Compile(worlds, entries)
	want := told(x.Select(messages(), nil))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if diff := cmp.Diff(want, told(x.Select(messages(), nil))); diff != "" {
				t.Error(diff)
			}
		})
	}
	wg.Wait()
}
