package config

import (
	"cmp"
	"maps"
	"slices"
)

// Overlay lays a conversation's own configuration over that of the files: keys
// that high never had come from low, every leaf of high wins whole. Roster and
// captures come from high alone. Neither tree is changed.
func Overlay(low, high Tree) Tree {
	low = without(without(low, "assistants"), "conversation", "participants")
	return fill(schema(), low, high)
}

// fill takes from low what high does not have.
func fill(n *node, low, high Tree) Tree {
	out := maps.Clone(low)
	if out == nil {
		out = Tree{}
	}
	for k, h := range high {
		c, _ := n.child(k)
		l, lok := low[k].(Tree)
		t, tok := h.(Tree)
		shape := c
		if c.kind == kindUnion {
			shape = c.table()
		}
		if lok && tok && shape != nil && (shape.kind == kindTable || shape.kind == kindMap) {
			out[k] = fill(shape, l, t)
		} else {
			out[k] = h
		}
	}
	return out
}

// Defaults is the built-in configuration.
func Defaults() Tree { return defaultsOf(schema()) }

func defaultsOf(n *node) Tree {
	out := Tree{}
	for name, f := range n.shape.fields {
		switch {
		case f.def != nil:
			out[name] = f.def
		case f.kind == kindTable && !f.bare:
			if t := defaultsOf(f); len(t) > 0 {
				out[name] = t
			}
		}
	}
	return out
}

// Finalize makes a merged tree ready for use: legacy tools moved, defaults in
// the gaps (of captures too), strategies and cleared keys gone, sections and
// instructions sorted by position, aliases resolved. An alias that nothing
// defines stays as it is: only who speaks needs a model. Errors: aliases that
// lead back to themselves (fault.Config).
func Finalize(t Tree) (Tree, error) {
	t = clean(moveTools(t, nil)).(Tree)
	defaults := Defaults()
	own := table(defaults, Reserved)
	if captures := table(t, "assistants"); len(captures) > 0 {
		full := maps.Clone(captures)
		for name, c := range captures {
			if sub, ok := c.(Tree); ok {
				full[name] = fill(schema().shape.fields[Reserved], own, sub)
			}
		}
		t = with(t, full, "assistants")
	}
	t = fill(schema(), defaults, t)
	return ResolveAliases(settle(t))
}

// settle takes the strategies out of a tree and sorts what has a position.
func settle(t Tree) Tree {
	return rewrite(schema(), t, func(n *node, v any) any {
		switch n.kind {
		case kindText:
			return unwrap(v).value
		case kindLabels:
			return unwrapLabels(v).value
		case kindList:
			list, ok := unwrap(v).value.([]any)
			if ok && n.elem.kind == kindTable && n.elem.shape.fields["position"] != nil {
				list = slices.Clone(list)
				slices.SortStableFunc(list, func(a, b any) int { return cmp.Compare(position(a), position(b)) })
			}
			if ok {
				return list
			}
		}
		return v
	}).(Tree)
}

func position(v any) int64 {
	t, _ := v.(Tree)
	p, _ := t["position"].(int64)
	return p
}

// rewrite returns a copy of v in which f has replaced every value that the
// schema knows, elements before the list or table that holds them.
func rewrite(n *node, v any, f func(*node, any) any) any {
	switch n.kind {
	case kindUnion:
		if t, ok := v.(Tree); ok && n.table() != nil {
			return rewrite(n.table(), t, f)
		}
		return v
	case kindTable, kindMap:
		return f(n, rewriteTable(n, v, f))
	case kindLabels:
		entries := &node{kind: kindMap, elem: n.elem}
		return f(n, rewriteInside(unwrapLabels(v), v, func(v any) any { return rewriteTable(entries, v, f) }))
	case kindList, kindPlain:
		return f(n, rewriteInside(unwrap(v), v, func(v any) any {
			list, ok := v.([]any)
			if !ok {
				return v
			}
			out := make([]any, len(list))
			for i, e := range list {
				out[i] = rewrite(n.elem, e, f)
			}
			return out
		}))
	}
	return f(n, v)
}

func rewriteTable(n *node, v any, f func(*node, any) any) any {
	t, ok := v.(Tree)
	if !ok {
		return v
	}
	out := make(Tree, len(t))
	for k, e := range t {
		c, _ := n.child(k)
		out[k] = rewrite(c, e, f)
	}
	return out
}

// rewriteInside applies f to the value inside a wrapper, or to v itself.
func rewriteInside(w wrapped, v any, f func(any) any) any {
	t, ok := v.(Tree)
	if _, has := t["value"]; ok && has && !equal(w.value, v) {
		return with(t, f(w.value), "value")
	}
	return f(v)
}
