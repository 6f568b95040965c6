package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jp/internal/lib/fault"
)

// resolution collects the layers of files and of what they extend. A file that
// is reached twice counts at its first place.
type resolution struct {
	l      *Loader
	kind   string
	note   func(string)
	loaded map[string]bool // canonical paths
	chain  []link          // files whose parents are being read
	layers []Layer
}

type link struct {
	file  string
	place string // of its extends, for people
	shown string
}

func (l *Loader) resolve(kind string, loaded map[string]bool) *resolution {
	note := l.Note
	if note == nil {
		note = func(string) {}
	}
	return &resolution{l: l, kind: kind, note: note, loaded: loaded}
}

// add collects what a file extends before it, the file, and what it extends
// after it. Within one list the later parent wins over the earlier.
func (r *resolution) add(file string) error {
	shown := r.l.show(file)
	canonical, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fault.New(fault.Storage, "%s: %w", shown, fault.Reason(err))
	}
	if i := slices.IndexFunc(r.chain, func(c link) bool { return c.file == canonical }); i >= 0 {
		return cycle(r.chain[i:])
	}
	if r.loaded[canonical] {
		return nil
	}
	doc, err := r.l.read(canonical, shown)
	if err != nil {
		return err
	}
	layer := Layer{Origin: Origin{Kind: r.kind, Path: shown}, Tree: doc.tree, file: canonical, lines: doc.lines}
	before, after, err := parents(layer)
	if err != nil {
		return err
	}
	r.chain = append(r.chain, link{canonical, layer.place([]string{"extends"}).String(), shown})
	if err := r.addAll(file, before); err != nil {
		return err
	}
	r.loaded[canonical] = true
	r.layers = append(r.layers, layer)
	if err := r.addAll(file, after); err != nil {
		return err
	}
	r.chain = r.chain[:len(r.chain)-1]
	return nil
}

// cycle says that the last file of a chain extends the first.
func cycle(chain []link) error {
	var names []string
	for _, c := range chain {
		names = append(names, c.shown)
	}
	return fault.New(fault.Config, "%s: extends leads back to itself: %s → %s",
		chain[len(chain)-1].place, strings.Join(names, " → "), names[0]).
		WithHint("take one of these files out of the other's extends")
}

// parents reads a file's extends: paths, or {path, strategy}.
func parents(l Layer) (before, after []string, err error) {
	v := l.Tree["extends"]
	if v == nil {
		return nil, nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, nil, l.wrong([]string{"extends"}, "must be a list, not %s", describe(v))
	}
	for _, e := range list {
		path, isText := e.(string)
		strategy := "before"
		if t, ok := e.(Tree); ok {
			path, isText = t["path"].(string)
			if s, has := t["strategy"]; has {
				strategy, _ = s.(string)
			}
		}
		switch {
		case !isText || path == "":
			return nil, nil, l.wrong([]string{"extends"}, "holds %s: write a path, or {path, strategy}", describe(e))
		case strategy == "before":
			before = append(before, path)
		case strategy == "after":
			after = append(after, path)
		default:
			return nil, nil, l.wrong([]string{"extends"}, "knows the strategies before and after only")
		}
	}
	return before, after, nil
}

func (r *resolution) addAll(child string, paths []string) error {
	for _, p := range paths {
		files, err := r.expand(child, p)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := r.add(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// expand finds the files of one parent path, relative to the file that says
// it. A pattern matches configuration files, never its own file.
func (r *resolution) expand(child, path string) ([]string, error) {
	shown := r.l.show(child)
	full := filepath.FromSlash(path)
	if !filepath.IsAbs(full) {
		full = filepath.Join(filepath.Dir(child), full)
	}
	if strings.ContainsAny(path, "*?[{") {
		return r.glob(child, filepath.ToSlash(path))
	}
	if isFile(full) {
		return []string{full}, nil
	}
	if file := r.l.probe(filepath.Dir(full), filepath.Base(full)); file != "" {
		return []string{file}, nil
	}
	r.note(shown + ": extends " + path + ", which is not there")
	return nil, nil
}

func (r *resolution) glob(child, pattern string) ([]string, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, fault.New(fault.Config, "%s: extends %q, which is no valid pattern", r.l.show(child), pattern)
	}
	base, rest := doublestar.SplitPattern(pattern)
	dir := filepath.FromSlash(base)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(child), dir)
	}
	found, err := doublestar.Glob(os.DirFS(dir), rest, doublestar.WithFilesOnly())
	if err != nil {
		return nil, fault.New(fault.Storage, "%s: extends %s: %w", r.l.show(child), pattern, err)
	}
	slices.Sort(found)
	var files []string
	for _, f := range found {
		file := filepath.Join(dir, filepath.FromSlash(f))
		if _, ok := formatOf(file); ok && file != child {
			files = append(files, file)
		}
	}
	return files, nil
}
