package conversation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMeta(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, MetadataFile)
	old := `{"future":[1, 2.50],"title":"Old","last_activated_at":"2026-05-01T12:00:00Z","labels":{"k":"v"},"pinned_at":"2026-05-02T00:00:00Z"}`
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := LoadMeta(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Title != "Old" || m.Labels["k"] != "v" {
		t.Errorf("%+v", m)
	}
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != old {
		t.Errorf("an unchanged file was written: %s", got)
	}
	m.Title = "New <b>"
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	want := `{
  "future": [
    1,
    2.50
  ],
  "title": "New <b>",
  "last_activated_at": "2026-05-01 12:00:00.0",
  "labels": {
    "k": "v"
  },
  "pinned_at": "2026-05-02T00:00:00Z"
}
`
	got, _ := os.ReadFile(path)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	m.Title = ""
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	again, err := LoadMeta(dir)
	if err != nil || again.Title != "" || again.Labels["k"] != "v" {
		t.Errorf("after clearing: %+v, %v", again, err)
	}
}

func TestMetaWithoutFile(t *testing.T) {
	dir := t.TempDir()
	m, err := LoadMeta(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Error("a file appeared without a change")
	}
	m.LastActivatedAt = time.Unix(0, 0)
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, MetadataFile)); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, MetadataFile)); err != nil {
		t.Error("a removed file was not written again")
	}
}
