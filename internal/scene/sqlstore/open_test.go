package sqlstore

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// TestPaths: a path is a path, whatever it looks like in a URI.
func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"plain.db", "a b.db", "a?mode=memory&x=%41#b.db", "é%.db", ":memory:", "file:x?mode=memory", "-", "a'\";b.db", "a\nb.db", `a\b.db`,
	} {
		for _, file := range []string{name, filepath.Join(t.TempDir(), name)} {
			s, err := Open(t.Context(), file)
			if err != nil {
				t.Errorf("%q: %v", file, err)
				continue
			}
			if !s.Fresh() {
				t.Errorf("%q was there already", file)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			files, err := os.ReadDir(filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(e os.DirEntry) bool { return e.Name() == name }) {
				t.Errorf("%q is not among %v", name, files)
			}
			if info, err := os.Stat(file); err != nil || info.Size() == 0 {
				t.Errorf("%q: %v, %v", file, info, err)
			}
		}
	}
}

func TestPermissions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenes.db")
	s, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	private := func() {
		t.Helper()
		for _, name := range []string{file, file + "-wal", file + "-shm"} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has the mode %s", filepath.Base(name), info.Mode())
			}
		}
	}
	private()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob(file + "*"); err != nil || len(files) != 1 {
		t.Errorf("after Close there is %q, %v", files, err)
	}
	// A copy from elsewhere may be open to all.
	if err := os.Chmod(file, 0o664); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	private()
}

func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Run("no database", func(t *testing.T) {
		file := write("text", bytes.Repeat([]byte("Dear diary. "), 1000))
		wantRefusal(t, file, fault.Damaged)
		if data, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(data, []byte("Dear diary.")) {
			t.Error("it was written to")
		}
	})
	t.Run("a few bytes", func(t *testing.T) { wantRefusal(t, write("short", []byte("x")), fault.Damaged) })
	t.Run("another program's", func(t *testing.T) {
		file := filepath.Join(dir, "foreign")
		raw(t, file, func(db *sql.DB) error {
			_, err := db.Exec("CREATE TABLE bookmarks (url TEXT)")
			return err
		})
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, file, fault.Conflict)
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
			t.Errorf("it was written to (%v)", err)
		}
	})
	t.Run("a folder", func(t *testing.T) { wantRefusal(t, dir, fault.Storage) })
	t.Run("no folder", func(t *testing.T) { wantRefusal(t, filepath.Join(dir, "none", "x"), fault.Storage) })
	t.Run("no name", func(t *testing.T) { wantRefusal(t, "", fault.Storage) })
	t.Run("zero byte", func(t *testing.T) { wantRefusal(t, filepath.Join(dir, "a\x00b"), fault.Storage) })
}

// TestDamagedPages: a file that begins well is found out when it is read.
func TestDamagedPages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenes.db")
	s, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	for i := page; i < len(data); i++ {
		data[i] = 0x5a
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, file, fault.Damaged)
}

func TestFullDisk(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.writer.Exec("PRAGMA max_page_count = 1"); err != nil { // as small as it is
		t.Fatal(err)
	}
	big := scene.Avatar{Data: make([]byte, 1<<20)}
	err = s.Update(t.Context(), func(tx scene.Tx) error {
		if err := tx.Cards.Insert(scene.Card{ID: "k"}); err != nil {
			return err
		}
		return tx.Cards.SetAvatar("k", big)
	})
	if fault.CodeOf(err) != fault.Storage || fault.HintOf(err) == "" {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
	err = s.View(t.Context(), func(tx scene.Tx) error {
		rows, err := tx.Cards.All()
		if len(rows) > 0 {
			t.Error("half of the change is there")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestValues: values that no version of the program writes are refused, and
// what damage put into the file is read with care.
func TestValues(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	fits := scene.Conversation{
		ID: "c", Kind: scene.Group, TurnMode: scene.Manual, MaxSpeakers: 1, ContextMode: scene.Shared, Slots: scene.Slots(`{}`),
	}
	for _, change := range []func(*scene.Conversation){
		func(c *scene.Conversation) { c.Kind = "other" },
		func(c *scene.Conversation) { c.TurnMode = "" },
		func(c *scene.Conversation) { c.MaxSpeakers = 9 },
		func(c *scene.Conversation) { c.MaxSpeakers = 0 },
		func(c *scene.Conversation) { c.ContextMode = "open" },
	} {
		c := fits
		change(&c)
		err := s.Update(t.Context(), func(tx scene.Tx) error { return tx.Conversations.Insert(c) })
		if fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", c, err)
		}
	}
	err = s.Update(t.Context(), func(tx scene.Tx) error {
		if err := tx.Conversations.Insert(fits); err != nil {
			return err
		}
		return tx.Cards.Insert(scene.Card{ID: "k"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"PRAGMA ignore_check_constraints = 1",
		"UPDATE conversations SET group_context_mode = 'open'",
		"UPDATE character_cards SET tags = 'no list'",
		"INSERT INTO settings VALUES (1, 'no JSON')",
	} {
		if _, err := s.writer.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	err = s.View(t.Context(), func(tx scene.Tx) error {
		c, err := tx.Conversations.Get("c")
		if c.ContextMode != scene.Private {
			t.Errorf("an unknown mode is read as %q", c.ContextMode)
		}
		if _, err := tx.Cards.Get("k"); fault.CodeOf(err) != fault.Damaged {
			t.Errorf("tags that are no list: %v", err)
		}
		if _, err := tx.Settings.Get(); fault.CodeOf(err) != fault.Damaged {
			t.Errorf("settings that are no JSON: %v", err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
