package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// checkReserved: the identifier of the participant behind the top-level
// configuration is spelled in workspace/config alone, and as llm's role, which
// is another word that happens to sound the same. Everything else asks config.
func checkReserved(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		if under(p.Dir, "internal/workspace/config", "internal/archtest", "scripts/...", "internal/httpapi", "internal/scene/...") {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			role := roleAssistant(p, f)
			ast.Inspect(f.AST, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING || lit.Pos() == role {
					return true
				}
				s, _ := strconv.Unquote(lit.Value)
				if s == "assistant" || s == "assistants" || keyPath(s) {
					r.add(lit.Pos(), "%s spells %s; take it from workspace/config, or llm for the role", p.Dir, strconv.Quote(s))
				}
				return true
			})
		}
	}
	return r.lines
}

// keyPath tells whether s is a configuration key of a participant, like
// assistant.model.id, and no sentence that mentions one.
func keyPath(s string) bool {
	rest, ok := strings.CutPrefix(s, "assistant.")
	if !ok {
		rest, ok = strings.CutPrefix(s, "assistants.")
	}
	return ok && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz_.") == ""
}

// roleAssistant is where llm spells its role constant.
func roleAssistant(p *Package, f *File) token.Pos {
	pos := token.NoPos
	if p.Dir != "internal/kernel/llm" {
		return pos
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && spec.Names[0].Name == "RoleAssistant" && len(spec.Values) == 1 {
			pos = spec.Values[0].Pos()
		}
		return true
	})
	return pos
}

// checkWords: words of one face only never enter the kernel. Delta and tool
// are missing here: reply.Delta (a piece of a stream) and llm.Tool mean the
// same to both faces, unlike the terminal's config deltas and tool bindings.
func checkWords(t *Tree) []string {
	banned := []string{"turn", "invite", "inquiry", "round", "family", "sheet", "world", "card"}
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		if !under(p.Dir, "internal/kernel/...") {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, id := range declaredIn(f) {
				for _, w := range camelWords(id.Name) {
					if slices.Contains(banned, strings.TrimSuffix(w, "s")) {
						r.add(id.Pos(), "%s: %q is a word of one face", id.Name, w)
					}
				}
			}
		}
	}
	return r.lines
}

// declaredIn lists the names of a file's types, functions, fields, parameters,
// constants and variables.
func declaredIn(f *File) []*ast.Ident {
	var ids []*ast.Ident
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			ids = append(ids, n.Name)
		case *ast.TypeSpec:
			ids = append(ids, n.Name)
		case *ast.ValueSpec:
			ids = append(ids, n.Names...)
		case *ast.Field:
			ids = append(ids, n.Names...)
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					ids = append(ids, id)
				}
			}
		}
		return true
	})
	return ids
}

// camelWords splits an identifier: newTurnID → new, turn, id.
func camelWords(name string) []string {
	var words []string
	start := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) {
			boundary := runes[i] == '_' || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) ||
				unicode.IsUpper(runes[i]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !boundary {
				continue
			}
		}
		words = append(words, strings.ToLower(strings.Trim(string(runes[start:i]), "_")))
		start = i
	}
	return words
}

// checkNames: a package is called what it is about, in one short word.
func checkNames(t *Tree) []string {
	vague := []string{"util", "utils", "helper", "helpers", "common", "manager", "misc"}
	banned := append(slices.Clone(vague), "shared", "base", "core", "types", "model", "models")
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		for _, f := range p.Files {
			name := strings.TrimSuffix(f.AST.Name.Name, "_test")
			if slices.Contains(banned, name) || strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				r.add(f.AST.Package, "package %s: name it after what it is about", name)
			}
			if name != "main" && name != path.Base(p.Dir) {
				r.add(f.AST.Package, "package %s lives in %s", name, p.Dir)
			}
			stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.Path), ".go"), "_test")
			if slices.Contains(vague, stem) {
				r.add(f.AST.Package, "%s: name the file after what is in it", f.Path)
			}
		}
	}
	return r.lines
}

// checkComments: every package opens with its contract, in one place.
func checkComments(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		var docs []string
		var first *File
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			if first == nil {
				first = f
			}
			if f.AST.Doc != nil {
				docs = append(docs, f.AST.Doc.Text())
			}
		}
		if first == nil {
			continue
		}
		want := "Package " + first.AST.Name.Name + " "
		if first.AST.Name.Name == "main" {
			want = "Command " + path.Base(p.Dir) + " "
		}
		switch {
		case len(docs) != 1:
			r.add(first.AST.Package, "%s has %d package comments, want one", p.Dir, len(docs))
		case !strings.HasPrefix(strings.ReplaceAll(docs[0], "\n", " "), want):
			r.add(first.AST.Package, "the comment of %s does not start with %q", p.Dir, want)
		}
	}
	return r.lines
}

// Sizes that no file and no function reaches. Tests may be longer.
const (
	maxFileLines = 600
	maxFuncLines = 80
)

// checkSize: a function fits a screen.
func checkSize(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			if f.Lines >= maxFileLines {
				r.add(f.AST.Package, "%s has %d lines, the limit is %d", f.Path, f.Lines, maxFileLines)
			}
			for _, d := range f.AST.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				lines := t.Fset.Position(fn.End()).Line - t.Fset.Position(fn.Pos()).Line + 1
				if lines > maxFuncLines {
					r.add(fn.Pos(), "%s has %d lines, the limit is %d", fn.Name.Name, lines, maxFuncLines)
				}
			}
		}
	}
	return r.lines
}
