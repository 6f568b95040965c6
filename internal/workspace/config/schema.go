package config

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed schema.txt
var schemaText string

//go:embed defaults/assistant.toml
var assistantText string

// kind says how a value is checked, merged, told apart and stored.
type kind string

const (
	kindString   kind = "string"
	kindBool     kind = "bool"
	kindInt      kind = "int"
	kindCount    kind = "count"
	kindFloat    kind = "float"
	kindDuration kind = "duration"
	kindEnum     kind = "enum"
	kindID       kind = "id"
	kindText     kind = "text"
	kindJSON     kind = "json"
	kindAny      kind = "any"
	kindModel    kind = "model"
	kindExtends  kind = "extends"
	kindList     kind = "list" // list, append and set: all append
	kindPlain    kind = "plain"
	kindMap      kind = "map"
	kindLabels   kind = "labels"
	kindTable    kind = "table"
	kindUnion    kind = "union"
)

// node is what the schema says about one key.
type node struct {
	kind  kind
	words []string // kindEnum
	shape *shape   // kindTable
	elem  *node    // lists and maps
	alts  []*node  // kindUnion
	dedup bool     // kindList: drops doubles unless a layer says otherwise
	wrap  bool     // stored as {value, strategy}
	bare  bool     // no defaults below
	def   any      // default, nil for none
}

// shape is a set of fields, shared by all tables of that shape.
type shape struct {
	names  []string // in the schema's order
	fields map[string]*node
	open   bool // other keys are free JSON
}

// free is what stands behind keys that the schema does not know.
func free() *node { return &node{kind: kindJSON} }

// schema is the root node: the embedded schema.txt, parsed once, never changed.
var schema = sync.OnceValue(func() *node {
	n, err := parseSchema(schemaText, assistantText)
	if err != nil {
		panic("config: schema.txt: " + err.Error())
	}
	return n
})

func parseSchema(text, defaults string) (*node, error) {
	var at map[string]any
	if err := toml.Unmarshal([]byte(defaults), &at); err != nil {
		return nil, err
	}
	p := &schemaParser{shapes: map[string]*shape{}, at: normalise(at).(map[string]any)}
	var cur *shape
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimRight(line, " \t"); line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutSuffix(line, ":"); ok && line[0] != ' ' {
			name, open := strings.CutSuffix(name, " open")
			cur = p.shape(name)
			cur.open = open
			continue
		}
		if cur == nil || line[0] != ' ' {
			return nil, fmt.Errorf("line %d: a field outside a shape", i+1)
		}
		if err := p.field(cur, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for name, s := range p.shapes {
		if len(s.names) == 0 {
			return nil, fmt.Errorf("shape %q has no fields", name)
		}
	}
	return &node{kind: kindTable, shape: p.shape("root")}, nil
}

type schemaParser struct {
	shapes map[string]*shape
	at     map[string]any // values of @name defaults
}

func (p *schemaParser) shape(name string) *shape {
	s := p.shapes[name]
	if s == nil {
		s = &shape{fields: map[string]*node{}}
		p.shapes[name] = s
	}
	return s
}

// field parses one field: name, kind, flags, default.
func (p *schemaParser) field(s *shape, line string) error {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	text, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := p.kind(text)
	if err != nil {
		return err
	}
	rest = strings.TrimSpace(rest)
	rest, n.bare = cutWord(rest, "bare")
	if flagged, ok := cutWord(rest, "dedup"); ok {
		rest, n.dedup = flagged, true
	}
	if rest != "" {
		if n.def, err = p.value(rest); err != nil {
			return err
		}
	}
	if s.fields[name] != nil {
		return fmt.Errorf("%s stands twice", name)
	}
	s.names = append(s.names, name)
	s.fields[name] = n
	return nil
}

func cutWord(text, word string) (string, bool) {
	if first, rest, _ := strings.Cut(text, " "); first == word {
		return strings.TrimSpace(rest), true
	}
	return text, false
}

func (p *schemaParser) value(text string) (any, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		if p.at[name] == nil {
			return nil, fmt.Errorf("no default %q", text)
		}
		return p.at[name], nil
	}
	return decodeValue(text)
}

// kind parses a kind's text; the words before "bare" and the default.
func (p *schemaParser) kind(text string) (*node, error) {
	if alts := splitTop(text, '|'); len(alts) > 1 {
		n := &node{kind: kindUnion}
		for _, alt := range alts {
			a, err := p.kind(alt)
			if err != nil {
				return nil, err
			}
			n.alts = append(n.alts, a)
		}
		return n, nil
	}
	if text[0] == '{' {
		return &node{kind: kindTable, shape: p.shape(strings.Trim(text, "{}"))}, nil
	}
	name, arg, has := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	n := &node{kind: kind(name)}
	switch name {
	case "enum":
		n.words = strings.Split(arg, ",")
		return n, nil
	case "append":
		n.kind = kindList
	case "set":
		n.kind, n.dedup = kindList, true
	case "list", "labels":
		n.wrap = true
	case "plain", "map":
	case "string", "bool", "int", "count", "float", "duration", "id", "text", "json", "any", "model", "extends":
		return n, nil
	default:
		return nil, fmt.Errorf("unknown kind %q", text)
	}
	if !has {
		return nil, fmt.Errorf("%s needs the kind of its elements", name)
	}
	var err error
	n.elem, err = p.kind(arg)
	return n, err
}

// splitTop splits at sep outside parentheses.
func splitTop(text string, sep byte) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case sep:
			if depth == 0 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, text[start:])
}

// table is the shape that n's tables have, or nil. A union has at most one.
func (n *node) table() *node {
	if n.kind == kindTable {
		return n
	}
	i := slices.IndexFunc(n.alts, func(a *node) bool { return a.kind == kindTable || a.kind == kindJSON })
	if n.kind == kindUnion && i >= 0 {
		return n.alts[i]
	}
	return nil
}

// child is the node of a key below n, and whether the schema knows that key.
func (n *node) child(key string) (*node, bool) {
	switch n.kind {
	case kindUnion:
		if t := n.table(); t != nil {
			return t.child(key)
		}
	case kindTable:
		if c := n.shape.fields[key]; c != nil {
			return c, true
		}
		if n.shape.open {
			return free(), true
		}
	case kindMap, kindLabels:
		return n.elem, true
	case kindJSON, kindAny:
		return free(), true
	}
	return free(), false
}
