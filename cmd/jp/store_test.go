package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
)

// fixtures is where real conversations of an older tool are, seen from here.
const fixtures = "../../../shared/fixtures/conversations"

// condition knows [fixtures]: the real conversations are there.
func condition(name string) (bool, error) {
	if name != "fixtures" {
		return false, fmt.Errorf("unknown condition %s", name)
	}
	_, err := os.Stat(fixtures)
	return err == nil, nil
}

// fixture copies a real conversation.
func fixture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fixture NAME DIR")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(filepath.Join(fixtures, args[0]))))
}

// files lists every file below a directory with a digest of what it holds.
func files(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: files DIR FILE")
	}
	dir := os.DirFS(ts.MkAbs(args[0]))
	var b strings.Builder
	ts.Check(fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(dir, path)
		fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(data))
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o644))
}

// survives compares an older conversation with what became of it: each of its
// entries must be there still, in order, byte for byte but for white space and
// the event_id put in front. The ids go to OUT. The configuration that older
// formats keep as their first entry is not an entry any more.
func survives(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: survives OLDDIR NEWDIR OUT")
	}
	old, now := entries(ts, args[0]), entries(ts, args[1])
	if _, err := os.Stat(filepath.Join(ts.MkAbs(args[0]), "base_config.json")); err != nil {
		old = old[1:]
	}
	if len(now) < len(old) {
		ts.Fatalf("%d entries are left of %d", len(now), len(old))
	}
	var ids strings.Builder
	for i, entry := range old {
		var has struct {
			ID string `json:"event_id"`
		}
		ts.Check(json.Unmarshal([]byte(now[i]), &has))
		front := fmt.Sprintf(`{"event_id":%q,`, has.ID)
		if want := front + strings.TrimPrefix(strings.TrimPrefix(entry, front), "{"); now[i] != want {
			ts.Fatalf("entry %d was\n%s\nand is\n%s", i, entry, now[i])
		}
		fmt.Fprintln(&ids, has.ID)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ids.String()), 0o644))
}

func entries(ts *testscript.TestScript, dir string) []string {
	var raw []json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(dir, "events.json"))), &raw))
	list := make([]string, len(raw))
	for i, r := range raw {
		var b bytes.Buffer
		ts.Check(json.Compact(&b, r))
		list[i] = b.String()
	}
	return list
}

// harmless wants no character in a file, or in stdout or stderr, that a
// terminal might obey.
func harmless(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		at := strings.IndexFunc(text, func(r rune) bool {
			return unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar
		})
		if (at < 0) == neg {
			ts.Fatalf("%s holds %q", name, text)
		}
	}
}
