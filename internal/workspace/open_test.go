package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

func conversations(w *Workspace) string { return filepath.Join(w.Root, ".jp", "conversations") }

func TestCreate(t *testing.T) {
	w := newWorkspace(t)
	c, err := w.Create(t.Context(), Spec{
		Base: config.Tree{"conversation": config.Tree{"participants": []any{"dev"}}}, Title: "A Title",
		Events: []conversation.Event{{Kind: conversation.TurnStart}, {Kind: conversation.ChatRequest, Content: "hi"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if base := filepath.Base(c.Dir); base != c.ID.DirName("A Title") {
		t.Errorf("directory %s", base)
	}
	if got := tree(t, c.Dir); got != "base_config.json\nevents.json\nmetadata.json" {
		t.Errorf("files: %q", got)
	}
	if _, err := w.Open(t.Context(), c.ID, Wait{}); fault.CodeOf(err) != fault.Busy || !strings.Contains(err.Error(), "(test)") {
		t.Errorf("while open: %v", err)
	}
	c.Meta.Title = "Another: Title"
	if _, err := c.Stream.Append(conversation.Event{Kind: conversation.ChatResponse, Form: conversation.Message, Content: "hello"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(conversations(w))
	if len(entries) != 1 || entries[0].Name() != c.ID.DirName("Another: Title") {
		t.Errorf("after the new title: %v", entries)
	}
	again, err := w.Open(t.Context(), c.ID, Wait{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Stream.Len() != 3 || again.Meta.Title != "Another: Title" || again.Meta.LastActivatedAt.IsZero() {
		t.Errorf("%d events, %+v", again.Stream.Len(), again.Meta)
	}
}

// An error in what is to be created leaves nothing behind.
func TestCreateAllOrNothing(t *testing.T) {
	w := newWorkspace(t)
	_, err := w.Create(t.Context(), Spec{Base: config.Tree{}, Events: []conversation.Event{{Kind: "unknown"}}})
	if err == nil {
		t.Fatal("created")
	}
	if got := tree(t, conversations(w)); got != "" {
		t.Errorf("left %q", got)
	}
	blocked := filepath.Join(w.Root, ".jp", "conversations")
	put(t, blocked, "a file in the way")
	if _, err := w.Create(t.Context(), Spec{Base: config.Tree{}}); fault.CodeOf(err) != fault.Storage {
		t.Errorf("got %v", err)
	}
}

func TestSweepsOnlyWhatNobodyHolds(t *testing.T) {
	w := newWorkspace(t)
	dead := filepath.Join(conversations(w), ".123-dead.99-0.jp-tmp", "events.json")
	held := filepath.Join(conversations(w), ".456-held.99-0.jp-tmp", "events.json")
	put(t, dead, "[]")
	put(t, held, "[]")
	l, err := w.acquire(t.Context(), 456, Wait{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	create(t, w, "")
	if _, err := os.Stat(dead); err == nil {
		t.Error("the leftover of a dead process is still there")
	}
	if _, err := os.Stat(held); err != nil {
		t.Error("a conversation in the making was removed")
	}
}

func TestLocal(t *testing.T) {
	w := newWorkspace(t)
	c, err := w.Create(t.Context(), Spec{Base: config.Tree{}, Title: "Mine", Local: true})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if filepath.Dir(c.Dir) != filepath.Join(w.Silo(), "conversations") || tree(t, conversations(w)) != "" {
		t.Errorf("a local conversation is at %s", c.Dir)
	}
	got, err := w.Read(c.ID)
	if err != nil || !got.Local || got.Dir != c.Dir {
		t.Errorf("%+v, %v", got, err)
	}
	items, err := w.List()
	if err != nil || len(items) != 1 || !items[0].Local || items[0].Unshared != 0 {
		t.Errorf("%+v, %v", items, err)
	}
}

// The existing tool keeps a second copy in the user's directory: the one in
// the workspace counts, whichever is newer.
func TestCopyIsIgnored(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Both", "hi")
	c, err := w.Read(id)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(w.Silo(), "conversations", filepath.Base(c.Dir))
	if err := os.CopyFS(own, os.DirFS(c.Dir)); err != nil {
		t.Fatal(err)
	}
	items, err := w.List()
	if err != nil || len(items) != 1 || items[0].Local || items[0].Copy != own || items[0].Unshared != 0 {
		t.Fatalf("%+v, %v", items, err)
	}
	s, err := conversation.Load(own, id, w.streamEnv())
	if err != nil {
		t.Fatal(err)
	}
	s.Append(conversation.Event{Kind: conversation.ChatRequest, Content: "only here"})
	if err := s.Save(own); err != nil {
		t.Fatal(err)
	}
	before := tree(t, own)
	if items, err = w.List(); err != nil || items[0].Unshared != 1 || items[0].Events != 1 {
		t.Errorf("%+v, %v", items, err)
	}
	if err := appendOne(t.Context(), w, id, "more"); err != nil {
		t.Fatal(err)
	}
	if now, err := conversation.Load(own, id, w.streamEnv()); err != nil || now.Len() != 2 || tree(t, own) != before {
		t.Error("the ignored copy was written")
	}

	// Removing it must not take what only the copy holds.
	kept, err := w.Remove(t.Context(), id, Wait{})
	if err != nil || len(kept) != 1 || kept[0] != own || tree(t, own) != before {
		t.Fatalf("kept %v, %v", kept, err)
	}
	c, err = w.Read(id)
	if err != nil || !c.Local || c.Dir != own || tree(t, conversations(w)) != "" {
		t.Fatalf("%+v, %v", c, err)
	}
	if kept, err := w.Remove(t.Context(), id, Wait{}); err != nil || kept != nil || tree(t, filepath.Dir(own)) != "" {
		t.Errorf("kept %v, %v", kept, err)
	}
	if _, err := w.Remove(t.Context(), id, Wait{}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("removed twice: %v", err)
	}
}

func exists(w *Workspace, id conversation.ID) bool {
	_, err := w.Read(id)
	return err == nil
}

// A copy that holds nothing of its own goes with its conversation; one that
// cannot be compared stays.
func TestRemoveWithCopy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(shared, own string)
		kept   bool
	}{
		"the same":            {func(string, string) {}, false},
		"more in the shared":  {func(_, own string) { put(t, filepath.Join(own, conversation.EventsFile), "[]") }, false},
		"the copy is damaged": {func(_, own string) { put(t, filepath.Join(own, conversation.EventsFile), "[{") }, true},
		"the copy's base is missing": {func(_, own string) {
			if err := os.Remove(filepath.Join(own, conversation.BaseFile)); err != nil {
				t.Fatal(err)
			}
		}, true},
		"the shared is damaged": {func(shared, _ string) { put(t, filepath.Join(shared, conversation.EventsFile), "[{") }, true},
	} {
		w := newWorkspace(t)
		id := create(t, w, "Both", "hi")
		shared := filepath.Join(conversations(w), id.DirName("Both"))
		own := filepath.Join(w.Silo(), "conversations", filepath.Base(shared))
		if err := os.CopyFS(own, os.DirFS(shared)); err != nil {
			t.Fatal(err)
		}
		c.change(shared, own)
		kept, err := w.Remove(t.Context(), id, Wait{})
		if err != nil || (len(kept) == 1) != c.kept || exists(w, id) != c.kept {
			t.Errorf("%s: kept %v, %v", name, kept, err)
		}
	}
}

// A folder that a checkout left is no copy.
func TestRemoveBesideLeftover(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Title", "hi")
	dir := filepath.Join(conversations(w), id.DirName("Title"))
	put(t, filepath.Join(dir+"-old", "notes"), "")
	if items, err := w.List(); err != nil || len(items) != 1 || items[0].Dir != dir || items[0].Broken != "" || items[0].Copy != "" {
		t.Errorf("%+v, %v", items, err)
	}
	if kept, err := w.Remove(t.Context(), id, Wait{}); err != nil || kept != nil || isDir(dir) || !isDir(dir+"-old") {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// Two folders with one id: nobody knows which is meant, so neither is written
// nor removed, and both are named.
func TestTwins(t *testing.T) {
	for name, at := range map[string]func(w *Workspace, dir string) string{
		"beside":       func(_ *Workspace, dir string) string { return dir + "-other" },
		"listed first": func(w *Workspace, dir string) string { return strings.TrimSuffix(dir, "-title") },
		"archived": func(w *Workspace, dir string) string {
			return filepath.Join(conversations(w), ".archive", filepath.Base(dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			id := create(t, w, "Title", "hi")
			dir := filepath.Join(conversations(w), id.DirName("Title"))
			age(t, dir)
			twin := at(w, dir)
			if err := os.CopyFS(twin, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(conversations(w), id.String()[len("jp-c"):]+"-notes.txt"), "a file is no twin")
			before := tree(t, conversations(w))
			says := func(err error) bool {
				return fault.CodeOf(err) == fault.Damaged && strings.Contains(err.Error(), dir) &&
					strings.Contains(err.Error(), twin) && fault.HintOf(err) != ""
			}
			for range 2 { // from the index, too
				items, err := w.List()
				if err != nil || len(items) != 1 || !strings.Contains(items[0].Broken, dir) || !strings.Contains(items[0].Broken, twin) {
					t.Fatalf("%+v, %v", items, err)
				}
				age(t, conversations(w))
			}
			c, err := w.Read(id)
			if err != nil || !says(c.Broken) || c.Stream == nil || c.Stream.Len() != 1 {
				t.Fatalf("%+v, %v", c, err)
			}
			if _, err := w.Open(t.Context(), id, Wait{}); !says(err) {
				t.Errorf("open: %v", err)
			}
			if c, err = w.Edit(t.Context(), id, Wait{}); err != nil || !says(c.Broken) {
				t.Fatalf("%+v, %v", c, err)
			}
			c.Meta.Title = "Another"
			if err := c.Save(t.Context()); !says(err) {
				t.Errorf("save: %v", err)
			}
			c.Close()
			if _, err := w.Remove(t.Context(), id, Wait{}); !says(err) {
				t.Errorf("remove: %v", err)
			}
			if after := tree(t, conversations(w)); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
			if err := os.RemoveAll(twin); err != nil {
				t.Fatal(err)
			}
			if items, err := w.List(); err != nil || items[0].Broken != "" {
				t.Errorf("%+v, %v", items, err)
			}
			if c, err = w.Open(t.Context(), id, Wait{}); err != nil {
				t.Fatal(err)
			}
			c.Close()
		})
	}
}

// Nothing that somebody said may be left out of a request unnoticed; looking
// at the rest still works.
func TestEntryThatCannotBeUnderstood(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "", "hi")
	path := filepath.Join(conversations(w), id.DirName(""), conversation.EventsFile)
	put(t, path, "[\n{\"type\":\"chat_request\",\"content\":5}]")
	if _, err := w.Open(t.Context(), id, Wait{}); fault.CodeOf(err) != fault.Damaged || !strings.Contains(err.Error(), path+":2: damaged at byte 2: entry 1: ") {
		t.Errorf("open: %v", err)
	}
	c, err := w.Edit(t.Context(), id, Wait{}) // the lock is free again
	if err != nil || c.Broken != nil || c.Stream.Len() != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	c.Close()
	put(t, path, "[\n{\"type\":\"from_the_future\",\"content\":5}]")
	if c, err = w.Open(t.Context(), id, Wait{}); err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestNoPersist(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Title", "hi")
	if err := w.SetActive(id); err != nil {
		t.Fatal(err)
	}
	before := tree(t, filepath.Dir(w.Root))
	log, _ := os.ReadFile(filepath.Join(conversations(w), id.DirName("Title"), conversation.EventsFile))
	ro := w.with(t, func(e *Env) { e.NoPersist = true })

	holder, err := w.Open(t.Context(), id, Wait{})
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	c, err := ro.Open(t.Context(), id, Wait{}) // although it is locked
	if err != nil {
		t.Fatal(err)
	}
	c.Meta.Title = "Changed"
	c.Stream.Append(conversation.Event{Kind: conversation.TurnStart})
	fresh, err := ro.Create(t.Context(), Spec{Base: config.Tree{}, Events: []conversation.Event{{Kind: conversation.TurnStart}}})
	if err != nil || fresh.Stream.Len() != 1 || fresh.Dir != "" {
		t.Fatalf("%+v, %v", fresh, err)
	}
	err = errors.Join(c.Save(t.Context()), c.Close(), fresh.Save(t.Context()), fresh.Close(), ro.SetActive(fresh.ID))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Init(filepath.Join(filepath.Dir(w.Root), "new"), ro.env); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("init: %v", err)
	}
	if _, err := ro.Remove(t.Context(), id, Wait{}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("remove: %v", err)
	}
	if _, err := ro.List(); err != nil {
		t.Error(err)
	}
	if got, ok := ro.Active(); !ok || got != id {
		t.Errorf("the session is now at %v", got)
	}
	if after := tree(t, filepath.Dir(w.Root)); after != before {
		t.Errorf("files before:\n%s\nafter:\n%s", before, after)
	}
	if now, _ := os.ReadFile(filepath.Join(conversations(w), id.DirName("Title"), conversation.EventsFile)); string(now) != string(log) {
		t.Error("the log was written")
	}
}

func TestDamagedConversation(t *testing.T) {
	w := newWorkspace(t)
	good, bad := create(t, w, "Good", "hi"), create(t, w, "Bad", "hi")
	dir := filepath.Join(conversations(w), bad.DirName("Bad"))
	meta, log := filepath.Join(dir, conversation.MetadataFile), filepath.Join(dir, conversation.EventsFile)

	put(t, meta, "{")
	items, err := w.List()
	if err != nil || len(items) != 2 || items[0].Broken != "" || !strings.Contains(items[1].Broken, meta) || items[1].Events != 1 {
		t.Fatalf("%+v, %v", items, err)
	}
	c, err := w.Read(bad)
	if err != nil || c.Broken == nil || c.Stream == nil || c.Stream.Len() != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := w.Open(t.Context(), bad, Wait{}); fault.CodeOf(err) != fault.Damaged {
		t.Errorf("open: %v", err)
	}

	put(t, log, "[\n<<<<<<< HEAD\n")
	c, err = w.Edit(t.Context(), bad, Wait{}) // Open gave the lock back
	if err != nil || c.Broken == nil || c.Stream != nil || c.Meta == nil {
		t.Fatalf("%+v, %v", c, err)
	}
	c.Meta.Title = "written over the damaged file"
	if err := c.Save(t.Context()); fault.CodeOf(err) != fault.Damaged {
		t.Errorf("saved although damaged: %v", err)
	}
	if got, _ := os.ReadFile(meta); string(got) != "{" {
		t.Errorf("the damaged metadata is now %q", got)
	}
	if err := c.Replace(conversation.EventsFile, []byte("[{")); fault.CodeOf(err) != fault.Damaged {
		t.Errorf("replaced by damage: %v", err)
	}
	if got, _ := os.ReadFile(log); string(got) != "[\n<<<<<<< HEAD\n" {
		t.Errorf("the old file is gone: %q", got)
	}
	if err := c.Replace(conversation.EventsFile, []byte("[]")); err != nil {
		t.Error(err)
	}
	if err := c.Replace(conversation.MetadataFile, []byte(`{"title":"Repaired"}`)); err != nil {
		t.Error(err)
	}
	c.Close()
	fixed, err := w.Open(t.Context(), bad, Wait{})
	if err != nil || filepath.Base(fixed.Dir) != bad.DirName("Repaired") {
		t.Fatalf("%+v, %v", fixed, err)
	}
	fixed.Close()

	if err := os.Remove(filepath.Join(fixed.Dir, conversation.EventsFile)); err != nil {
		t.Fatal(err)
	}
	if items, err := w.List(); err != nil || items[1].Broken == "" {
		t.Errorf("without a log: %+v, %v", items, err)
	}
	if _, err := w.Remove(t.Context(), bad, Wait{}); err != nil {
		t.Error(err)
	}
	if !exists(w, good) {
		t.Error("the other one is gone")
	}
}

// The directory disappears or is renamed under an open conversation.
func TestSaveAfterCheckout(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Title", "hi")
	c, err := w.Open(t.Context(), id, Wait{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	moved := filepath.Join(conversations(w), id.DirName("moved"))
	if err := os.Rename(c.Dir, moved); err != nil {
		t.Fatal(err)
	}
	c.Stream.Append(conversation.Event{Kind: conversation.TurnStart})
	if err := c.Save(t.Context()); err != nil || c.Dir != moved {
		t.Fatalf("%s, %v", c.Dir, err)
	}
	if err := os.RemoveAll(conversations(w)); err != nil {
		t.Fatal(err)
	}
	c.Stream.Append(conversation.Event{Kind: conversation.TurnStart})
	if err := c.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := w.Read(id)
	if err != nil || again.Broken != nil || again.Stream.Len() != 3 || again.Meta.Title != "Title" {
		t.Fatalf("%+v, %v", again, err)
	}
	if got := tree(t, again.Dir); strings.Count(got, "\n") != 2 {
		t.Errorf("files: %q", got)
	}
}

func TestOpenWaits(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "", "hi")
	c, err := w.Open(t.Context(), id, Wait{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = w.Open(ctx, id, Wait{For: -1, OnWait: func(string) { cancel() }})
	if fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := w.Open(t.Context(), id, Wait{For: time.Millisecond}); fault.CodeOf(err) != fault.Busy || fault.HintOf(err) == "" {
		t.Errorf("timed out: %v", err)
	}
	got, err := w.Open(t.Context(), id, Wait{For: -1, OnWait: func(string) { // what we wait for is renamed, then let go
		c.Meta.Title = "Renamed"
		c.Save(t.Context())
		c.Close()
	}})
	if err != nil || got.Meta.Title != "Renamed" {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Close()
	if _, err := w.Open(t.Context(), 5, Wait{}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("unknown: %v", err)
	}
	if _, err := os.Stat(filepath.Join(w.Silo(), "locks", "jp-c5.lock")); err == nil {
		t.Error("a lock file for a conversation that is not there")
	}
}

// A directory in the way of a new name costs the name, not the answer.
func TestRenameInTheWay(t *testing.T) {
	w := newWorkspace(t)
	id := create(t, w, "Title", "hi")
	put(t, filepath.Join(conversations(w), id.DirName("Taken"), "x"), "")
	c, err := w.Open(t.Context(), id, Wait{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Meta.Title = "Taken"
	if err := c.Save(t.Context()); err != nil || filepath.Base(c.Dir) != id.DirName("Title") {
		t.Errorf("%s, %v", c.Dir, err)
	}
	if got, err := w.Read(id); err != nil || got.Meta.Title != "Taken" {
		t.Errorf("%+v, %v", got, err)
	}
}
