package config

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawTree draws a tree of n's shape: known keys mostly, cleared ones and
// wrappers now and then.
func drawTree(t *rapid.T, n *node, depth int) Tree {
	out := Tree{}
	names := n.names()
	count := rapid.IntRange(0, min(4, len(names))).Draw(t, "fields")
	for range count {
		name := rapid.SampledFrom(names).Draw(t, "field")
		if n == schema() && (name == "inherit" || name == "extends") {
			continue
		}
		c, _ := n.child(name)
		if v := drawValue(t, c, depth); v != nil {
			out[name] = v
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "extra") == 0 {
		out["unknown_key"] = drawJSON(t, 2)
	}
	return out
}

func drawValue(t *rapid.T, n *node, depth int) any {
	if depth <= 0 {
		return nil
	}
	if rapid.IntRange(0, 19).Draw(t, "cleared") == 0 {
		return nil
	}
	switch n.kind {
	case kindBool:
		return rapid.Bool().Draw(t, "bool")
	case kindInt, kindCount:
		return rapid.Int64Range(0, 3).Draw(t, "int")
	case kindFloat:
		return rapid.SampledFrom([]any{0.5, 0.25, int64(1)}).Draw(t, "float")
	case kindEnum:
		return rapid.SampledFrom(n.words).Draw(t, "word")
	case kindDuration:
		return rapid.SampledFrom([]string{"3ms", "1s"}).Draw(t, "duration")
	case kindID:
		return rapid.SampledFrom([]string{Reserved, "dev", "a"}).Draw(t, "id")
	case kindModel:
		return rapid.SampledFrom([]any{"opus", "ollama/a", Tree{"provider": "openai", "name": "b"}}).Draw(t, "model")
	case kindText:
		return drawText(t)
	case kindList, kindPlain:
		return drawList(t, n, depth)
	case kindMap, kindLabels:
		return drawMap(t, n, depth)
	case kindTable:
		return drawTree(t, n, depth-1)
	case kindUnion:
		return drawValue(t, rapid.SampledFrom(n.alts).Draw(t, "alternative"), depth)
	case kindJSON, kindAny:
		return drawJSON(t, 3)
	}
	return rapid.SampledFrom([]string{"", "a", "b", "value", "long text"}).Draw(t, "string")
}

func drawText(t *rapid.T) any {
	s := rapid.SampledFrom([]string{"", "a", "b\n", "c"}).Draw(t, "text")
	if rapid.Bool().Draw(t, "plain") {
		return s
	}
	w := Tree{"value": s}
	drawKey(t, w, "strategy", "append", "prepend", "replace")
	drawKey(t, w, "separator", "none", "space", "line", "paragraph")
	drawKey(t, w, "discard_when_merged", true, false)
	return w
}

func drawKey(t *rapid.T, w Tree, key string, values ...any) {
	if rapid.Bool().Draw(t, key) {
		w[key] = rapid.SampledFrom(values).Draw(t, key)
	}
}

func drawList(t *rapid.T, n *node, depth int) any {
	list := []any{}
	for range rapid.IntRange(0, 4).Draw(t, "length") {
		if e := drawValue(t, n.elem, depth-1); e != nil {
			list = append(list, e)
		}
	}
	if n.kind == kindPlain || rapid.Bool().Draw(t, "plain") {
		return list
	}
	w := Tree{"value": list}
	drawKey(t, w, "strategy", "append", "prepend", "replace")
	drawKey(t, w, "dedup", true, false, "inherit")
	drawKey(t, w, "discard_when_merged", true, false)
	return w
}

func drawMap(t *rapid.T, n *node, depth int) any {
	out := Tree{}
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		key := rapid.SampledFrom([]string{"a", "b", "a.b", "dev", "value", "*"}).Draw(t, "key")
		if v := drawValue(t, n.elem, depth-1); v != nil {
			out[key] = v
		}
	}
	if n.kind == kindMap || rapid.Bool().Draw(t, "plain") {
		return out
	}
	w := Tree{"value": out, "strategy": "deep_merge"}
	drawKey(t, w, "strategy", "deep_merge", "merge", "keep", "replace")
	drawKey(t, w, "discard_when_merged", true, false)
	return w
}

func drawJSON(t *rapid.T, depth int) any {
	switch k := rapid.IntRange(0, 6).Draw(t, "json"); {
	case k == 0:
		return rapid.Bool().Draw(t, "bool")
	case k == 1:
		return rapid.Int64Range(0, 3).Draw(t, "int")
	case k == 2 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawJSON(t, depth-1))
		}
		return list
	case k <= 4 && depth > 0:
		out := Tree{}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			key := rapid.SampledFrom([]string{"a", "b", "value", "strategy"}).Draw(t, "key")
			out[key] = drawJSON(t, depth-1)
		}
		return out
	}
	return rapid.SampledFrom([]string{"x", "y", "append", "replace", "keep"}).Draw(t, "text")
}

func drawRoot(t *rapid.T, name string) Tree {
	tree := drawTree(t, schema(), 5)
	t.Logf("%s: %s", name, canonJSON(tree))
	return tree
}

// bare is what a merged tree says: without cleared keys and empty tables.
func bare(n *node, t Tree) Tree {
	out := Tree{}
	for k, v := range t {
		c, _ := n.child(k)
		if v == nil || n.kind == kindTable && blank(c, v) {
			continue
		}
		if sub, ok := v.(Tree); ok {
			if s := c.table(); c.kind == kindMap || s != nil && s.kind == kindTable {
				if s == nil {
					s = c
				}
				v = bare(s, sub)
			}
		}
		out[k] = clean(v)
	}
	return out
}

func merged(layers ...Tree) Tree {
	t := Tree{}
	for _, l := range layers {
		t = Merge(t, l)
	}
	return bare(schema(), t)
}

func TestMergeOfDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := merged(drawRoot(t, "from")), merged(drawRoot(t, "to"))
		d := Diff(from, to)
		if d == nil {
			d = Tree{}
		}
		t.Logf("diff: %s", canonJSON(d))
		if diff := cmp.Diff(to, merged(from, d)); diff != "" {
			t.Fatalf("Merge(from, Diff(from, to)) is not to (-want +got):\n%s", diff)
		}
		if d := Diff(to, merged(from, d)); d != nil {
			t.Fatalf("a difference is left: %s", canonJSON(d))
		}
	})
}

// undedup takes out the choice of dedup, which does not outlive Finalize.
func undedup(t Tree) Tree {
	return rewrite(schema(), t, func(n *node, v any) any {
		list, ok := unwrap(v).value.([]any)
		if n.kind != kindList || !ok {
			return v
		}
		if n.dedup {
			list = distinct(list)
		}
		return rewrap(list, unwrap(v).discard, nil)
	}).(Tree)
}

func TestDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream, now := undedup(merged(drawRoot(t, "stream"))), undedup(merged(drawRoot(t, "now")))
		if rapid.Bool().Draw(t, "grown") {
			now = Merge(stream, now)
		}
		now, err := Finalize(now)
		if err != nil {
			t.Skip(err)
		}
		d, err := Delta(stream, now)
		if err != nil {
			t.Skip(err)
		}
		t.Logf("delta: %s", canonJSON(d))
		then, err := Finalize(Merge(stream, d))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(bare(schema(), now), bare(schema(), then)); diff != "" {
			t.Fatalf("the stream is not now (-want +got):\n%s", diff)
		}
		if d, err := Delta(Merge(stream, d), now); d != nil || err != nil {
			t.Fatalf("a difference is left: %s, %v", canonJSON(d), err)
		}
	})
}

func TestMergeChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawRoot(t, "a"), drawRoot(t, "b"), drawRoot(t, "c")
		before := fmt.Sprint(canonJSON(a), canonJSON(b), canonJSON(c))
		s := &Stack{layers: []Layer{{Tree: a}, {Tree: b}, {Tree: c}}}
		if diff := cmp.Diff(Merge(Merge(Merge(nil, a), b), c), s.Merged()); diff != "" {
			t.Fatalf("a stack merges otherwise than Merge (-Merge +stack):\n%s", diff)
		}
		Diff(a, b)
		Overlay(a, b)
		if f, err := Finalize(a); err == nil {
			Snapshot(f)
		}
		if after := fmt.Sprint(canonJSON(a), canonJSON(b), canonJSON(c)); before != after {
			t.Fatalf("an input changed:\n%s\n%s", before, after)
		}
	})
}

func TestSnapshotReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := Finalize(merged(drawRoot(t, "tree")))
		if err != nil {
			t.Skip(err)
		}
		again, err := Finalize(f)
		if err != nil || !equal(f, again) {
			t.Fatalf("Finalize is not idempotent: %v\n%s", err, cmp.Diff(f, again))
		}
		data, err := json.Marshal(Snapshot(f))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		back, err := Finalize(Stored(m))
		if err != nil {
			t.Fatal(err)
		}
		f = WithRoster(f, Roster(f)) // stored even when it is the implicit one
		if at(f, Reserved, "model", "id") == nil {
			back = without(back, Reserved, "model", "id") // lent for other readers
		}
		if diff := cmp.Diff(bare(schema(), f), bare(schema(), back)); diff != "" {
			t.Fatalf("the snapshot reads back otherwise (-want +got):\n%s", diff)
		}
	})
}

func TestOverlay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low, high := merged(drawRoot(t, "low")), merged(drawRoot(t, "high"))
		over := Overlay(low, high)
		if diff := cmp.Diff(bare(schema(), over), bare(schema(), Overlay(low, over))); diff != "" {
			t.Fatalf("a second overlay changes something:\n%s", diff)
		}
		if !equal(table(over, "assistants"), table(high, "assistants")) {
			t.Fatal("captures came from below")
		}
		for _, key := range leaves(schema(), nil, high) {
			path, err := SplitKey(key)
			if err != nil {
				t.Fatal(err)
			}
			want, got := at(high, path...), at(over, path...)
			if _, ok := want.(Tree); ok {
				continue // an empty map, or one of two forms that may merge
			}
			if !equal(want, got) {
				t.Fatalf("%s is %v, not %v", key, got, want)
			}
		}
	})
}
