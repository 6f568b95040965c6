package lore_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/lib/fault"
	"jp/internal/scene/lore"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the want sections of testdata")
	os.Exit(m.Run())
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// TestGolden: testdata/*.txtar has a book in, and what comes of it: the book
// as we hold it, the notes, and both exports.
func TestGolden(t *testing.T) {
	names, _ := filepath.Glob("testdata/*.txtar")
	if len(names) == 0 {
		t.Fatal("no cases")
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			arc, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := []txtar.File{arc.Files[0]}
			add := func(name, text string) {
				got = append(got, txtar.File{Name: name, Data: []byte(text + "\n")})
			}
			b, notes, err := lore.DecodeBook(arc.Files[0].Data)
			if err != nil {
				add("error", string(fault.CodeOf(err))+": "+err.Error())
			} else {
				add("notes", strings.Join(notes, "\n"))
				b.World.ContentHash = ""
				add("book", indent(t, b))
				add("character_book", indent(t, must(lore.EncodeCharacterBook(b))))
				add("world_info", indent(t, must(lore.EncodeWorldInfo(b))))
			}
			arc.Files = got
			if updating() {
				if err := os.WriteFile(name, txtar.Format(arc), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(arc))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestManyEntries: a few megabytes of entries would take gigabytes.
func TestManyEntries(t *testing.T) {
	list := func(n int) json.RawMessage { return json.RawMessage("[" + strings.Repeat("{},", n-1) + "{}]") }
	if b, _, err := lore.DecodeBook(list(20_000)); err != nil || len(b.Entries) != 20_000 {
		t.Errorf("%d entries, %v", len(b.Entries), err)
	}
	if _, _, err := lore.DecodeBook(list(20_001)); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("one more: %v", err)
	}
	keys := `[{"keys":[` + strings.Repeat(`"",`, 1_000_001) + `""]}]`
	if _, _, err := lore.DecodeBook(json.RawMessage(keys)); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("many keys: %v", err)
	}
}

func must(raw json.RawMessage, err error) json.RawMessage {
	if err != nil {
		panic(err)
	}
	return raw
}

func indent(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
