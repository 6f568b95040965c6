package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/workspace/conversation"
)

// age makes everything below dir old enough for the index.
func age(t testing.TB, dir string) {
	t.Helper()
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestIndex(t *testing.T) {
	w := newWorkspace(t)
	create(t, w, "One", "a", "b")
	bad := create(t, w, "Two")
	meta := filepath.Join(conversations(w), bad.DirName("Two"), conversation.MetadataFile)
	put(t, meta, "{")
	list := func() []Item {
		t.Helper()
		items, err := w.List()
		if err != nil {
			t.Fatal(err)
		}
		return items
	}
	cold := list()
	if len(cold) != 2 || cold[0].Title != "One" || cold[0].Events != 2 || cold[0].LastEvent.IsZero() || cold[1].Broken == "" {
		t.Fatalf("%+v", cold)
	}
	age(t, w.Root)
	list()
	if _, err := os.Stat(w.indexPath()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cold, list()); diff != "" {
		t.Errorf("from the index: %s", diff)
	}

	// What the index knows is not read again: a file that looks the same is
	// believed to be the same.
	one := cold[0]
	path := filepath.Join(one.Dir, conversation.MetadataFile)
	data, _ := os.ReadFile(path)
	put(t, path, strings.Replace(string(data), "One", "Uno", 1))
	age(t, w.Root)
	if got := list()[0].Title; got != "One" {
		t.Errorf("title %q: the index was not used", got)
	}
	put(t, path, strings.Replace(string(data), "One", "Three", 1))
	age(t, w.Root)
	if got := list()[0].Title; got != "Three" {
		t.Errorf("title %q after a change", got)
	}
	for _, junk := range []string{"", "{", `{"version":99,"records":[]}`, `[]`, "\x00"} {
		put(t, w.indexPath(), junk)
		if got := list(); len(got) != 2 || got[0].Title != "Three" {
			t.Errorf("with the index %q: %+v", junk, got)
		}
	}
	if _, err := w.Remove(t.Context(), one.ID, Wait{}); err != nil {
		t.Fatal(err)
	}
	if got := list(); len(got) != 1 {
		t.Errorf("after a removal: %+v", got)
	}
}

func TestFreshFilesAreNotRemembered(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "One")
	path := filepath.Join(conversations(w), id.DirName("One"), conversation.MetadataFile)
	now := w.env.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		t.Fatal(err)
	}
	if _, err := w.List(); err != nil {
		t.Fatal(err)
	}
	if ix := w.readIndex(); len(ix.known) != 0 {
		t.Errorf("%+v", ix.known)
	}
}

func TestArchivedAndStrangers(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Old", "hi")
	name := id.DirName("Old")
	if err := os.MkdirAll(filepath.Join(conversations(w), ".archive"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(conversations(w), name), filepath.Join(conversations(w), ".archive", name)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(conversations(w), ".trash", "17000000000-x", "events.json"), "[]")
	put(t, filepath.Join(conversations(w), "notes", "events.json"), "[]")
	put(t, filepath.Join(conversations(w), ".gitkeep"), "")
	put(t, filepath.Join(conversations(w), "99999999999-file"), "")
	items, err := w.List()
	if err != nil || len(items) != 1 || !items[0].Archived || items[0].ID != id {
		t.Fatalf("%+v, %v", items, err)
	}
	if c, err := w.Read(id); err != nil || !c.Archived {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := w.Resolve("newest"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the newest is an archived one: %v", err)
	}
}

func TestFixturesInAWorkspace(t *testing.T) {
	src := filepath.FromSlash("../../../shared/fixtures/conversations")
	if _, err := os.Stat(src); err != nil {
		t.Skip("../shared/fixtures is not there")
	}
	w := newWorkspace(t)
	if err := os.CopyFS(conversations(w), os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
	items, err := w.List()
	if err != nil || len(items) != 5 {
		t.Fatalf("%+v, %v", items, err)
	}
	var got []string
	for _, i := range items {
		got = append(got, fmt.Sprintf("%s %d %s %s%s", i.ID, i.Events, i.LastActivated.Format(time.DateOnly), i.Title, i.Broken))
	}
	want := []string{
		"jp-c17648402467 9 2025-12-04 Flexible LLM Provider Architecture Design",
		"jp-c17673969718 3 2026-01-02 IANA Reference Site",
		"jp-c17727484633 28 2026-03-05 Preventing RFD Summary Regeneration Churn",
		"jp-c17758406187 29 2026-04-10 Missing date in version string",
		"jp-c17800836875 93 2026-05-29 jp init XDG directory issue on Linux",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, i := range items {
		if c, err := w.Read(i.ID); err != nil || c.Broken != nil {
			t.Errorf("%s: %v, %v", i.ID, err, c.Broken)
		}
		for _, file := range []string{conversation.EventsFile, conversation.MetadataFile, conversation.BaseFile} {
			a, _ := os.ReadFile(filepath.Join(src, filepath.Base(i.Dir), file))
			b, _ := os.ReadFile(filepath.Join(i.Dir, file))
			if string(a) != string(b) {
				t.Errorf("%s/%s was changed by reading", i.ID, file)
			}
		}
		if err := appendOne(t.Context(), w, i.ID, "go on"); err != nil {
			t.Errorf("%s: %v", i.ID, err)
		}
	}
}
