package tavern_test

import (
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/scene"
	"jp/internal/scene/sqlstore"
	"jp/internal/scene/tavern"
)

// TestStored: what was imported comes out of the store as it went in.
func TestStored(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := scene.New(scene.Config{
		Store: store, Rand: rand.NewChaCha8([32]byte{}),
		Now: func() time.Time { return time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	for _, c := range cards("Aria", "Bo") {
		if _, err := s.CreateCard(t.Context(), scene.Card{ID: c.ID, Name: c.Name}, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	briefs, err := s.Cards(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"solo", "group", "group-alone", "definition", "guards"} {
		arc, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		in := map[string][]byte{}
		for _, f := range arc.Files {
			in[f.Name] = f.Data
		}
		want, _, err := tavern.Decode(in["chat.jsonl"], in["group.json"], briefs)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.ImportTranscript(t.Context(), want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := s.Transcript(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(comparable(t, want), comparable(t, got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// comparable is an export without what the store adds: keys, dates of lines
// that had none, and the settings that a solo chat does not use.
func comparable(t *testing.T, tr scene.Transcript) []map[string]any {
	t.Helper()
	raw, err := tavern.EncodeChat(tr)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if tr.Conversation.Kind == scene.Group {
		def, err := tavern.EncodeGroup(tr, "")
		if err != nil {
			t.Fatal(err)
		}
		text += string(def)
	}
	var out []map[string]any
	for line := range strings.Lines(text) {
		var f map[string]any
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if meta, ok := f["chat_metadata"].(map[string]any); ok {
			delete(meta, "jp")
		}
		if date, _ := f["send_date"].(string); strings.HasPrefix(date, "2025-01-02T03:04:05") {
			delete(f, "send_date")
		}
		if f["create_date"] == "2025-1-2@03h04m05s000ms" {
			f["create_date"] = "1970-1-1@00h00m00s000ms"
		}
		out = append(out, f)
	}
	return out
}
