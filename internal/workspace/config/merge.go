package config

import "maps"

// Merge lays upper over lower by the rules of schema.txt and changes neither.
// It never fails: a value of a wrong type replaces. A nil in upper clears the
// key and stays in the result, so that Overlay lets nothing from below fill
// the gap again.
func Merge(lower, upper Tree) Tree { return mergeTable(schema(), lower, upper, false) }

// mergeTable merges key by key. own says that lower was made by mergeTable and
// is held by nobody else: then it is changed in place, which keeps a stack of
// many layers linear.
func mergeTable(n *node, lower, upper Tree, own bool) Tree {
	out := lower
	if !own || out == nil {
		out = make(Tree, len(lower)+len(upper))
		maps.Copy(out, lower)
	}
	for k, u := range upper {
		c, _ := n.child(k)
		out[k] = mergeValue(c, lower[k], u, own)
	}
	return out
}

func mergeValue(n *node, lower, upper any, own bool) any {
	if upper == nil {
		return nil
	}
	switch n.kind {
	case kindTable, kindMap, kindUnion:
		u, ok := upper.(Tree)
		if !ok {
			return upper
		}
		if n.kind == kindUnion {
			if n = n.table(); n == nil {
				return upper
			}
			if n.kind == kindJSON {
				return mergeJSON(lower, upper)
			}
		}
		l, _ := lower.(Tree)
		return mergeTable(n, l, u, own)
	case kindText:
		return mergeText(lower, upper)
	case kindList:
		return mergeList(n, lower, upper)
	case kindLabels:
		return mergeLabels(n, lower, upper)
	case kindJSON:
		return mergeJSON(lower, upper)
	case kindExtends: // says where a file's parents are, nothing for the result
		if lower != nil {
			return lower
		}
	}
	return upper
}

// The strategies of wrapped values.
const (
	stAppend    = "append"
	stPrepend   = "prepend"
	stReplace   = "replace"
	stDeepMerge = "deep_merge"
	stMerge     = "merge"
	stKeep      = "keep"
)

// wrapped is a value with what it says about its merging. Merged values carry
// only the parts that outlive a merge: dedup and discard.
type wrapped struct {
	value     any
	strategy  string
	separator string
	dedup     *bool // nil: inherit
	discard   bool
	marked    bool // strategy or discard_when_merged stood there
}

// unwrap reads {value, …}; anything else is its own value.
func unwrap(v any) wrapped {
	t, ok := v.(Tree)
	if !ok {
		return wrapped{value: v}
	}
	value, ok := t["value"]
	if !ok {
		return wrapped{value: v}
	}
	w := wrapped{value: value}
	w.strategy, _ = t["strategy"].(string)
	w.separator, _ = t["separator"].(string)
	w.discard, _ = t["discard_when_merged"].(bool)
	if d, ok := t["dedup"].(bool); ok {
		w.dedup = &d
	}
	_, discard := t["discard_when_merged"]
	w.marked = w.strategy != "" || discard
	return w
}

// below is the value that w leaves when something is merged over it.
func (w wrapped) below() any {
	if w.discard {
		return nil
	}
	return w.value
}

// rewrap is the merged form: plain unless something must be remembered.
func rewrap(value any, discard bool, dedup *bool) any {
	if !discard && dedup == nil {
		return value
	}
	t := Tree{"value": value}
	if discard {
		t["discard_when_merged"] = true
	}
	if dedup != nil {
		t["dedup"] = *dedup
	}
	return t
}

func separatorText(name string) string {
	switch name {
	case "space":
		return " "
	case "line":
		return "\n"
	case "paragraph":
		return "\n\n"
	}
	return ""
}

func mergeText(lower, upper any) any {
	up := unwrap(upper)
	value, ok := up.value.(string)
	if !ok {
		return upper
	}
	if _, table := upper.(Tree); table && up.strategy != stReplace {
		old, _ := unwrap(lower).below().(string)
		value = joinText(old, value, up)
	}
	return rewrap(value, up.discard, nil)
}

// joinText appends or prepends value; an empty side brings no separator.
func joinText(old, value string, w wrapped) string {
	if old == "" || value == "" {
		return old + value
	}
	if w.strategy == stPrepend {
		return value + separatorText(w.separator) + old
	}
	return old + separatorText(w.separator) + value
}

func mergeList(n *node, lower, upper any) any {
	up, low := unwrap(upper), unwrap(lower)
	value, ok := up.value.([]any)
	if !ok {
		return upper
	}
	if up.strategy != stReplace {
		old, _ := low.below().([]any)
		value = joinList(old, value, up.strategy)
	}
	dedup := low.dedup
	if up.dedup != nil {
		dedup = up.dedup
	}
	if dedup != nil && *dedup == n.dedup {
		dedup = nil
	}
	if n.dedup != (dedup != nil) {
		value = distinct(value)
	}
	return rewrap(value, up.discard, dedup)
}

func joinList(old, value []any, strategy string) []any {
	if strategy == stPrepend {
		old, value = value, old
	}
	out := make([]any, 0, len(old)+len(value))
	return append(append(out, old...), value...)
}

// distinct keeps the first of equal elements.
func distinct(list []any) []any {
	seen := make(map[string]bool, len(list))
	out := make([]any, 0, len(list))
	for _, e := range list {
		k := canonJSON(e)
		if !seen[k] {
			seen[k] = true
			out = append(out, e)
		}
	}
	return out
}

// unwrapLabels reads a labels table. A label may itself be called "value", so
// only a marked table is a wrapper.
func unwrapLabels(v any) wrapped {
	w := unwrap(v)
	if _, ok := w.value.(Tree); !ok || !w.marked {
		return wrapped{value: v}
	}
	return w
}

func mergeLabels(n *node, lower, upper any) any {
	up := unwrapLabels(upper)
	value, ok := up.value.(Tree)
	if !ok {
		return upper
	}
	old, _ := unwrapLabels(lower).below().(Tree)
	entries := &node{kind: kindMap, elem: n.elem}
	switch up.strategy {
	case stReplace:
		value = mergeTable(entries, nil, value, false)
	case stMerge:
		merged := maps.Clone(old)
		if merged == nil {
			merged = Tree{}
		}
		maps.Copy(merged, value)
		value = merged
	case stKeep:
		value = mergeTable(entries, value, old, false)
	default:
		value = mergeTable(entries, old, value, false)
	}
	return rewrap(value, up.discard, nil)
}

// unwrapJSON reads a wrapper in free JSON: nothing but the wrapper's own keys,
// and a strategy among them.
func unwrapJSON(v any) (wrapped, bool) {
	t, ok := v.(Tree)
	if !ok {
		return wrapped{}, false
	}
	for k := range t {
		switch k {
		case "value", "strategy", "separator", "dedup", "discard_when_merged":
		default:
			return wrapped{}, false
		}
	}
	w := unwrap(v)
	switch w.strategy {
	case stAppend, stPrepend, stReplace, stDeepMerge, stMerge, stKeep:
		_, has := t["value"]
		return w, has
	}
	return wrapped{}, false
}

func mergeJSON(lower, upper any) any {
	if w, ok := unwrapJSON(upper); ok {
		return mergeJSONBy(w, lower)
	}
	u, ok := upper.(Tree)
	if !ok {
		return upper
	}
	l, _ := lower.(Tree)
	return mergeTable(free(), l, u, false)
}

func mergeJSONBy(w wrapped, lower any) any {
	switch w.strategy {
	case stKeep:
		if lower != nil {
			return lower
		}
	case stMerge, stDeepMerge:
		v, ok := w.value.(Tree)
		l, lok := lower.(Tree)
		if ok && lok && w.strategy == stMerge {
			out := maps.Clone(l)
			maps.Copy(out, v)
			return out
		}
		if ok && lok {
			return mergeTable(free(), l, v, false)
		}
	case stAppend, stPrepend:
		switch v := w.value.(type) {
		case []any:
			old, _ := lower.([]any)
			return joinList(old, v, w.strategy)
		case string:
			old, _ := lower.(string)
			return joinText(old, v, w)
		}
	}
	return w.value
}
