package config

import "maps"

// Diff is what must be merged over from to get to, nil when nothing. A key
// that to lacks is cleared by nil; a list that lost, moved or changed elements
// is replaced by {value, strategy: "replace"}; one that grew is its new tail.
// A table without keys counts as absent. The file mechanics inherit and
// extends are no part of it.
func Diff(from, to Tree) Tree {
	d := diffTable(schema(), without(without(from, "inherit"), "extends"), without(without(to, "inherit"), "extends"))
	if len(d) == 0 {
		return nil
	}
	return d
}

// Delta is what a stream must gain so that it, finalized, is now, which is
// finalized too; nil when it is that already. Defaults that the stream never
// stored are no difference. Errors: those of Finalize.
func Delta(stream, now Tree) (Tree, error) {
	from, err := Finalize(stream)
	if err != nil {
		return nil, err
	}
	d := Diff(from, now)
	if d == nil {
		return nil, nil
	}
	// What grew out of a default must be said in full: the stream has no
	// default that it could be appended to.
	if then, err := Finalize(Merge(stream, d)); err != nil || Diff(then, now) != nil {
		d = Diff(stream, now)
	}
	return d, nil
}

func diffTable(n *node, from, to Tree) Tree {
	out := Tree{}
	fixed := n.kind == kindTable // the entries of a map say by their key that they are there
	for k, f := range from {
		c, _ := n.child(k)
		if f != nil && to[k] == nil && !(fixed && blank(c, f)) {
			out[k] = nil
		}
	}
	for k, t := range to {
		c, _ := n.child(k)
		if t == nil || from[k] == nil && fixed && blank(c, t) {
			continue
		}
		if d, changed := diffValue(c, from[k], t); changed {
			out[k] = d
		}
	}
	return out
}

// blank tells whether v says nothing: a table of fixed shape without keys.
func blank(n *node, v any) bool {
	t, ok := v.(Tree)
	if !ok || n.kind != kindTable {
		return false
	}
	for k, e := range t {
		if c, _ := n.child(k); e != nil && !blank(c, e) {
			return false
		}
	}
	return true
}

func diffValue(n *node, from, to any) (any, bool) {
	f, fok := from.(Tree)
	t, tok := to.(Tree)
	switch n.kind {
	case kindTable, kindMap:
		if fok && tok {
			d := diffTable(n, f, t)
			return d, len(d) > 0
		}
	case kindUnion:
		if shape := n.table(); shape != nil && fok && tok {
			return diffValue(shape, from, to)
		}
	case kindText:
		return diffText(from, to)
	case kindList:
		return diffList(n, from, to)
	case kindLabels:
		return diffLabels(n, from, to)
	case kindJSON:
		return diffJSON(from, to)
	case kindExtends:
		return nil, false
	}
	return to, !equal(from, to)
}

func diffText(from, to any) (any, bool) {
	f, t := mergeText(nil, from), mergeText(nil, to)
	if equal(f, t) {
		return nil, false
	}
	if w := unwrap(t); w.discard {
		return Tree{"value": w.value, "strategy": stReplace, "discard_when_merged": true}, true
	}
	return t, true
}

func diffList(n *node, from, to any) (any, bool) {
	t := mergeList(n, nil, to)
	if from == nil {
		return t, true
	}
	f := mergeList(n, nil, from)
	if equal(f, t) {
		return nil, false
	}
	old, _ := unwrap(f).value.([]any)
	now, ok := unwrap(t).value.([]any)
	if ok && len(now) > len(old) {
		if tail := now[len(old):]; equal(mergeList(n, f, tail), t) {
			return tail, true
		}
	}
	if !ok {
		return t, true
	}
	w, was := unwrap(t), unwrap(f)
	d := Tree{"value": now, "strategy": stReplace, "discard_when_merged": w.discard}
	if w.dedup != nil {
		d["dedup"] = *w.dedup
	} else if was.dedup != nil {
		d["dedup"] = n.dedup
	}
	return d, true
}

// diffLabels says the changed entries, or all of them when merging them would
// leave something behind.
func diffLabels(n *node, from, to any) (any, bool) {
	f, t := mergeLabels(n, nil, from), mergeLabels(n, nil, to)
	if from != nil && equal(f, t) {
		return nil, false
	}
	old, _ := unwrapLabels(f).value.(Tree)
	w := unwrapLabels(t)
	now, ok := w.value.(Tree)
	if !ok {
		return t, true
	}
	changed := maps.Clone(now)
	maps.DeleteFunc(changed, func(k string, v any) bool { return equal(old[k], v) })
	if equal(mergeLabels(n, f, changed), t) {
		return changed, true
	}
	return Tree{"value": now, "strategy": stReplace, "discard_when_merged": w.discard}, true
}

// diffJSON descends into objects. What would be taken for a wrapper, or would
// leave something behind, is put into a replacing one.
func diffJSON(from, to any) (any, bool) {
	if from != nil && equal(clean(from), clean(to)) {
		return nil, false
	}
	d := to
	f, fok := from.(Tree)
	if t, ok := to.(Tree); ok && fok {
		d = diffTable(free(), f, t)
	}
	if equal(clean(mergeJSON(from, d)), clean(to)) {
		return d, true
	}
	return Tree{"value": to, "strategy": stReplace}, true
}
