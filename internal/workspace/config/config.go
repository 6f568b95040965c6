// Package config holds the layered configuration of a workspace and of its
// conversations: which keys there are (schema.txt), how layers merge, what two
// configurations differ in, and what a participant's configuration is.
//
// A configuration is a Tree. Loader reads files and environment into a Stack
// of layers that remember where they come from; Merged folds them. A new
// conversation stores Snapshot(Finalize(merged)). An existing one is resumed by
//
//	s := base.Over(stream)           // the stream's own keys win whole
//	err = s.Assign(…), s.Push(…)     // -c and flags
//	now, err := Finalize(s.Merged()) // what is used
//	delta, err := Delta(stream, now) // what is stored; nil: nothing
//
// where stream is Stored(base config) with every Stored(delta) merged over it.
//
// Guaranteed: trees that went in are never changed; Merge(from, Diff(from, to))
// is to; what is stored is read whatever it holds. Refused: unknown keys and
// wrong types in files and assignments, with file, line and the nearest key.
// Files are read at most once per Loader; nothing is ever written, and nothing
// here may be used by two goroutines at once except trees.
package config

import (
	"fmt"
	"strings"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
)

// Origin kinds: the layers, from the lowest to the highest.
const (
	FromDefault   = "default"
	FromUser      = "user"      // the user's own configuration directory
	FromWorkspace = "workspace" // .jp/config.*
	FromDirectory = "directory" // .jp.* from the root down to the working directory
	FromSilo      = "user-workspace"
	FromEnv       = "environment"

	FromConversation = "conversation" // what its stream holds
	FromSource       = "source"       // -c NAME, --invite and the like
	FromAssignment   = "assignment"   // -c KEY=VALUE and flags
)

// Origin is where a value was set. Path is a file, a variable or the
// assignment as it was typed; Line is 0 when it is not known.
type Origin struct {
	Kind string
	Path string
	Line int
}

func (o Origin) String() string {
	switch {
	case o.Path == "":
		return o.Kind
	case o.Line > 0:
		return fmt.Sprintf("%s:%d", o.Path, o.Line)
	}
	return o.Path
}

// check refuses keys that the schema does not know and values of a wrong type.
// Errors: fault.Config (fault.Usage for an assignment), naming the place, the
// full key and the nearest key.
func (l Layer) check() error { return l.checkTable(schema(), nil, l.Tree) }

// prefix opens an error: the place of a key, nothing for assignments, whose
// text a person has before their eyes.
func (l Layer) prefix(path []string) string {
	if l.Kind == FromAssignment {
		return ""
	}
	return l.place(path).String() + ": "
}

// code tells a wrong file from a wrong command line.
func (l Layer) code() fault.Code {
	if l.Kind == FromAssignment {
		return fault.Usage
	}
	return fault.Config
}

// place is the origin with the line of a key.
func (l Layer) place(path []string) Origin {
	o := l.Origin
	if l.lines != nil {
		o.Line = l.lines(path)
	}
	return o
}

func (l Layer) wrong(path []string, format string, args ...any) *fault.Error {
	return fault.New(l.code(), "%s%s %s", l.prefix(path), JoinKey(path), fmt.Sprintf(format, args...))
}

func (l Layer) checkTable(n *node, path []string, t Tree) error {
	for _, k := range keys(t) {
		sub := append(path[:len(path):len(path)], k)
		if err := l.checkKey(n, sub); err != nil {
			return err
		}
		c, _ := n.child(k)
		if err := l.checkValue(c, sub, t[k]); err != nil {
			return err
		}
	}
	return nil
}

// checkKey refuses a last segment that n does not know.
func (l Layer) checkKey(n *node, path []string) error {
	k := path[len(path)-1]
	if _, known := n.child(k); !known {
		return l.unknown(n, path)
	}
	switch {
	case len(path) == 2 && path[0] == "assistants":
		if err := checkName(k); err != nil {
			return fault.New(l.code(), "%s%s: %w", l.prefix(path), JoinKey(path), err).WithHint("%s", fault.HintOf(err))
		}
	case len(path) == 4 && path[2] == "aliases" && strings.Contains(k, "/"):
		return l.wrong(path, "cannot be an alias: a name with a slash is a model")
	}
	return nil
}

func (l Layer) unknown(n *node, path []string) error {
	err := fault.New(l.code(), "%sunknown key %s", l.prefix(path), JoinKey(path))
	last := len(path) - 1
	if best, ok := speaker.Nearest(path[last], n.names()); ok {
		return err.WithHint("did you mean %s?", JoinKey(append(path[:last:last], best)))
	}
	if len(n.names()) == 0 {
		return err
	}
	return err.WithHint("the keys here are %s", strings.Join(n.names(), ", "))
}

func (l Layer) checkValue(n *node, path []string, v any) error {
	if v == nil {
		return nil
	}
	switch n.kind {
	case kindTable, kindMap:
		if t, ok := v.(Tree); ok {
			return l.checkTable(n, path, t)
		}
	case kindLabels:
		if t, ok := unwrapLabels(v).value.(Tree); ok {
			return l.checkTable(&node{kind: kindMap, elem: n.elem}, path, t)
		}
	case kindUnion:
		return l.checkUnion(n, path, v)
	case kindPlain:
		if list, ok := v.([]any); ok {
			return l.checkElements(n, path, list)
		}
	case kindList:
		w := unwrap(v)
		if list, ok := w.value.([]any); ok {
			return l.checkWrapped(n, path, v, list, stAppend, stPrepend, stReplace)
		}
	case kindText:
		if _, ok := unwrap(v).value.(string); ok {
			return l.checkWrapped(n, path, v, nil, stAppend, stPrepend, stReplace)
		}
	case kindModel:
		if t, ok := v.(Tree); ok && (text(t, "provider") == "" || text(t, "name") == "" || len(t) > 2) {
			return l.wrong(path, "needs provider and name, both texts, and nothing else")
		}
		fallthrough
	default:
		if n.accepts(v) {
			return nil
		}
	}
	return l.wrong(path, "must be %s, not %s", n.describe(), describe(v))
}

func (l Layer) checkUnion(n *node, path []string, v any) error {
	if _, ok := v.(Tree); ok && n.table() != nil {
		return l.checkValue(n.table(), path, v)
	}
	for _, a := range n.alts {
		if _, isList := v.([]any); a.kind == kindPlain && isList {
			return l.checkValue(a, path, v)
		}
		if a.accepts(v) {
			return nil
		}
	}
	return l.wrong(path, "must be %s, not %s", n.describe(), describe(v))
}

func (l Layer) checkElements(n *node, path []string, list []any) error {
	for i, e := range list {
		if err := l.checkValue(n.elem, append(path[:len(path):len(path)], fmt.Sprint(i)), e); err != nil {
			return err
		}
	}
	return nil
}

// checkWrapped checks what stands beside the value of a wrapper.
func (l Layer) checkWrapped(n *node, path []string, v any, list []any, strategies ...string) error {
	t, ok := v.(Tree)
	if !ok {
		return l.checkElements(n, path, list)
	}
	beside := map[string]*node{
		"value":               free(),
		"strategy":            {kind: kindEnum, words: strategies},
		"discard_when_merged": {kind: kindBool},
	}
	if n.kind == kindText {
		beside["separator"] = &node{kind: kindEnum, words: []string{"none", "space", "line", "paragraph"}}
	} else {
		inherit := &node{kind: kindEnum, words: []string{"inherit"}}
		beside["dedup"] = &node{kind: kindUnion, alts: []*node{{kind: kindBool}, inherit}}
	}
	if err := l.checkTable(&node{kind: kindTable, shape: &shape{fields: beside}}, path, t); err != nil {
		return err
	}
	if list == nil {
		return nil
	}
	return l.checkElements(n, append(path[:len(path):len(path)], "value"), list)
}
