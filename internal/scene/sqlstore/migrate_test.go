package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

var rewrite = flag.Bool("update", false, "rewrite what the tests expect")

// TestShippedMigrations: a migration that somebody's database has gone through
// is never changed. What a release shipped stays in this list; a new one is
// added below.
func TestShippedMigrations(t *testing.T) {
	shipped := map[string]string{
		"00001_scenes.sql":    "c959868977df56a1cdac60164aa70425b825d220f5ae9c5af56cb0d55f072bf5",
		"00002_exchanges.sql": "a083555887d8cd7536b5a10ec1b27db10610d5cd9b6ae191d7b5f67820073eee",
	}
	got := map[string]string{}
	for _, name := range migrationNames(t) {
		data, err := fs.ReadFile(embedded, "migrations/"+name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		got[name] = hex.EncodeToString(sum[:])
	}
	if diff := cmp.Diff(shipped, got); diff != "" {
		t.Errorf("a shipped migration was changed, or a new one is not in the list (-shipped +now):\n%s", diff)
	}
}

func migrationNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := fs.ReadDir(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// TestUpgrade builds the schema of every version, fills it with rows of that
// time (testdata/schema/VERSION.sql, at least one in each table), upgrades it
// and compares what the port says to VERSION.json.
func TestUpgrade(t *testing.T) {
	for i, name := range migrationNames(t) {
		t.Run(name, func(t *testing.T) {
			version := int64(i + 1)
			file := filepath.Join(t.TempDir(), "scenes.db")
			rows, err := os.ReadFile(fmt.Sprintf("testdata/schema/%05d.sql", version))
			if err != nil {
				t.Fatal(err)
			}
			raw(t, file, func(db *sql.DB) error {
				p, err := migrations(db, embedded)
				if err != nil {
					return err
				}
				if _, err := p.UpTo(t.Context(), version); err != nil {
					return err
				}
				_, err = db.Exec(string(rows))
				return err
			})
			raw(t, file, func(db *sql.DB) error {
				for _, table := range tables(t, db) {
					if n := count(t, db, table); n == 0 {
						t.Errorf("no row of the time is in %s", table)
					}
				}
				return nil
			})

			s, err := Open(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if s.Fresh() {
				t.Error("an old database counts as fresh")
			}
			golden(t, fmt.Sprintf("testdata/schema/%05d.json", version), dump(t, s))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			sound(t, file)
		})
	}
}

// tables are ours.
func tables(t *testing.T, db *sql.DB) []string {
	t.Helper()
	return texts(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
}

func texts(t testing.TB, db *sql.DB, query string, args ...any) (out []string) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func count(t *testing.T, db *sql.DB, table string) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// raw opens a file as SQLite does, without us.
func raw(t testing.TB, file string, fn func(*sql.DB) error) {
	t.Helper()
	db, err := connect(file, 1, "_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	if err := fn(db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// sound fails when SQLite finds fault with a file.
func sound(t testing.TB, file string) {
	t.Helper()
	raw(t, file, func(db *sql.DB) error {
		if got := texts(t, db, "SELECT integrity_check FROM pragma_integrity_check"); !slices.Equal(got, []string{"ok"}) {
			t.Errorf("integrity check: %q", got)
		}
		if got := texts(t, db, `SELECT "table" FROM pragma_foreign_key_check`); len(got) > 0 {
			t.Errorf("rows with references to nothing in: %q", got)
		}
		return nil
	})
}

// dump is what the port says about all rows.
func dump(t *testing.T, s scene.Store) []byte {
	t.Helper()
	out := map[string]any{}
	err := s.View(t.Context(), func(tx scene.Tx) error {
		for name, read := range map[string]func() (any, error){
			"conversations": func() (any, error) { return tx.Conversations.All() },
			"overviews":     func() (any, error) { return tx.Conversations.Overviews() },
			"members":       func() (any, error) { return tx.Members.All() },
			"messages":      func() (any, error) { return tx.Messages.Of("root") },
			"path":          func() (any, error) { return tx.Messages.Path(8, 0) },
			"upload":        func() (any, error) { _, data, err := tx.Uploads.Content(3); return data, err },
			"proposals":     func() (any, error) { return tx.Proposals.Of("root", scene.Pending, scene.Applied) },
			"cards":         func() (any, error) { return tx.Cards.All() },
			"briefs":        func() (any, error) { return tx.Cards.Briefs() },
			"avatar":        func() (any, error) { return tx.Cards.Avatar("k") },
			"worlds":        func() (any, error) { return tx.Worlds.All() },
			"entries":       func() (any, error) { return tx.Entries.All() },
			"choices":       func() (any, error) { return tx.Choices.Of("root") },
			"moods":         func() (any, error) { return tx.Moods.All() },
			"fragments":     func() (any, error) { return tx.Fragments.All() },
			"phrases":       func() (any, error) { return tx.Phrases.All() },
			"personas":      func() (any, error) { return tx.Personas.All() },
			"endpoints":     func() (any, error) { return tx.Endpoints.All() },
			"models":        func() (any, error) { return tx.Models.All() },
			"director":      func() (any, error) { return tx.Directors.Get("root") },
			"logs":          func() (any, error) { return tx.Logs.OfConversation("root") },
			"calls":         func() (any, error) { return tx.Calls.Of(8) },
			"once":          func() (any, error) { return found(tx.Onces.Get("root", "key")) },
			"settings":      func() (any, error) { return tx.Settings.Get() },
		} {
			got, err := read()
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			out[name] = got
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// found is a row, nil when there is none.
func found[T any](row T, err error) (*T, error) {
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	return &row, err
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestFailedMigration: one that breaks off leaves nothing behind, and the
// database opens as before.
func TestFailedMigration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenes.db")
	s, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	broken := fstest.MapFS{}
	for _, name := range migrationNames(t) {
		data, err := fs.ReadFile(embedded, "migrations/"+name)
		if err != nil {
			t.Fatal(err)
		}
		broken["migrations/"+name] = &fstest.MapFile{Data: data}
	}
	broken["migrations/99999_broken.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE half (id TEXT);\nINSERT INTO nothing VALUES (1);\n")}
	if err := migrate(t.Context(), s.writer, broken); err == nil {
		t.Error("a broken migration went through")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, file, func(db *sql.DB) error {
		if slices.Contains(tables(t, db), "half") {
			t.Error("half of a migration is there")
		}
		return nil
	})
	if s, err = Open(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBrokenOff: a program that was killed while it made the schema made none.
func TestBrokenOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenes.db")
	raw(t, file, func(db *sql.DB) error {
		p, err := migrations(db, embedded)
		if err != nil {
			return err
		}
		_, err = p.GetDBVersion(t.Context()) // goose's own table
		return err
	})
	s, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Fresh() {
		t.Error("the schema was made, but the database does not count as fresh")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewerSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scenes.db")
	s, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, file, func(db *sql.DB) error {
		_, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)")
		return err
	})
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, file, fault.Conflict)
	if after, err := os.ReadFile(file); err != nil || !slices.Equal(before, after) {
		t.Errorf("what was refused was changed (%v)", err)
	}
}

// wantRefusal wants Open to fail with a code, a sentence and a hint.
func wantRefusal(t *testing.T, file string, want fault.Code) {
	t.Helper()
	s, err := Open(context.Background(), file)
	if err == nil {
		_ = s.Close()
		t.Fatal("it was opened")
	}
	if fault.CodeOf(err) != want || want != fault.Storage && fault.HintOf(err) == "" {
		t.Errorf("refused with %s: %v (hint: %s)", fault.CodeOf(err), err, fault.HintOf(err))
	}
}
