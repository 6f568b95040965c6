package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tree is a partial or whole configuration. Its values are string, bool,
// int64, float64, []any, Tree (map[string]any) and nil, which clears what lies
// below. Trees are shared: nobody changes one that was handed out.
type Tree = map[string]any

// normalise brings what a decoder made to the values of a Tree. What it does
// not know (dates) becomes text.
func normalise(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int64:
		return v
	case float64:
		return normaliseFloat(v)
	case map[string]any:
		t := make(Tree, len(v))
		for k, e := range v {
			t[k] = normalise(e)
		}
		return t
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = normalise(e)
		}
		return l
	case json.Number:
		return number(v.String())
	case int:
		return int64(v)
	case uint64:
		if v > math.MaxInt64 {
			return float64(v)
		}
		return int64(v)
	case []string:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = e
		}
		return l
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(v)
}

// normaliseFloat makes whole numbers int64, as they come back from JSON, and
// texts of what JSON cannot store.
func normaliseFloat(f float64) any {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return strconv.FormatFloat(f, 'g', -1, 64)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return int64(f)
	}
	return f
}

// number reads a JSON number: whole ones as int64 when they fit.
func number(s string) any {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i
	}
	f, _ := strconv.ParseFloat(s, 64)
	return normaliseFloat(f)
}

// keys lists a table's keys in order.
func keys(t Tree) []string { return slices.Sorted(maps.Keys(t)) }

// at returns the value at a path of tables, nil when there is none.
func at(t Tree, path ...string) any {
	var v any = t
	for _, k := range path {
		m, ok := v.(Tree)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// table returns the table at a path, or an empty one.
func table(t Tree, path ...string) Tree {
	if m, ok := at(t, path...).(Tree); ok {
		return m
	}
	return Tree{}
}

// with returns t with v at path; tables on the way are copied, t is not changed.
func with(t Tree, v any, path ...string) Tree {
	c := maps.Clone(t)
	if c == nil {
		c = Tree{}
	}
	if len(path) == 1 {
		c[path[0]] = v
	} else {
		c[path[0]] = with(table(t, path[0]), v, path[1:]...)
	}
	return c
}

// without returns t without the key at path.
func without(t Tree, path ...string) Tree {
	if _, ok := t[path[0]]; !ok {
		return t
	}
	c := maps.Clone(t)
	if len(path) == 1 {
		delete(c, path[0])
	} else {
		c[path[0]] = without(table(t, path[0]), path[1:]...)
	}
	return c
}

// clean drops cleared keys.
func clean(v any) any {
	t, ok := v.(Tree)
	if !ok {
		return v
	}
	c := make(Tree, len(t))
	for k, e := range t {
		if e != nil {
			c[k] = clean(e)
		}
	}
	return c
}

// canonJSON is a text that two values share only when they are equal.
func canonJSON(v any) string {
	b, _ := json.Marshal(v) // trees always marshal, and with sorted keys
	return string(b)
}

// equal compares two values of trees.
func equal(a, b any) bool {
	switch a := a.(type) {
	case Tree:
		b, ok := b.(Tree)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	}
	return a == b
}

// JoinKey writes a path as a dotted key; segments that hold anything but
// letters, digits, _ and - are quoted.
func JoinKey(path []string) string {
	parts := make([]string, len(path))
	for i, s := range path {
		parts[i] = s
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !bareRune(r) }) {
			parts[i] = strconv.Quote(s)
		}
	}
	return strings.Join(parts, ".")
}

func bareRune(r rune) bool {
	return r == '_' || r == '-' || r == '*' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// SplitKey reads a dotted key with bare and quoted segments ("…" with
// backslash escapes, '…' literally). Errors: an empty segment, a quote that is
// not closed.
func SplitKey(key string) ([]string, error) {
	var path []string
	rest := key
	for {
		seg, after, err := cutSegment(rest)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
		path = append(path, seg)
		if after == "" {
			return path, nil
		}
		if after[0] != '.' {
			return nil, fmt.Errorf("key %q: a dot is missing after the quoted name", key)
		}
		rest = after[1:]
	}
}

func cutSegment(s string) (seg, rest string, err error) {
	s = strings.TrimLeft(s, " ")
	if s == "" {
		return "", "", fmt.Errorf("a name is missing")
	}
	switch s[0] {
	case '"':
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return "", "", fmt.Errorf("a quote is not closed")
		}
		seg, err := strconv.Unquote(q)
		return seg, strings.TrimLeft(s[len(q):], " "), err
	case '\'':
		end := strings.IndexByte(s[1:], '\'')
		if end < 0 {
			return "", "", fmt.Errorf("a quote is not closed")
		}
		return s[1 : 1+end], strings.TrimLeft(s[end+2:], " "), nil
	}
	end := strings.IndexByte(s, '.')
	if end < 0 {
		end = len(s)
	}
	if seg = strings.TrimRight(s[:end], " "); seg == "" {
		return "", "", fmt.Errorf("a name is missing")
	}
	return seg, s[end:], nil
}
