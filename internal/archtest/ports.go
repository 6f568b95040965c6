package archtest

import (
	"go/ast"
	"slices"
	"strings"
)

// port is an interface that others implement, known by one of its methods.
type port struct {
	pkg, name       string
	method          string
	params, results int
}

func ports() []port {
	return []port{
		{"internal/kernel/llm", "Model", "Stream", 2, 1},
		{"internal/kernel/exchange", "Responder", "Respond", 2, 1},
		{"internal/kernel/exchange", "Ledger", "Commit", 3, 1},
		{"internal/kernel/reply", "Tools", "Call", 2, 1},
		{"internal/lib/fault", "Coded", "FaultCode", 0, 1},
	}
}

// checkPorts: every implementation of a port says so by an assertion,
// var _ port = (*T)(nil), so that it breaks where it is written.
func checkPorts(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		asserted := assertions(p)
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, d := range f.AST.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv == nil {
					continue
				}
				for _, port := range ports() {
					typ := receiver(fn)
					if !port.matches(fn) || slices.Contains(asserted, port.name+" "+typ) {
						continue
					}
					r.add(fn.Pos(), "%s implements %s.%s without var _ %s = (*%s)(nil)", typ, port.pkg, port.name, port.name, typ)
				}
			}
		}
	}
	return r.lines
}

func (p port) matches(fn *ast.FuncDecl) bool {
	return fn.Name.Name == p.method && count(fn.Type.Params) == p.params && count(fn.Type.Results) == p.results
}

func count(fields *ast.FieldList) int {
	if fields == nil {
		return 0
	}
	return fields.NumFields()
}

// receiver is the name of a method's type, without star and type parameters.
func receiver(fn *ast.FuncDecl) string {
	typ := fn.Recv.List[0].Type
	for {
		switch e := typ.(type) {
		case *ast.StarExpr:
			typ = e.X
		case *ast.IndexExpr:
			typ = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// assertions lists "Port Type" for each var _ Port = …Type… of a package.
func assertions(p *Package) []string {
	var found []string
	for _, f := range p.Files {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Names[0].Name != "_" || spec.Type == nil || len(spec.Values) != 1 {
				return true
			}
			name := ""
			switch e := spec.Type.(type) {
			case *ast.Ident:
				name = e.Name
			case *ast.SelectorExpr:
				name = e.Sel.Name
			}
			ast.Inspect(spec.Values[0], func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					found = append(found, name+" "+id.Name)
				}
				return true
			})
			return true
		})
	}
	return found
}

// checkTests: no test waits in real time or leaves the machine. Sleeping is
// fine where testing/synctest makes it take none.
func checkTests(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		for _, f := range p.Files {
			if !f.Test {
				continue
			}
			fake := slices.ContainsFunc(f.Imports, func(i Import) bool { return i.Path == "testing/synctest" })
			ast.Inspect(f.AST, func(n ast.Node) bool {
				pkg, member, ok := f.refers(n)
				switch {
				case !ok:
				case pkg == "time" && member == "Sleep" && !fake:
					r.add(n.Pos(), "a test sleeps; use testing/synctest")
				case pkg == "net/http" && strings.HasPrefix(member, "Default"):
					r.add(n.Pos(), "a test uses http.%s, which may leave the machine", member)
				}
				return true
			})
		}
	}
	return r.lines
}
