package card

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"

	"jp/internal/lib/fault"
)

// blanks may stand around a card's JSON; some programs fill chunks up with NUL.
const blanks = " \t\r\n\x00"

// looksLikeText tells whether the first byte that counts begins a JSON value.
func looksLikeText(data []byte) bool {
	text := bytes.TrimLeft(utf8Of(data[:min(len(data), 1024)]), blanks)
	return len(text) > 0 && bytes.IndexByte([]byte(`{["`), text[0]) >= 0
}

// utf8Of removes a byte order mark and converts UTF-16, which it knows by its
// mark or by the zero byte beside a first ASCII character.
func utf8Of(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order, data = binary.LittleEndian, data[2:]
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order, data = binary.BigEndian, data[2:]
	case len(data) >= 4 && data[0] != 0 && data[1] == 0 && data[3] == 0:
		order = binary.LittleEndian
	case len(data) >= 4 && data[0] == 0 && data[1] != 0 && data[2] == 0:
		order = binary.BigEndian
	default:
		return data
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// decodeText reads a card from JSON in any encoding. open may be nil.
func decodeText(data []byte, r *report, open opener) (Parsed, error) {
	text := bytes.Trim(utf8Of(data), blanks)
	if valid := bytes.ToValidUTF8(text, []byte("\uFFFD")); len(valid) != len(text) || !bytes.Equal(valid, text) {
		r.note("bytes that are no UTF-8 were replaced by \uFFFD")
		text = valid
	}
	deepest, values := extentOf(text)
	if deepest > maxDepth {
		return Parsed{}, fault.New(fault.Invalid, "the card nests more than %d levels deep", maxDepth)
	}
	if values > maxValues { // each costs a hundred times its two bytes
		return Parsed{}, fault.New(fault.Invalid, "the card has more than %d values", maxValues)
	}
	if !json.Valid(text) {
		mended, notes := mend(text)
		if !json.Valid(mended) {
			return Parsed{}, fault.New(fault.Invalid, "the card is no valid JSON: %s", syntaxError(text))
		}
		text = mended
		for _, n := range notes {
			r.note("%s", n)
		}
	}
	return decodeJSON(text, r, open)
}

// syntaxError says where and why text is no JSON.
func syntaxError(text []byte) string {
	var into json.RawMessage
	err := json.Unmarshal(text, &into)
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(text[:min(int(bad.Offset), len(text))], []byte("\n"))
		return fmt.Sprintf("line %d: %v", line, bad)
	}
	return "it cannot be read"
}

// mend repairs what careless writers of JSON do: NaN and Infinity for numbers,
// bare control characters in strings, commas before a closing bracket. The
// result may still be invalid.
func mend(text []byte) (out []byte, notes []string) {
	var words, controls, commas int
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := skipString(text, i)
			var n int
			out, n = appendEscaped(out, text[i:end])
			controls += n
			i = end
			continue
		case c == 'N' || c == 'I' || c == '-':
			if n := len(notANumber(text[i:])); n > 0 {
				out, i = append(out, "null"...), i+n
				words++
				continue
			}
		case c == ',' && closes(text[i+1:]):
			commas++
			i++
			continue
		}
		out = append(out, text[i])
		i++
	}
	for _, n := range []struct {
		count int
		what  string
	}{
		{words, "NaN or Infinity, which no JSON number can be, was read as null (%d)"},
		{controls, "control characters that were not escaped were kept (%d)"},
		{commas, "commas too many were dropped (%d)"},
	} {
		if n.count > 0 {
			notes = append(notes, fmt.Sprintf(n.what, n.count))
		}
	}
	return out, notes
}

// notANumber is the word that text begins with and JSON does not have.
func notANumber(text []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "-NaN"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return word
		}
	}
	return ""
}

// closes tells whether a closing bracket comes next.
func closes(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == ']' || text[0] == '}')
}

// appendEscaped appends a string in quotes with its control characters escaped,
// and counts them.
func appendEscaped(out, s []byte) (_ []byte, controls int) {
	for _, c := range s {
		if c >= ' ' {
			out = append(out, c)
			continue
		}
		out = fmt.Appendf(out, `\u%04x`, c)
		controls++
	}
	return out, controls
}
