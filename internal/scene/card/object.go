package card

import (
	"encoding/json"

	"jp/internal/lib/literal"
)

// object is a JSON object that keeps the order of its fields and the spelling
// of their values, which encoding/json would not. The functions of this file
// expect valid JSON.
type object struct {
	keys   []string
	values map[string]json.RawMessage
}

// parseObject splits an object into its fields. ok is false for anything else.
// Of a key that is there more than once the last value counts.
func parseObject(raw json.RawMessage) (o object, twice []string, ok bool) {
	if kindOf(raw) != '{' {
		return object{}, nil, false
	}
	for i := next(raw, 1); raw[i] != '}'; {
		end := skip(raw, i)
		key := unquote(raw[i:end])
		i = next(raw, next(raw, end)+1) // behind the colon
		end = skip(raw, i)
		if o.has(key) {
			twice = append(twice, key)
		}
		o.set(key, raw[i:end])
		if i = next(raw, end); raw[i] == ',' {
			i = next(raw, i+1)
		}
	}
	return o, twice, true
}

// parseList splits a list into its items. ok is false for anything else.
func parseList(raw json.RawMessage) (items []json.RawMessage, ok bool) {
	if kindOf(raw) != '[' {
		return nil, false
	}
	for i := next(raw, 1); raw[i] != ']'; {
		end := skip(raw, i)
		items = append(items, raw[i:end])
		if i = next(raw, end); raw[i] == ',' {
			i = next(raw, i+1)
		}
	}
	return items, true
}

// has tells whether there is a field, null or not.
func (o object) has(key string) bool { _, ok := o.values[key]; return ok }

// get returns a field, nil when it is absent or null.
func (o object) get(key string) json.RawMessage {
	if raw := o.values[key]; kindOf(raw) != 'n' {
		return raw
	}
	return nil
}

func (o *object) set(key string, raw json.RawMessage) {
	if o.values == nil {
		o.values = map[string]json.RawMessage{}
	}
	if !o.has(key) {
		o.keys = append(o.keys, key)
	}
	o.values[key] = raw
}

func (o *object) remove(key string) {
	if !o.has(key) {
		return
	}
	delete(o.values, key)
	kept := o.keys[:0:0]
	for _, k := range o.keys {
		if k != key {
			kept = append(kept, k)
		}
	}
	o.keys = kept
}

// merge sets every field of other.
func (o *object) merge(other object) {
	for _, key := range other.keys {
		o.set(key, other.values[key])
	}
}

func (o object) encode() json.RawMessage {
	b := []byte{'{'}
	for i, key := range o.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, literal.Must(key)...), ':')
		b = append(b, o.values[key]...)
	}
	return append(b, '}')
}

// kindOf is the first byte of a value: { [ " t f n, '0' for numbers, 0 for no
// value.
func kindOf(raw json.RawMessage) byte {
	switch {
	case len(raw) == 0:
		return 0
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return '0'
	}
	return raw[0]
}

// next is where the next byte that is no white space stands.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// skip is where the value that begins at i ends.
func skip(b []byte, i int) int {
	if b[i] == '"' {
		return skipString(b, i)
	}
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // a number or word that ended with what holds it
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// skipString is where the string that begins at i ends, or the end of b.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// extentOf is how deeply lists and objects nest and how many values there are
// at most. It reads invalid JSON, too.
func extentOf(b []byte) (deepest, values int) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			depth++
			values++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		case ',':
			values++
		}
	}
	return deepest, values
}

func quoteList(items []string) json.RawMessage {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, literal.Must(item)...)
	}
	return append(b, ']')
}

// unquote reads a JSON string; halves of surrogate pairs become U+FFFD.
func unquote(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s) // a valid string always decodes
	return s
}
