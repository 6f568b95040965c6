package config

import (
	"slices"
	"strconv"
	"strings"

	"jp/internal/lib/fault"
)

// builder makes the tree that brings one value to one place.
type builder struct {
	op     Op
	value  any
	full   []string
	origin Origin
}

func (b builder) errorf(rest []string, format string, args ...any) *fault.Error {
	key := b.full[:len(b.full)-len(rest)]
	return Layer{Origin: b.origin}.wrong(key, format, args...)
}

// build returns what must be merged over cur, which n describes and rest leads
// away from.
func (b builder) build(n *node, rest []string, cur any) (any, error) {
	if len(rest) == 0 {
		return b.leaf(n, cur)
	}
	if n.kind == kindUnion && n.table() != nil {
		n = n.table()
	}
	switch n.kind {
	case kindTable, kindMap, kindJSON:
		return b.below(n, rest, cur)
	case kindLabels:
		return b.below(&node{kind: kindMap, elem: n.elem}, rest, unwrapLabels(cur).value)
	case kindList, kindPlain:
		return b.element(n, rest, cur)
	case kindModel, kindAny: // replaced whole, so what stands there comes along
		t, _ := cur.(Tree)
		sub, err := b.below(n, rest, t)
		if err != nil {
			return nil, err
		}
		return clean(mergeTable(free(), t, sub.(Tree), false)), nil
	}
	return nil, b.errorf(rest, "is %s and has no key %s", n.describe(), JoinKey(rest))
}

func (b builder) below(n *node, rest []string, cur any) (any, error) {
	c, known := n.child(rest[0])
	if n.kind == kindModel {
		c, known = &node{kind: kindString}, rest[0] == "provider" || rest[0] == "name"
	}
	if !known {
		return nil, Layer{Origin: b.origin}.unknown(n, b.full[:len(b.full)-len(rest)+1])
	}
	t, _ := cur.(Tree)
	v, err := b.build(c, rest[1:], t[rest[0]])
	if err != nil {
		return nil, err
	}
	return Tree{rest[0]: v}, nil
}

// element changes one element of a list and returns the whole list.
func (b builder) element(n *node, rest []string, cur any) (any, error) {
	i, err := strconv.Atoi(rest[0])
	if err != nil {
		return nil, b.errorf(rest, "is a list; its elements have numbers, not %q", rest[0])
	}
	list, _ := unwrap(cur).value.([]any)
	if i < 0 || i >= len(list) {
		return nil, b.errorf(rest, "has no element %d: it holds %d, counted from 0", i, len(list))
	}
	v, err := b.build(n.elem, rest[1:], list[i])
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	if v == nil {
		list = slices.Delete(list, i, i+1)
	} else {
		list[i] = clean(mergeValue(n.elem, list[i], v, false))
	}
	return replaceList(n, list), nil
}

// replaceList is a list that takes the place of whatever stands below.
func replaceList(n *node, list []any) any {
	if n.kind == kindPlain {
		return list
	}
	return Tree{"value": list, "strategy": stReplace}
}

// leaf is the value at the key itself.
func (b builder) leaf(n *node, cur any) (any, error) {
	switch b.op {
	case OpSet:
		return b.plain(n, b.value.(string))
	case OpAdd:
		return b.add(n, cur, b.value.(string))
	case OpSetJSON:
		return b.set(n, cur), nil
	}
	return b.merge(n, cur)
}

// plain reads a text as what the field wants.
func (b builder) plain(n *node, s string) (any, error) {
	switch n.kind {
	case kindBool, kindInt, kindCount, kindFloat:
		if v := coerce(n, s); v != nil {
			return v, nil
		}
		return nil, b.errorf(nil, "must be %s, not %s", n.describe(), describe(s))
	case kindUnion:
		for _, a := range n.alts {
			if v := coerce(a, s); v != nil {
				return v, nil
			}
		}
		return nil, b.errorf(nil, "must be %s, not %s", n.describe(), describe(s))
	case kindList, kindPlain:
		list, err := b.split(n, s)
		return replaceList(n, list), err
	case kindTable, kindMap, kindLabels, kindExtends:
		return nil, b.errorf(nil, "is %s; give it as JSON with :=", n.describe())
	}
	return s, nil
}

// coerce is s as a value of n, nil when it is none.
func coerce(n *node, s string) any {
	switch n.kind {
	case kindBool:
		if s == "true" || s == "false" {
			return s == "true"
		}
		return nil
	case kindInt, kindCount:
		if i, err := strconv.ParseInt(s, 10, 64); err == nil && n.accepts(i) {
			return i
		}
		return nil
	case kindFloat:
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return normalise(f)
		}
		return nil
	case kindTable:
		return nil
	}
	if n.accepts(s) {
		return s
	}
	return nil
}

// split reads a list of scalars, separated by commas.
func (b builder) split(n *node, s string) ([]any, error) {
	list := []any{}
	if s == "" {
		return list, nil
	}
	for _, part := range strings.Split(s, ",") {
		v, err := b.plain(n.elem, strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// add appends a text to a text or a list.
func (b builder) add(n *node, cur any, s string) (any, error) {
	switch n.kind {
	case kindText:
		return Tree{"value": s, "strategy": stAppend}, nil
	case kindList:
		list, err := b.split(n, s)
		return list, err
	case kindPlain:
		list, err := b.split(n, s)
		return joinList(inEffect(n, cur), list, stAppend), err
	case kindJSON, kindAny:
		switch old := cur.(type) {
		case []any:
			return append(slices.Clone(old), s), nil
		case nil:
			return s, nil
		}
	}
	return nil, b.errorf(nil, "is %s, nothing can be added to it with +=", n.describe())
}

// inEffect is what a replacing list holds, the default when nothing set it: an
// implicit roster grows, too.
func inEffect(n *node, cur any) []any {
	if cur == nil {
		cur = n.def
	}
	list, _ := cur.([]any)
	return list
}

// set puts a JSON value: null clears, an object on a table merges key by key,
// on a map it replaces.
func (b builder) set(n *node, cur any) any {
	v := b.value
	if v == nil {
		return nil
	}
	if n.kind == kindUnion && n.table() != nil {
		if _, ok := v.(Tree); ok {
			n = n.table()
		}
	}
	t, isTree := v.(Tree)
	switch n.kind {
	case kindMap:
		if old, ok := cur.(Tree); ok && isTree {
			return diffTable(n, old, t)
		}
	case kindLabels:
		if isTree && !unwrapLabels(t).marked {
			return Tree{"value": t, "strategy": stReplace}
		}
	case kindJSON:
		if _, wrapper := unwrapJSON(v); isTree && !wrapper {
			return Tree{"value": t, "strategy": stReplace}
		}
	case kindList:
		if list, ok := v.([]any); ok {
			return replaceList(n, list)
		}
	}
	return v
}

// merge lays a JSON value over what stands there.
func (b builder) merge(n *node, cur any) (any, error) {
	v := b.value
	switch n.kind {
	case kindTable, kindMap, kindLabels, kindJSON, kindAny, kindUnion:
		return v, nil
	case kindText:
		if s, ok := v.(string); ok {
			return Tree{"value": s, "strategy": stAppend}, nil
		}
		return v, nil
	case kindList, kindPlain:
		list, ok := v.([]any)
		if !ok {
			if t, isTree := v.(Tree); isTree && n.kind == kindList && unwrap(t).marked {
				return v, nil
			}
			list = []any{v}
		}
		if n.kind == kindPlain {
			return joinList(inEffect(n, cur), list, stAppend), nil
		}
		return list, nil
	}
	if v == nil {
		return nil, nil
	}
	return nil, b.errorf(nil, "is %s, nothing can be merged into it; use :=", n.describe())
}
