package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/workspace/conversation"
)

const conversationsDir, archiveDir = "conversations", ".archive"

// place is a directory of conversations.
type place struct {
	dir             string
	local, archived bool
}

// places returns where conversations live, the one that wins first: a copy in
// the silo of a conversation that the workspace holds is ignored.
func (w *Workspace) places() []place {
	shared := filepath.Join(w.Root, Marker, conversationsDir)
	p := []place{{dir: shared}, {dir: filepath.Join(shared, archiveDir), archived: true}}
	if w.silo != "" {
		own := filepath.Join(w.silo, conversationsDir)
		p = append(p, place{dir: own, local: true}, place{dir: filepath.Join(own, archiveDir), local: true, archived: true})
	}
	return p
}

func (w *Workspace) home(local bool) string {
	for _, p := range w.places() {
		if p.local == local && !p.archived {
			return p.dir
		}
	}
	return ""
}

// folders returns the names of the directories in a directory, sorted; one that
// does not exist has none.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "cannot list conversations: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 && isDir(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// found is a conversation's directory.
type found struct {
	id   conversation.ID
	path string
	place
	// twins are other directories with its id in the same home, of which nobody
	// knows which is meant. A copy and a merge after a change of title make them.
	twins []string
	// copies are directories with its id in the other home. They are ignored.
	copies []string
}

// twinned is the error of a conversation that has twins, nil for others.
func (f found) twinned() error {
	if len(f.twins) == 0 {
		return nil
	}
	paths := slices.Sorted(slices.Values(append([]string{f.path}, f.twins...)))
	last := len(paths) - 1
	return fault.New(fault.Damaged, "conversation %s is in %d folders: %s and %s", f.id, len(paths), strings.Join(paths[:last], ", "), paths[last]).
		WithHint("nothing was changed; remove all but one, or keep another as a conversation of its own: rename it so that it begins with another number (%s was written last)", f.path)
}

// all returns the directories of the conversations that want, by id: in the
// order of places, and of several in one place the one written last first.
func (w *Workspace) all(want func(conversation.ID) bool) (map[conversation.ID][]found, error) {
	out := map[conversation.ID][]found{}
	for _, p := range w.places() {
		names, err := folders(p.dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			id, ok := conversation.DirID(name)
			if !ok || !want(id) {
				continue
			}
			list := append(out[id], found{id: id, path: filepath.Join(p.dir, name), place: p})
			for i := len(list) - 1; i > 0 && list[i-1].place == p && newer(list[i].path, list[i-1].path); i-- {
				list[i], list[i-1] = list[i-1], list[i]
			}
			out[id] = list
		}
	}
	return out, nil
}

func newer(a, b string) bool {
	x, errX := os.Stat(filepath.Join(a, conversation.EventsFile))
	y, errY := os.Stat(filepath.Join(b, conversation.EventsFile))
	return errX == nil && (errY != nil || x.ModTime().After(y.ModTime()))
}

// locate returns the directory of a conversation, with its twins and copies.
// Errors: fault.NotFound and fault.Storage.
func (w *Workspace) locate(id conversation.ID) (found, error) {
	all, err := w.all(func(other conversation.ID) bool { return other == id })
	if err != nil {
		return found{}, err
	}
	if len(all) == 0 {
		return found{}, missing(id)
	}
	return chosen(all[id]), nil
}

// chosen returns the first of a conversation's directories with its twins and
// copies: the others, if there is anything of a conversation in them. Checkouts
// leave folders behind that hold only what Git does not know.
func chosen(all []found) found {
	f := all[0]
	for _, other := range all[1:] {
		switch {
		case !filled(other.path):
		case other.local == f.local:
			f.twins = append(f.twins, other.path)
		default:
			f.copies = append(f.copies, other.path)
		}
	}
	return f
}

func filled(dir string) bool {
	for _, name := range [...]string{conversation.EventsFile, conversation.MetadataFile, conversation.BaseFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func missing(id conversation.ID) error {
	return fault.New(fault.NotFound, "there is no conversation %s", id).
		WithHint("`jp c ls` lists the conversations of this workspace")
}
