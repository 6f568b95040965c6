package attach

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jp/internal/lib/fault"
)

// Look tells whether a typed reference lies in the workspace once links are
// resolved, without reading anything. Errors, whose sentences go on after the
// reference and a verb: it names nothing (fault.NotFound; fs.ErrNotExist when
// not even a folder), or no file (fault.Invalid). What an outside folder holds
// is not looked at.
func (p Place) Look(r Ref) (inside bool, err error) {
	s, err := p.locate(r, true)
	if err == nil && s.inside {
		_, err = s.list()
	}
	return s.inside, err
}

// spot is where a reference leads.
type spot struct {
	path   string // absolute; of a glob, the folder in front of it
	real   string // path with its links resolved
	glob   string // below path, or empty
	folder bool
	inside bool // real lies in the workspace
}

// several tells whether the reference is no file's own name.
func (s spot) several() bool { return s.folder || s.glob != "" }

// locate finds what a reference leads to. Errors: there is nothing, or what is
// there is neither a file nor a folder; the spot is filled in all the same.
func (p Place) locate(r Ref, typed bool) (spot, error) {
	s := spot{path: p.path(filepath.FromSlash(r.Pattern), typed)}
	info, err := os.Stat(s.path)
	if err != nil && isGlob(r.Pattern) {
		dir, glob := doublestar.SplitPattern(r.Pattern)
		s.path, s.glob = p.path(filepath.FromSlash(dir), typed), glob
		info, err = os.Stat(s.path)
		if err != nil || !info.IsDir() || !doublestar.ValidatePattern(glob) {
			return s, errNoMatch
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, errNoFile
	case err != nil:
		return s, fault.New(fault.NotFound, "it cannot be reached: %w", fault.Reason(err))
	}
	if s.real, err = filepath.EvalSymlinks(s.path); err != nil {
		return s, fault.New(fault.NotFound, "it cannot be reached: %w", fault.Reason(err))
	}
	s.inside = p.holds(s.real)
	s.folder = info.IsDir() && s.glob == ""
	if !s.several() && !info.Mode().IsRegular() {
		return s, fault.New(fault.Invalid, "it is %s", kind(info.Mode()))
	}
	return s, nil
}

var (
	errNoFile  error = &fault.Error{Code: fault.NotFound, Message: "there is no such file", Err: fs.ErrNotExist}
	errNoMatch error = fault.New(fault.NotFound, "no file matches it")
	errEmpty   error = fault.New(fault.NotFound, "it is a folder without files")
	errOutside error = fault.New(fault.Invalid, "it lies outside the workspace").
			WithHint("attach it with -a in each query that should send it")
)

// path makes a pattern absolute. Other tools store paths relative to the root
// with a slash in front: of a stored one that reading comes first, of a typed
// one last.
func (p Place) path(pattern string, typed bool) string {
	rooted := filepath.Join(p.Root, pattern)
	if filepath.IsAbs(pattern) && (!exists(rooted) || typed && exists(pattern)) {
		return pattern
	}
	return rooted
}

// holds tells whether a path without links lies in the workspace.
func (p Place) holds(real string) bool {
	root, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return false
	}
	_, ok := under(root, real)
	return ok
}

// list is the files of the spot, sorted: at least one, at most MaxFiles and one
// more, which says that there are too many. Errors (fault.NotFound): there is
// none.
func (s spot) list() ([]string, error) {
	if !s.several() {
		return []string{s.path}, nil
	}
	var names []string
	none := errEmpty
	if s.glob != "" {
		none = errNoMatch
		names = match(os.DirFS(s.path), s.glob)
	} else {
		var err error
		if names, err = walk(os.DirFS(s.path)); err != nil {
			return nil, fault.New(fault.NotFound, "it cannot be read: %w", fault.Reason(err))
		}
	}
	if len(names) == 0 {
		return nil, none
	}
	for i, n := range names {
		names[i] = filepath.Join(s.path, filepath.FromSlash(n))
	}
	return names, nil
}

// match is what a glob stands for. What cannot be listed has no match, as in a
// shell.
func match(dir fs.FS, glob string) []string {
	var files []string
	_ = doublestar.GlobWalk(dir, glob, func(path string, _ fs.DirEntry) error {
		files = append(files, path)
		if len(files) > MaxFiles {
			return fs.SkipAll // to doublestar an error like any, which ends the walk
		}
		return nil
	}, doublestar.WithFilesOnly(), doublestar.WithNoHidden())
	slices.Sort(files)
	return slices.Compact(files)
}

// walk is what a folder holds at any depth, folders and dot entries apart.
// Links to folders are not followed, for they may lead anywhere; folders that
// cannot be listed are passed over unless it is the first.
func walk(dir fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		hidden := path != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil && path == ".":
			return err
		case d.IsDir() && (hidden || err != nil):
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			if info, err := fs.Stat(dir, path); err == nil && info.IsDir() {
				return nil
			}
		}
		files = append(files, path)
		if len(files) > MaxFiles {
			return fs.SkipAll
		}
		return nil
	})
	return files, err
}

// kind names what is no regular file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe, not a file"
	case m&fs.ModeSocket != 0:
		return "a socket, not a file"
	case m&fs.ModeDevice != 0:
		return "a device, not a file"
	}
	return "no regular file"
}
