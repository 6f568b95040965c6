// Package literal writes values as JSON on one line, without escaping <, >
// and &, which encoding/json does for pages: what goes into files and to models
// is to be read as it was written.
package literal

import (
	"bytes"
	"encoding/json"
)

// JSON is a value as encoding/json writes it but for those escapes. Errors:
// those of encoding/json.
func JSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Must is JSON for values that always have one: strings, numbers, and lists,
// maps and structs of them and of JSON that was parsed. It panics for others.
func Must(v any) json.RawMessage {
	raw, err := JSON(v)
	if err != nil {
		panic("literal: " + err.Error())
	}
	return raw
}
