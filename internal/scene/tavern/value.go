package tavern

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"jp/internal/lib/literal"
)

// fields is a JSON object with its values as they were written.
type fields = map[string]json.RawMessage

// trim takes off a byte order mark and white space.
func trim(raw []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
}

// text reads a string, or a number as one; "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	// What is no number either is no text.
	_ = json.Unmarshal(raw, &n)
	return n.String()
}

// flag reads a truth value, also one in a string or a number.
func flag(raw json.RawMessage) bool {
	var b bool
	if json.Unmarshal(raw, &b) == nil {
		return b
	}
	s := strings.ToLower(text(raw))
	return s == "true" || s == "1"
}

// number reads a whole number, also one in a string; false when there is none.
func number(raw json.RawMessage) (int, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text(raw)), 64)
	n := int32(f)
	return int(n), err == nil && float64(n) == f
}

// object reads an object, nil when there is none.
func object(raw json.RawMessage) fields {
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

// list reads a list; nil when there is none.
func list(raw json.RawMessage) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil {
		return nil
	}
	return l
}

// texts reads a list of strings, of which one that is no string is empty.
func texts(raw json.RawMessage) []string {
	var out []string
	for _, item := range list(raw) {
		out = append(out, text(item))
	}
	return out
}

// without are the fields whose values are not those of ours; nil for none.
func without(f, ours fields) fields {
	out := fields{}
	for name, raw := range f {
		var b bytes.Buffer
		// A value that was parsed compacts.
		_ = json.Compact(&b, raw)
		if !bytes.Equal(literal.Must(json.RawMessage(b.Bytes())), ours[name]) {
			out[name] = raw
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
