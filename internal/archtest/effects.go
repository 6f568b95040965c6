package archtest

import (
	"go/ast"
	"slices"
	"strings"
)

// ambient lists what reaches the outside world without having been handed in:
// import path → members, "*" for all of them.
func ambient() map[string][]string {
	return map[string][]string{
		"os": {
			"Exit", "Args", "Stdin", "Stdout", "Stderr", "Getenv", "LookupEnv", "Environ", "ExpandEnv",
			"Setenv", "Unsetenv", "Clearenv", "Getwd", "Chdir", "Getpid", "Hostname", "Executable",
			"UserHomeDir", "UserConfigDir", "UserCacheDir", "TempDir",
		},
		"time":         {"Now", "Since", "Until", "Sleep", "Tick"},
		"log":          {"*"},
		"log/slog":     {"Default", "SetDefault", "Debug", "Info", "Warn", "Error"},
		"fmt":          {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		"flag":         {"*"},
		"math/rand":    {"*"},
		"math/rand/v2": {"*"},
		"crypto/rand":  {"*"},
		"net/http":     {"DefaultClient", "DefaultTransport", "DefaultServeMux", "Get", "Head", "Post", "PostForm", "Handle", "HandleFunc", "ListenAndServe"},
		"os/signal":    {"*"},
	}
}

// effectExceptions are keyed "package import.Member", or "package import" for
// a whole import.
func effectExceptions() *exceptions {
	return &exceptions{reasons: map[string]string{
		"internal/lib/atomicfile os.Getpid": "keeps the temporary names of two processes apart; nothing else depends on it",
	}}
}

// checkEffects: only main exits; stdin, stdout, stderr, environment, working
// directory, clock, randomness and HTTP transport are handed in. main packages
// hand them in; scripts are programs of their own.
func checkEffects(t *Tree) []string {
	r := &report{fset: t.Fset}
	except := effectExceptions()
	for _, p := range t.Packages {
		if under(p.Dir, "cmd/...", "scripts/...") {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			checkEffectsOf(p, f, except, r)
		}
	}
	except.stale(t, r)
	return r.lines
}

func checkEffectsOf(p *Package, f *File, except *exceptions, r *report) {
	for _, imp := range f.Imports {
		if imp.Name == "." {
			r.add(imp.Pos, "%s hides where names come from", "import . "+imp.Path)
		}
		if slices.Equal(ambient()[imp.Path], []string{"*"}) && !except.allow(p.Dir+" "+imp.Path) {
			r.add(imp.Pos, "%s reaches outside by %s; have it handed in", p.Dir, imp.Path)
		}
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				r.add(n.Pos(), "%s writes to standard error by %s", p.Dir, id.Name)
			}
		}
		pkg, member, ok := f.refers(n)
		if ok && slices.Contains(ambient()[pkg], member) && !except.allow(p.Dir+" "+pkg+"."+member) {
			r.add(n.Pos(), "%s reaches outside by %s.%s; have it handed in", p.Dir, pkg, member)
		}
		return true
	})
}

// stateExceptions are keyed "package variable".
func stateExceptions() *exceptions {
	return &exceptions{reasons: map[string]string{
		"internal/workspace/config schema": "the embedded schema.txt, parsed at its first use and never changed",
	}}
}

// constructors make values that nothing changes afterwards.
func constructors() []string {
	return []string{
		"errors.New", "fmt.Errorf", "regexp.MustCompile", "strings.NewReplacer",
		"text/template.Must", "html/template.Must", module + "internal/lib/fault.New",
	}
}

// checkState: no init, and a package's variables are tables: set where they
// are declared, written nowhere. Embedded files and interface assertions pass.
func checkState(t *Tree) []string {
	r := &report{fset: t.Fset}
	except := stateExceptions()
	for _, p := range t.Packages {
		globals := map[string]bool{}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, d := range f.AST.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					r.add(fn.Pos(), "%s has a func init", p.Dir)
				}
				if gen, ok := d.(*ast.GenDecl); ok && gen.Tok.String() == "var" {
					checkGlobals(p, f, gen, globals, except, r)
				}
			}
		}
		for _, f := range p.Files {
			if !f.Test {
				checkWrites(p, f, globals, r)
			}
		}
	}
	except.stale(t, r)
	return r.lines
}

func checkGlobals(p *Package, f *File, gen *ast.GenDecl, globals map[string]bool, except *exceptions, r *report) {
	for _, s := range gen.Specs {
		spec := s.(*ast.ValueSpec)
		embedded := embeds(gen.Doc) || embeds(spec.Doc)
		for i, name := range spec.Names {
			if name.Name == "_" {
				continue
			}
			fixed := embedded || i < len(spec.Values) && f.fixed(spec.Values[i])
			if except.allow(p.Dir + " " + name.Name) {
				continue
			}
			globals[name.Name] = true
			if !fixed {
				r.add(name.Pos(), "%s keeps state in the variable %s", p.Dir, name.Name)
			}
		}
	}
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// fixed tells whether an initialiser makes a table: literals, values of the
// standard library's and our own types, and the known constructors.
func (f *File) fixed(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.ParenExpr:
		return f.fixed(e.X)
	case *ast.UnaryExpr:
		return f.fixed(e.X)
	case *ast.BinaryExpr:
		return f.fixed(e.X) && f.fixed(e.Y)
	case *ast.CompositeLit:
		pkg, _, ok := f.refers(e.Type)
		return !ok || pkg != "sync" && (standard(pkg) || strings.HasPrefix(pkg, module))
	case *ast.CallExpr:
		return f.constructs(e)
	}
	return false
}

func (f *File) constructs(call *ast.CallExpr) bool {
	if pkg, member, ok := f.refers(call.Fun); ok {
		return slices.Contains(constructors(), pkg+"."+member)
	}
	switch fun := call.Fun.(type) {
	case *ast.ArrayType, *ast.MapType: // []byte("…")
		return true
	case *ast.SelectorExpr: // fault.New(…).WithHint(…)
		inner, ok := fun.X.(*ast.CallExpr)
		return ok && f.constructs(inner)
	}
	return false
}

// checkWrites reports writes to package variables inside functions that do not
// declare a variable of the same name.
func checkWrites(p *Package, f *File, globals map[string]bool, r *report) {
	for _, d := range f.AST.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		local := declared(fn)
		ast.Inspect(fn, func(n ast.Node) bool {
			for _, target := range f.writes(n) {
				if id := root(target); id != nil && globals[id.Name] && !slices.Contains(local, id.Name) {
					r.add(n.Pos(), "%s writes to the package variable %s", p.Dir, id.Name)
				}
			}
			return true
		})
	}
}

// writes are the expressions that n changes or hands out for change.
func (f *File) writes(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if _, literal := n.X.(*ast.CompositeLit); n.Op.String() == "&" && !literal {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && slices.Contains([]string{"delete", "clear", "copy"}, id.Name) {
			return n.Args[:1]
		}
		pkg, member, _ := f.refers(n.Fun)
		inPlace := pkg == "sort" || pkg == "slices" && (strings.HasPrefix(member, "Sort") || member == "Reverse") ||
			pkg == "maps" && (member == "Copy" || member == "DeleteFunc")
		if inPlace && len(n.Args) > 0 && !strings.HasPrefix(member, "Search") {
			return n.Args[:1]
		}
	}
	return nil
}

// root is the variable that an assignable expression is a part of.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.ParenExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.SliceExpr:
		return root(e.X)
	}
	return nil
}

// declared lists the names that a function declares anywhere inside.
func declared(fn *ast.FuncDecl) []string {
	var names []string
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				names = append(names, id.Name)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names = append(names, id.Name)
			}
		case *ast.AssignStmt:
			if n.Tok.String() == ":=" {
				names = appendIdents(names, n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok.String() == ":=" {
				names = appendIdents(names, n.Key, n.Value)
			}
		}
		return true
	})
	return names
}

func appendIdents(names []string, exprs ...ast.Expr) []string {
	for _, e := range exprs {
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
	}
	return names
}
