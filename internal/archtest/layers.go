package archtest

import (
	"slices"
	"strings"
)

// slice is one box of the layer picture: a folder tree and the boxes it may
// import besides itself. Peers are never among them.
type slice struct {
	root string
	may  []string
}

// boxes are ordered from the top:
// cli → term, httpapi, web → workspace | scene → kernel → lib.
func boxes() []slice {
	return []slice{
		{"cmd", []string{"internal/cli"}}, // its tests run the whole program and may use standIns too
		{"internal/cli", []string{"internal/term", "internal/httpapi", "web", "internal/workspace", "internal/scene", "internal/kernel", "internal/lib"}},
		{"internal/term", []string{"internal/kernel", "internal/lib"}},
		{"internal/httpapi", []string{"internal/scene", "internal/kernel", "internal/lib"}},
		{"web", nil},
		{"internal/workspace", []string{"internal/kernel", "internal/lib"}},
		{"internal/scene", []string{"internal/kernel", "internal/lib"}},
		{"internal/kernel", []string{"internal/lib"}},
		{"internal/lib", nil},
		// These are no part of the program.
		{"internal/archtest", nil},
		{"scripts", nil},
	}
}

func boxOf(dir string) (slice, bool) {
	for _, b := range boxes() {
		if under(dir, b.root+"/...") {
			return b, true
		}
	}
	return slice{}, false
}

// standIns take the place of what lies outside of the program in the
// end-to-end tests.
const standIns = "internal/kernel/llm/llmtest"

// checkLayers: a layer imports itself and lower ones, never a peer. Tests obey
// the same table, but for standIns.
func checkLayers(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		from, ok := boxOf(p.Dir)
		if !ok {
			continue // checkFolders reports it
		}
		for _, f := range p.Files {
			for _, imp := range f.Imports {
				target, local := strings.CutPrefix(imp.Path, module)
				if !local {
					continue
				}
				if f.Test && target == standIns {
					continue
				}
				to, ok := boxOf(target)
				if !ok || to.root != from.root && !slices.Contains(from.may, to.root) {
					r.add(imp.Pos, "%s may not import %s", p.Dir, target)
				}
			}
		}
	}
	return r.lines
}

// folders are the packages of ARCHITECTURE.md. A new package is named there
// first.
func folders() []string {
	return []string{
		"cmd/jp",
		"internal/cli",
		"internal/term",
		"internal/httpapi",
		"web",
		"internal/workspace",
		"internal/workspace/config",
		"internal/workspace/conversation",
		"internal/workspace/attach",
		"internal/workspace/tool",
		"internal/workspace/query",
		"internal/scene",
		"internal/scene/card",
		"internal/scene/audit",
		"internal/scene/lore",
		"internal/scene/macro",
		"internal/scene/prompt",
		"internal/scene/prose",
		"internal/scene/pipeline",
		"internal/scene/sqlstore",
		"internal/scene/storetest",
		"internal/scene/sample",
		"internal/scene/tavern",
		"internal/scene/voice",
		"internal/kernel/speaker",
		"internal/kernel/projection",
		"internal/kernel/exchange",
		"internal/kernel/reply",
		"internal/kernel/llm",
		"internal/kernel/llm/catalog",
		"internal/kernel/llm/chat",
		"internal/kernel/llm/rehearsal",
		"internal/kernel/llm/llmtest",
		"internal/lib/fault",
		"internal/lib/lock",
		"internal/lib/atomicfile",
		"internal/lib/fanout",
		"internal/lib/host",
		"internal/lib/literal",
		"internal/lib/shell",
		"internal/lib/sse",
		"internal/archtest",
		"scripts/crash",
		"scripts/load",
		"scripts/outage",
		"scripts/race",
		"scripts/scene",
		"scripts/harness",
	}
}

// checkFolders: there are no packages but those that ARCHITECTURE.md names.
func checkFolders(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		if !slices.Contains(folders(), p.Dir) {
			r.add(p.Files[0].AST.Package, "%s is not among the folders of ARCHITECTURE.md", p.Dir)
		}
	}
	return r.lines
}

// modules says who may import a module that is not ours, and what for.
func modules() map[string][]string {
	return map[string][]string{
		"github.com/spf13/cobra": {"internal/cli"},                            // commands and flags
		"github.com/spf13/pflag": {"internal/cli"},                            // cobra's flag values
		"golang.org/x/term":      {"cmd/jp", "internal/cli", "internal/term"}, // is it a terminal, how wide
		"golang.org/x/sys":       {"cmd/jp", "internal/lib/..."},              // the process session, flock's platform gaps

		"github.com/alecthomas/chroma/v2":          {"internal/term"},                         // code colours
		"github.com/yuin/goldmark":                 {"internal/term"},                         // Markdown
		"github.com/charmbracelet/x/ansi":          {"internal/term"},                         // control sequences, wrapping
		"github.com/clipperhouse/displaywidth":     {"internal/term"},                         // width in graphemes
		"github.com/clipperhouse/uax29/v2":         {"internal/term", "internal/scene/audit"}, // graphemes; sentences
		"github.com/mattn/go-runewidth":            {"internal/term"},                         // width in graphemes
		"github.com/gofrs/flock":                   {"internal/lib/lock"},
		"github.com/pelletier/go-toml/v2":          {"internal/workspace/config"},
		"github.com/goccy/go-yaml":                 {"internal/workspace/config"},
		"github.com/titanous/json5":                {"internal/workspace/config"},
		"github.com/bmatcuk/doublestar/v4":         {"internal/workspace/config", "internal/workspace/attach"}, // ** in extends and file:
		"github.com/santhosh-tekuri/jsonschema/v6": {"internal/workspace/tool", "internal/workspace/query"},    // arguments and answers against a schema
		"golang.org/x/text":                        {"internal/lib/...", "internal/scene/lore"},                // one spelling of accents
		"github.com/danielgtaylor/huma/v2":         {"internal/httpapi"},                                       // routes, validation, OpenAPI
		"github.com/swaggo/files/v2":               {"internal/httpapi"},                                       // the API's page
		"golang.org/x/image":                       {"internal/httpapi", "internal/scene/card"},                // thumbnails; WebP
		"github.com/google/uuid":                   {"internal/scene", "internal/scene/card"},
		"github.com/pressly/goose/v3":              {"internal/scene/sqlstore"},                       // migrations
		"modernc.org/sqlite":                       {"internal/scene/sqlstore", "scripts/outage"},     // the script asks the database itself
		"golang.org/x/sync":                        {"internal/workspace", "internal/workspace/tool"}, // bounded listing
	}
}

// testModules may be imported by any test and by nothing else.
func testModules() []string {
	return []string{
		"github.com/goccy/go-yaml",
		"github.com/google/go-cmp/...",
		"github.com/rogpeppe/go-internal/...",
		"github.com/santhosh-tekuri/jsonschema/v6",
		"github.com/tidwall/gjson",
		"golang.org/x/tools/txtar",
		"pgregory.net/rapid",
	}
}

// checkModules: a module is imported where its job is done, and nowhere else.
// The conformance suites of ports are tests that live in ordinary packages.
func checkModules(t *Tree) []string {
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		suite := under(p.Dir, "internal/kernel/llm/llmtest", "internal/scene/storetest")
		for _, f := range p.Files {
			for _, imp := range f.Imports {
				if standard(imp.Path) || strings.HasPrefix(imp.Path, module) {
					continue
				}
				if (f.Test || suite) && under(imp.Path, testModules()...) {
					continue
				}
				if !moduleAllowed(p.Dir, imp.Path) {
					r.add(imp.Pos, "%s may not import %s", p.Dir, imp.Path)
				}
			}
		}
	}
	return r.lines
}

func moduleAllowed(dir, imported string) bool {
	for mod, who := range modules() {
		if under(imported, mod+"/...") && under(dir, who...) {
			return true
		}
	}
	return false
}

// standard tells whether an import path is of the standard library.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".") && first+"/" != module
}

// checkDomain: the nouns of the kernel and of scenes know no protocol, no
// database and no file system; the wires below llm are not nouns. Nouns import
// no wire, and wires do not import each other.
func checkDomain(t *Tree) []string {
	banned := []string{"net/...", "database/...", "os/...", "io/ioutil", "syscall", "html/template", "log/..."}
	r := &report{fset: t.Fset}
	for _, p := range t.Packages {
		wire := strings.HasPrefix(p.Dir, "internal/kernel/llm/")
		noun := !wire && under(p.Dir, "internal/kernel/...", "internal/scene")
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, imp := range f.Imports {
				if noun && under(imp.Path, banned...) {
					r.add(imp.Pos, "%s is domain and may not import %s", p.Dir, imp.Path)
				}
				if (noun || wire) && strings.HasPrefix(imp.Path, module+"internal/kernel/llm/") {
					r.add(imp.Pos, "%s may not import the wire %s", p.Dir, strings.TrimPrefix(imp.Path, module))
				}
			}
		}
	}
	return r.lines
}
