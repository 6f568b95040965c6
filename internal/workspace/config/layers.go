package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
)

// Loader finds and reads configuration. Empty directories are skipped; the
// others are absolute.
type Loader struct {
	UserDir string       // the user's own configuration directory
	Root    string       // workspace root, the folder that holds .jp
	Cwd     string       // working directory
	SiloDir string       // the workspace's part of the user data directory
	Environ []string     // NAME=value
	Note    func(string) // hears one line about what was left out; may be nil

	docs map[string]document // by canonical path
}

// Base reads the layers that stand below a conversation: user, workspace,
// directories, user-workspace, environment, each file with what it extends.
// A layer that says inherit = false ends the files, not the environment.
// Errors: fault.Config with file and line, fault.Storage.
func (l *Loader) Base() (*Stack, error) {
	s := &Stack{note: l.Note}
	r := l.resolve("", map[string]bool{})
	for _, step := range l.steps() {
		file := l.probe(step.dir, step.stem)
		if file == "" {
			continue
		}
		r.kind, r.layers = step.kind, nil
		if err := r.add(file); err != nil {
			return nil, err
		}
		inherit := true
		for _, layer := range r.layers {
			if err := s.Push(layer); err != nil {
				return nil, err
			}
			if v, ok := layer.Tree["inherit"].(bool); ok {
				inherit = v
			}
		}
		if !inherit {
			break
		}
	}
	return s, l.pushEnv(s)
}

type step struct{ kind, dir, stem string }

func (l *Loader) steps() []step {
	var steps []step
	if l.UserDir != "" {
		steps = append(steps, step{FromUser, l.UserDir, "config"})
	}
	if l.Root != "" {
		steps = append(steps, step{FromWorkspace, filepath.Join(l.Root, ".jp"), "config"})
	}
	for _, dir := range l.directories() {
		steps = append(steps, step{FromDirectory, dir, ".jp"})
	}
	if l.SiloDir != "" {
		steps = append(steps, step{FromSilo, l.SiloDir, "config"})
	}
	return steps
}

// directories are the folders from the root, or the file system's, down to the
// working directory.
func (l *Loader) directories() []string {
	if l.Cwd == "" {
		return nil
	}
	dir := filepath.Clean(l.Cwd)
	chain := []string{dir}
	inside := l.Root != "" && within(l.Root, dir)
	for (!inside || dir != filepath.Clean(l.Root)) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		chain = append(chain, dir)
	}
	slices.Reverse(chain)
	return chain
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// show is how people read a path: relative when it is below the working
// directory.
func (l *Loader) show(path string) string {
	if l.Cwd != "" && within(l.Cwd, path) {
		rel, _ := filepath.Rel(l.Cwd, path)
		return rel
	}
	return path
}

// probe finds dir/stem with one of the extensions.
func (l *Loader) probe(dir, stem string) string {
	found := ""
	for _, ext := range extensions {
		file := filepath.Join(dir, stem+ext)
		switch {
		case !isFile(file):
		case found == "":
			found = file
		case l.Note != nil:
			l.Note(l.show(file) + " is not read: " + l.show(found) + " is the same under another ending")
		}
	}
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (l *Loader) read(canonical, shown string) (document, error) {
	if d, ok := l.docs[canonical]; ok {
		return d, nil
	}
	d, err := read(canonical, shown)
	if err != nil {
		return d, err
	}
	if l.docs == nil {
		l.docs = map[string]document{}
	}
	l.docs[canonical] = d
	return d, nil
}

// Source reads what `-c NAME` and invitations name: a path, or a name that is
// searched in the load paths of base's files and environment. Files that base
// holds already, from an earlier -c too, are not read again. Errors:
// fault.NotFound listing where it looked; fault.Config, fault.Storage.
func (l *Loader) Source(base *Stack, name string) ([]Layer, error) {
	return l.source(l.resolve(FromSource, base.loaded()), base, name)
}

func (l *Loader) source(r *resolution, base *Stack, name string) ([]Layer, error) {
	files, err := l.files(base, name)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := r.add(f); err != nil {
			return nil, err
		}
	}
	return r.layers, nil
}

// files lists what a source name stands for, the lowest root first.
func (l *Loader) files(base *Stack, name string) ([]string, error) {
	path := name
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(l.env("HOME"), rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.Cwd, filepath.FromSlash(path))
	}
	_, known := formatOf(name)
	if (strings.ContainsRune(filepath.ToSlash(name), '/') || known) && isFile(path) {
		return []string{path}, nil
	}
	if strings.ContainsRune(filepath.ToSlash(name), '/') {
		if file := l.probe(filepath.Dir(path), filepath.Base(path)); file != "" {
			return []string{file}, nil
		}
	}
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return nil, fault.New(fault.NotFound, "no config file %q", name).
			WithHint("paths are relative to the working directory; a bare name is looked up in config_load_paths")
	}
	return l.search(base, name)
}

// Find looks an identifier up in the load paths of base, in exact case, and
// nowhere else; it may have a file in each root. Errors: fault.NotFound listing
// where it looked.
func (l *Loader) Find(base *Stack, id string) ([]string, error) {
	if strings.ContainsAny(id, `/\`) {
		return nil, fault.New(fault.NotFound, "no config named %q", id).WithHint("a name has no separators")
	}
	return l.search(base, id)
}

func (l *Loader) search(base *Stack, name string) ([]string, error) {
	var files []string
	if filepath.IsLocal(filepath.FromSlash(name)) {
		for _, dirs := range l.searched(base) {
			for _, dir := range dirs {
				if file := l.lookup(dir, name); file != "" {
					files = append(files, file)
					break
				}
			}
		}
	}
	if len(files) > 0 {
		return files, nil
	}
	err := fault.New(fault.NotFound, "no config named %q", name)
	dirs := l.Dirs(base)
	if len(dirs) == 0 {
		return nil, err.WithHint("list the folders to search under config_load_paths in .jp/config.toml")
	}
	looked := "looked in " + strings.Join(dirs, ", ")
	if best, ok := speaker.Nearest(name, l.Names(base)); ok {
		return nil, err.WithHint("did you mean %q? %s", best, looked)
	}
	return nil, err.WithHint("%s", looked)
}

// searched lists the load paths below each root, the lowest root first.
func (l *Loader) searched(base *Stack) [][]string {
	var roots []string
	if l.UserDir != "" {
		roots = append(roots, filepath.Join(l.UserDir, "config"))
	}
	if l.Root != "" {
		roots = append(roots, l.Root)
	}
	if l.SiloDir != "" {
		roots = append(roots, filepath.Join(l.SiloDir, "config"))
	}
	paths := base.loadPaths()
	var out [][]string
	for _, root := range roots {
		var dirs []string
		for _, p := range paths {
			dirs = append(dirs, filepath.Join(root, filepath.FromSlash(p)))
		}
		out = append(out, dirs)
	}
	return out
}

// Dirs lists the folders that names are looked up in, as people read them:
// those that are there or, when none is, those that the workspace may have.
func (l *Loader) Dirs(base *Stack) []string {
	var dirs []string
	for _, dir := range slices.Concat(l.searched(base)...) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, l.show(dir))
		}
	}
	if dirs == nil {
		return base.loadPaths()
	}
	return dirs
}

// lookup finds a name in a load path: the exact file, else with each extension.
func (l *Loader) lookup(dir, name string) string {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, ok := formatOf(path); ok && l.listed(path) {
		return path
	}
	for _, ext := range extensions {
		if l.listed(path + ext) {
			return path + ext
		}
	}
	return ""
}

// listed tells whether a file is there in exactly this case, which a stat
// alone does not say on every file system.
func (l *Loader) listed(path string) bool {
	if !isFile(path) {
		return false
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == filepath.Base(path) })
}

// Names lists the identifiers that Find would find, sorted.
func (l *Loader) Names(base *Stack) []string {
	var names []string
	for _, dir := range slices.Concat(l.searched(base)...) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if _, ok := formatOf(e.Name()); !ok || e.IsDir() {
				continue
			}
			if name := SourceName(e.Name()); speaker.ValidID(name) && name != Reserved {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// SourceName is the identifier that a source suggests: its file's stem. It may
// be outside the grammar of identifiers.
func SourceName(source string) string {
	base := filepath.Base(filepath.FromSlash(source))
	if _, ok := formatOf(base); ok {
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	return base
}

func (l *Loader) env(name string) string {
	value := ""
	for _, e := range l.Environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}
