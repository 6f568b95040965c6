// Package archtest holds the laws of docs/ARCHITECTURE.md as rules over the
// source: who may import whom, where the outside world may be touched, what
// may be stored in a package, which words belong where.
//
// A rule reads syntax only. It builds nothing, so it also judges a tree that
// does not compile, and the whole repository takes a fraction of a second.
// Every rule has a case in testdata that it must report; the test fails when a
// rule has none, so that no rule can pass by looking at nothing.
//
// Exceptions stand in tables with their reason beside them. An exception that
// nothing needs any more is reported too.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Rule is one law that source can break.
type Rule struct {
	Name string
	// Check returns what breaks the law, as "path:line: what is wrong".
	Check func(*Tree) []string
}

// Rules returns all rules. Each has testdata/<Name>.txtar.
func Rules() []Rule {
	return []Rule{
		{"layers", checkLayers},
		{"folders", checkFolders},
		{"modules", checkModules},
		{"domain", checkDomain},
		{"effects", checkEffects},
		{"state", checkState},
		{"reserved", checkReserved},
		{"words", checkWords},
		{"names", checkNames},
		{"comments", checkComments},
		{"size", checkSize},
		{"ports", checkPorts},
		{"tests", checkTests},
	}
}

// Tree is the Go source of the module.
type Tree struct {
	Fset     *token.FileSet
	Packages []*Package // sorted by Dir
}

// Package is the Go files of one directory, tests included.
type Package struct {
	Dir   string // slash path from the module's root
	Files []*File
}

// File is one parsed file.
type File struct {
	Path    string
	Test    bool
	Lines   int
	AST     *ast.File
	Imports []Import
}

// Import is one import of a file.
type Import struct {
	Name string // as the file refers to it
	Path string
	Pos  token.Pos
}

// module is the path in go.mod, which local imports start with.
const module = "jp/"

// Load parses every Go file below root that belongs to the module: folders
// that start with a dot or an underscore, testdata, node_modules and nested
// modules do not. Errors: a file that does not parse, or cannot be read.
func Load(root fs.FS) (*Tree, error) {
	t := &Tree{Fset: token.NewFileSet()}
	byDir := map[string]*Package{}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipDir(root, p) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(p) != ".go" {
			return nil
		}
		f, err := t.parse(root, p)
		if err != nil {
			return err
		}
		dir := path.Dir(p)
		if byDir[dir] == nil {
			byDir[dir] = &Package{Dir: dir}
			t.Packages = append(t.Packages, byDir[dir])
		}
		byDir[dir].Files = append(byDir[dir].Files, f)
		return nil
	})
	sort.Slice(t.Packages, func(i, j int) bool { return t.Packages[i].Dir < t.Packages[j].Dir })
	return t, err
}

func skipDir(root fs.FS, p string) bool {
	if p == "." {
		return false
	}
	base := path.Base(p)
	if base[0] == '.' || base[0] == '_' || base == "testdata" || base == "node_modules" {
		return true
	}
	_, err := fs.Stat(root, path.Join(p, "go.mod"))
	return err == nil
}

func (t *Tree) parse(root fs.FS, p string) (*File, error) {
	src, err := fs.ReadFile(root, p)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(t.Fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &File{
		Path: p, AST: tree,
		Test:  strings.HasSuffix(p, "_test.go"),
		Lines: strings.Count(string(src), "\n"),
	}
	for _, spec := range tree.Imports {
		imp := Import{Pos: spec.Pos()}
		if imp.Path, err = strconv.Unquote(spec.Path.Value); err != nil {
			return nil, err
		}
		imp.Name = importName(imp.Path)
		if spec.Name != nil {
			imp.Name = spec.Name.Name
		}
		f.Imports = append(f.Imports, imp)
	}
	return f, nil
}

// importName is the name of an import without one of its own: the last element
// of its path that is no major version. It is exact for the standard library
// and for ours, which is all that the rules ask about.
func importName(p string) string {
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(p))
	}
	return base
}

// refers tells which import's member n is, as ("os", "Exit").
func (f *File) refers(n ast.Node) (pkg, member string, ok bool) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	for _, imp := range f.Imports {
		if imp.Name == id.Name {
			return imp.Path, sel.Sel.Name, true
		}
	}
	return "", "", false
}

// report is a list of violations that knows where they are.
type report struct {
	fset  *token.FileSet
	lines []string
}

func (r *report) add(pos token.Pos, format string, args ...any) {
	at := r.fset.Position(pos)
	r.lines = append(r.lines, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, fmt.Sprintf(format, args...)))
}

// exceptions are what a rule lets pass, by key, with the reason. It remembers
// which were needed.
type exceptions struct {
	reasons map[string]string
	used    []string
}

func (e *exceptions) allow(key string) bool {
	if _, ok := e.reasons[key]; !ok {
		return false
	}
	e.used = append(e.used, key)
	return true
}

// stale adds the exceptions that nothing needed, but only for packages that
// are in the tree.
func (e *exceptions) stale(t *Tree, r *report) {
	for _, key := range slices.Sorted(maps.Keys(e.reasons)) {
		dir, _, _ := strings.Cut(key, " ")
		present := slices.ContainsFunc(t.Packages, func(p *Package) bool { return p.Dir == dir })
		if present && !slices.Contains(e.used, key) {
			r.lines = append(r.lines, dir+": the exception "+strconv.Quote(key)+" is not needed any more")
		}
	}
}

// under tells whether dir is one of the patterns: a folder, or with "/..." at
// its end a folder and all below it.
func under(dir string, patterns ...string) bool {
	for _, p := range patterns {
		if base, deep := strings.CutSuffix(p, "/..."); deep {
			if dir == base || strings.HasPrefix(dir, base+"/") {
				return true
			}
		} else if dir == p {
			return true
		}
	}
	return false
}
