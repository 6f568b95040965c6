package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"jp/internal/workspace/conversation"
)

// Item is what a list shows of a conversation.
type Item struct {
	ID            conversation.ID `json:"id"`
	Dir           string          `json:"dir"`
	Title         string          `json:"title,omitempty"`
	Opening       string          `json:"opening,omitempty"` // the beginning of the first request
	LastActivated time.Time       `json:"last_activated,omitzero"`
	LastEvent     time.Time       `json:"last_event,omitzero"`
	Events        int             `json:"events,omitempty"`
	Local         bool            `json:"-"`
	Archived      bool            `json:"-"`
	// Broken says why the conversation cannot be used, empty when it can.
	Broken string `json:"broken,omitempty"`
	// Unshared counts the events of a copy in the user's data directory that
	// the conversation in the workspace lacks. Such a copy is ignored.
	Unshared int `json:"unshared,omitempty"`
	// Copy is where that copy is, when there is one.
	Copy string `json:"-"`
}

// Activity is when the conversation was last used or written to.
func (it Item) Activity() time.Time {
	if it.LastEvent.After(it.LastActivated) {
		return it.LastEvent
	}
	return it.LastActivated
}

// List returns all conversations, archived ones too, by id. Errors:
// fault.Storage.
func (w *Workspace) List() ([]Item, error) {
	at, err := w.directories()
	if err != nil {
		return nil, err
	}
	ix := w.readIndex()
	items := make([]Item, len(at))
	var g errgroup.Group
	g.SetLimit(4)
	const chunk = 256
	for from := 0; from < len(at); from += chunk {
		to := min(from+chunk, len(at))
		g.Go(func() error {
			for i := from; i < to; i++ {
				items[i] = ix.item(at[i])
				if err := at[i].twinned(); err != nil { // no matter of its files, which the index judges by
					items[i].Broken = err.Error()
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	w.writeIndex(ix, items)
	return items, nil
}

// directories returns the one directory of each conversation, by id.
func (w *Workspace) directories() ([]found, error) {
	all, err := w.all(func(conversation.ID) bool { return true })
	if err != nil {
		return nil, err
	}
	list := make([]found, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, chosen(all[id]))
	}
	return list, nil
}

// look reads what a list shows of the conversation at f.
func look(f found) Item {
	item := Item{ID: f.id, Dir: f.path}
	meta, err := conversation.LoadMeta(f.path)
	if err != nil {
		item.Broken = err.Error()
	} else {
		item.Title, item.LastActivated = meta.Title, meta.LastActivatedAt
	}
	sum, err := conversation.Summarize(f.path)
	item.Events, item.LastEvent, item.Opening = sum.Events, sum.LastEvent, sum.Opening
	if err != nil && item.Broken == "" {
		item.Broken = err.Error()
	}
	if len(f.copies) > 0 {
		item.Unshared, _ = unshared(f, f.copies[0])
	}
	return item
}

// unshared counts the events in the copy that the conversation lacks. Errors:
// those of loading either, when nobody knows.
func unshared(f found, copy string) (n int, err error) {
	ours, err := conversation.Load(f.path, f.id, conversation.Env{})
	if err != nil {
		return 0, err
	}
	theirs, err := conversation.Load(copy, f.id, conversation.Env{})
	if err != nil {
		return 0, err
	}
	for i := range theirs.Len() {
		if _, there := ours.Index(theirs.At(i).ID); !there {
			n++
		}
	}
	return n, nil
}

// mark is what a file looked like when its contents were read; the zero mark
// is that of a file that does not exist.
type mark struct {
	Size int64 `json:"s,omitempty"`
	Time int64 `json:"t,omitempty"` // nanoseconds since the epoch
}

func markOf(path string) (mark, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, err
	}
	return mark{info.Size(), info.ModTime().UnixNano()}, nil
}

// marksOf covers all that an Item depends on.
func marksOf(f found) (m [4]mark, err error) {
	for i, name := range [...]string{conversation.EventsFile, conversation.MetadataFile, conversation.BaseFile} {
		if m[i], err = markOf(filepath.Join(f.path, name)); err != nil {
			return m, err
		}
	}
	if len(f.copies) > 0 {
		m[3], err = markOf(filepath.Join(f.copies[0], conversation.EventsFile))
	}
	return m, err
}
