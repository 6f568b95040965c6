package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes values as JSON, one to a line, or indented. Characters that a
// terminal might obey are escaped, so that the bytes of a text survive and a
// terminal stays unharmed; <, > and & are left as they are.
type JSON struct {
	w      io.Writer
	pretty bool
}

// NewJSON returns a JSON writer.
func NewJSON(w io.Writer, pretty bool) *JSON { return &JSON{w, pretty} }

// Write writes one value in one call of the writer. Errors: what encoding/json
// cannot encode, and those of the writer.
func (j *JSON) Write(v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if j.pretty {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(j.w, escape16(buf.String()))
	return err
}

// escape16 writes what is not visible, which JSON allows in strings only, as \u….
func escape16(s string) string {
	var out bytes.Buffer
	for _, r := range s {
		if visible(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
