package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"jp/internal/workspace/conversation"
)

// many fills the workspace with n small conversations, old enough for the index.
func many(b *testing.B, n int) *Workspace {
	b.Helper()
	w := newWorkspace(b)
	for i := range n {
		id := conversation.ID(17_000_000_000 + i)
		title := fmt.Sprintf("Conversation number %d", i)
		dir := filepath.Join(conversations(w), id.DirName(title))
		put(b, filepath.Join(dir, conversation.MetadataFile), fmt.Sprintf(`{"title":%q,"last_activated_at":"2026-05-01 12:00:00.0"}`, title))
		put(b, filepath.Join(dir, conversation.BaseFile), "{}")
		put(b, filepath.Join(dir, conversation.EventsFile), `[
  {"event_id":"aaaaaaa","timestamp":"2026-05-01 12:00:00.0","type":"turn_start"},
  {"event_id":"aaaaaab","timestamp":"2026-05-01 12:00:00.0","type":"chat_request","content":"hello"},
  {"event_id":"aaaaaac","timestamp":"2026-05-01 12:00:00.0","type":"chat_response","message":"hi"}
]
`)
	}
	age(b, w.Root)
	return w
}

func BenchmarkListCold(b *testing.B) {
	w := many(b, 10_000)
	for b.Loop() {
		b.StopTimer()
		os.Remove(w.indexPath())
		b.StartTimer()
		list(b, w)
	}
}

func list(b *testing.B, w *Workspace) {
	items, err := w.List()
	if err != nil || len(items) != 10_000 || items[0].Events != 3 {
		b.Fatal(len(items), err)
	}
}

func BenchmarkListWarm(b *testing.B) {
	w := many(b, 10_000)
	list(b, w)
	for b.Loop() {
		list(b, w)
	}
}

// BenchmarkOpen is what a query pays before and after its first save: find the
// active conversation among a thousand, lock it, load it, save a request.
func BenchmarkOpen(b *testing.B) {
	w := many(b, 1000)
	id := conversation.ID(17_000_000_500)
	if err := w.SetActive(id); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		id, ok := w.Active()
		if !ok {
			b.Fatal("no active conversation")
		}
		if err := appendOne(b.Context(), w, id, "hello"); err != nil {
			b.Fatal(err)
		}
	}
}
