package sqlstore

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/storetest"
)

// recording is a Store that remembers its statements.
type recording struct {
	*Store
	seen *sync.Map
}

func (r recording) View(ctx context.Context, fn func(scene.Tx) error) error {
	return run(ctx, r.readers, func(c conn) error { return fn(bind(ctx, recorder{c, r.seen})) })
}

func (r recording) Update(ctx context.Context, fn func(scene.Tx) error) error {
	return run(ctx, r.writer, func(c conn) error { return fn(bind(ctx, recorder{c, r.seen})) })
}

type recorder struct {
	conn
	seen *sync.Map
}

func (r recorder) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	r.seen.Store(query, true)
	return r.conn.PrepareContext(ctx, query)
}

// TestStore runs the suite and asks SQLite about every statement of it: none
// goes through a table row by row but those that are there to list it whole.
func TestStore(t *testing.T) {
	var seen sync.Map
	t.Run("suite", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) scene.Store {
			file := filepath.Join(t.TempDir(), "scenes.db")
			s, err := Open(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				sound(t, file)
			})
			return recording{s, &seen}
		})
	})
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	// Common tables hold only what was found already.
	scan := regexp.MustCompile(`^SCAN (\w+)`)
	found := map[string]bool{"path": true, "below": true, "down": true, "needed": true, "prompt": true, "CONSTANT": true}
	statements := 0
	seen.Range(func(text, _ any) bool {
		statements++
		query := text.(string)
		for _, step := range plan(t, s.readers, query) {
			m := scan.FindStringSubmatch(step)
			if m != nil && !found[m[1]] && !listsWhole(query, m[1]) {
				t.Errorf("%s\nin: %s", step, query)
			}
		}
		return true
	})
	if statements < 60 {
		t.Errorf("only %d statements were seen", statements)
	}
}

// listsWhole tells whether a statement is All of a table, or one of the two
// lists of people's things.
func listsWhole(query, table string) bool {
	all := !strings.Contains(query, "WHERE")
	overview := table == "conversations" && strings.Contains(query, "message_count") ||
		(table == "conversations" || table == "member") && strings.Contains(query, "member.active = 1")
	brief := table == "character_cards" && strings.Contains(query, "has_avatar")
	return all || overview || brief
}

func plan(t *testing.T, db *sql.DB, query string) (steps []string) {
	t.Helper()
	args := make([]any, len(regexp.MustCompile(`\$\d+`).FindAllString(query, -1)))
	rows, err := db.Query("EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

// TestReferencesAreIndexed: when a row goes, SQLite looks for those that refer
// to it, and says nothing of that in its plans.
func TestReferencesAreIndexed(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	checked := 0
	for _, table := range tables(t, s.readers) {
		for _, column := range texts(t, s.readers, `SELECT "from" FROM pragma_foreign_key_list($1)`, table) {
			checked++
			steps := plan(t, s.readers, "SELECT 1 FROM "+table+" WHERE "+column+" = $1")
			if len(steps) != 1 || !strings.HasPrefix(steps[0], "SEARCH") {
				t.Errorf("%s.%s has no index: %q", table, column, steps)
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d references were seen", checked)
	}
}

// TestLongChain: thousands of messages in one line go with their conversation in
// one call.
func TestLongChain(t *testing.T) {
	length := 50_000
	if raced {
		length = 5_000
	}
	file := filepath.Join(t.TempDir(), "scenes.db")
	s, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx scene.Tx) error {
		return tx.Conversations.Insert(scene.Conversation{
			ID: "c", Kind: scene.Group, TurnMode: scene.Manual, MaxSpeakers: 1, ContextMode: scene.Private,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.writer.Exec(`WITH RECURSIVE line (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM line WHERE n < $1)
		INSERT INTO messages (id, conversation_id, parent_id, depth, role, turn_index, author, incomplete, direction, created_at, content)
		SELECT n, 'c', nullif(n - 1, 0), n, 'user', n, '', '', '', '2026-01-02T03:04:05.000000Z', '' FROM line`, length)
	if err == nil {
		_, err = s.writer.Exec("UPDATE conversations SET active_leaf_id = $1", length)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx scene.Tx) error {
		steps, err := tx.Messages.Path(int64(length), 200)
		if len(steps) != 200 || steps[0].Depth != length-199 {
			t.Errorf("the last 200 are %d", len(steps))
		}
		if err != nil {
			return err
		}
		return tx.Conversations.Delete("c")
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, s.readers, "messages"); n != 0 {
		t.Errorf("%d messages are left", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, file)
}

// A statement that the database does not understand is our fault and not the
// disk's.
func TestWrongStatement(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.writer.Exec("SELECT nothing FROM nowhere")
	if code := fault.CodeOf(classify(t.Context(), "thing", err)); code != fault.Internal {
		t.Errorf("%s: %v", code, err)
	}
}
