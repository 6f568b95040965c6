package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// names returns the entries of a directory; one that does not exist has none.
func names(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "cannot list conversations: %w", err)
	}
	defer f.Close()
	list, err := f.Readdirnames(-1)
	if err != nil {
		return nil, fault.New(fault.Storage, "cannot list conversations: %w", err)
	}
	return list, nil
}

// idOf reads the id a directory's name begins with.
func idOf(name string) (conversation.ID, bool) {
	digits, _, _ := strings.Cut(name, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return conversation.ID(n), err == nil
}

// found is a conversation's directory.
type found struct {
	id   conversation.ID
	path string
	place
	// twins are other directories with its id in the same home, of which nobody
	// knows which is meant. A copy and a merge after a change of title make them.
	twins []string
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

// all returns the directories of a conversation, in the order of places; of
// several in one place the one written last is first.
func (w *Workspace) all(id conversation.ID) ([]found, error) {
	var out []found
	for _, p := range w.places() {
		list, err := names(p.dir)
		if err != nil {
			return nil, err
		}
		start := len(out)
		for _, name := range list {
			path := filepath.Join(p.dir, name)
			if n, ok := idOf(name); !ok || n != id || !isDir(path) {
				continue
			}
			out = append(out, found{id: id, path: path, place: p})
			if n := len(out) - 1; n > start && newer(path, out[start].path) {
				out[start], out[n] = out[n], out[start]
			}
		}
	}
	return out, nil
}

func newer(a, b string) bool {
	x, errX := os.Stat(filepath.Join(a, conversation.EventsFile))
	y, errY := os.Stat(filepath.Join(b, conversation.EventsFile))
	return errX == nil && (errY != nil || x.ModTime().After(y.ModTime()))
}

// locate returns the directory of a conversation, with its twins. Errors:
// fault.NotFound and fault.Storage.
func (w *Workspace) locate(id conversation.ID) (found, error) {
	all, err := w.all(id)
	if err != nil {
		return found{}, err
	}
	if len(all) == 0 {
		return found{}, missing(id)
	}
	return chosen(all), nil
}

// chosen returns the first of a conversation's directories with its twins.
func chosen(all []found) found {
	f := all[0]
	for _, other := range all[1:] {
		if other.local == f.local {
			f.join(other.path)
		}
	}
	return f
}

// join takes a directory for a twin if there is anything of a conversation in
// it: checkouts leave folders behind that hold only what Git does not know.
func (f *found) join(path string) {
	for _, name := range [...]string{conversation.EventsFile, conversation.MetadataFile, conversation.BaseFile} {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			f.twins = append(f.twins, path)
			return
		}
	}
}

func missing(id conversation.ID) error {
	return fault.New(fault.NotFound, "there is no conversation %s", id).
		WithHint("`jp c ls` lists the conversations of this workspace")
}

// Exists reports whether there is a conversation with this id.
func (w *Workspace) Exists(id conversation.ID) bool {
	_, err := w.locate(id)
	return err == nil
}
