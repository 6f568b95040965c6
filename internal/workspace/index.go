package workspace

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jp/internal/lib/atomicfile"
)

// The index remembers what lists show, so that listing reads only files that
// changed. It belongs to the user, may be deleted at any time, and is believed
// only as far as the files still look as they did.
type index struct {
	known map[string]record // by directory
	now   time.Time

	mu      sync.Mutex
	current []record
	changed bool
}

type record struct {
	Marks [4]mark `json:"m"`
	Item
}

const indexVersion = 3

type indexFile struct {
	Version int      `json:"version"`
	Records []record `json:"records"`
}

// settled is how old a file must be to be remembered: one that is changed
// twice within the clock of its file system may look the same both times.
const settled = 2 * time.Second

func (w *Workspace) indexPath() string {
	if w.silo == "" {
		return ""
	}
	return filepath.Join(w.silo, "index.json")
}

func (w *Workspace) readIndex() *index {
	ix := &index{now: w.env.Now(), known: map[string]record{}}
	var file indexFile
	data, err := os.ReadFile(w.indexPath())
	if err != nil || json.Unmarshal(data, &file) != nil || file.Version != indexVersion {
		return ix
	}
	for _, r := range file.Records {
		ix.known[r.Dir] = r
	}
	return ix
}

// item returns what a list shows of a conversation, from the index when that
// is still right.
func (ix *index) item(f found) Item {
	marks, err := marksOf(f)
	r, ok := ix.known[f.path]
	fresh := !ok || err != nil || r.Marks != marks || r.ID != f.id
	if fresh {
		r = record{Marks: marks, Item: look(f)}
	}
	ix.mu.Lock()
	ix.changed = ix.changed || fresh
	if err == nil && ix.settledAll(marks) {
		ix.current = append(ix.current, r)
	}
	ix.mu.Unlock()
	item := r.Item
	item.Local, item.Archived = f.local, f.archived
	if len(f.copies) > 0 {
		item.Copy = f.copies[0]
	}
	return item
}

func (ix *index) settledAll(marks [4]mark) bool {
	return !slices.ContainsFunc(marks[:], func(m mark) bool {
		return m.Time > ix.now.Add(-settled).UnixNano()
	})
}

// writeIndex keeps what was found for the next time. Failing only costs that
// time.
func (w *Workspace) writeIndex(ix *index, items []Item) {
	stale := len(ix.known) != len(ix.current)
	if w.env.NoPersist || !ix.changed && !stale || len(items) == 0 || w.makeSilo("") != nil {
		return
	}
	slices.SortFunc(ix.current, func(a, b record) int { return cmp.Compare(a.Dir, b.Dir) })
	data, err := json.Marshal(indexFile{indexVersion, ix.current})
	if err == nil {
		_ = atomicfile.Write(w.indexPath(), 0o600, data)
	}
}
