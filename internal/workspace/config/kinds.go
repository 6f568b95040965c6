package config

import (
	"slices"
	"strings"
	"time"

	"jp/internal/kernel/speaker"
)

// names lists the keys of n's tables.
func (n *node) names() []string {
	if t := n.table(); t != nil && t.kind == kindTable {
		if len(t.shape.names) > 0 {
			return t.shape.names
		}
		return keysOf(t.shape.fields)
	}
	return nil
}

func keysOf(fields map[string]*node) []string {
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// accepts tells whether a value that is no table of a known shape fits.
func (n *node) accepts(v any) bool {
	switch n.kind {
	case kindString:
		_, ok := v.(string)
		return ok
	case kindID:
		s, ok := v.(string)
		return ok && speaker.ValidID(s)
	case kindBool:
		_, ok := v.(bool)
		return ok
	case kindInt:
		_, ok := v.(int64)
		return ok
	case kindCount:
		i, ok := v.(int64)
		return ok && i >= 0
	case kindFloat:
		_, ok := float(v)
		return ok
	case kindEnum:
		s, ok := v.(string)
		return ok && slices.Contains(n.words, s)
	case kindDuration:
		return isDuration(v)
	case kindModel:
		switch v := v.(type) {
		case string:
			return v != ""
		case Tree:
			return true
		}
	case kindExtends:
		_, ok := v.([]any)
		return ok
	case kindJSON, kindAny:
		return true
	}
	return false
}

func isDuration(v any) bool {
	switch v := v.(type) {
	case string:
		_, err := time.ParseDuration(v)
		return err == nil
	case Tree:
		_, secs := v["secs"].(int64)
		return secs
	}
	return false
}

// describe names what n's values are, for people.
func (n *node) describe() string {
	switch n.kind {
	case kindString, kindText:
		return "a text"
	case kindID:
		return "a participant's name (a letter or _, then letters, digits, _ and -)"
	case kindBool:
		return "true or false"
	case kindInt:
		return "a whole number"
	case kindCount:
		return "a whole number from 0"
	case kindFloat:
		return "a number"
	case kindDuration:
		return "a duration like 3ms"
	case kindEnum:
		if len(n.words) == 1 {
			return n.words[0]
		}
		return "one of " + strings.Join(n.words, ", ")
	case kindModel:
		return "a model (alias, provider/name or {provider, name})"
	case kindList, kindPlain, kindExtends:
		return "a list"
	case kindUnion:
		parts := make([]string, len(n.alts))
		for i, a := range n.alts {
			parts[i] = a.describe()
		}
		return strings.Join(parts, ", or ")
	}
	return "a table"
}

func describe(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) <= 40 {
			return "the text " + canonJSON(v)
		}
		return "a text"
	case bool, int64, float64:
		return canonJSON(v)
	case []any:
		return "a list"
	}
	return "a table"
}
