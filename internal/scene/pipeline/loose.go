package pipeline

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"jp/internal/lib/literal"
)

// looseObject is a JSON object with its fields in the order they were written
// in, doubles included.
type looseObject []looseField

type looseField struct {
	name  string
	value any
}

// MarshalJSON writes the fields in their order.
func (o looseObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(literal.Must(f.name))
		b.WriteByte(':')
		b.Write(literal.Must(f.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// first returns the value of the first of names that the object has.
func (o looseObject) first(names ...string) (any, bool) {
	for _, name := range names {
		for _, f := range o {
			if f.name == name {
				return f.value, true
			}
		}
	}
	return nil, false
}

// How reading a value ended.
type ending int

const (
	complete ending = iota
	broken          // something stands there that belongs to no value
	cutOff          // the text ended first
)

// readLoose reads the one value that text is, in what models take for JSON:
// commas before a closing bracket, strings in single quotes or with line ends
// in them, names without quotes, Python's constants. Values are nil, bool,
// json.Number, string, []any and looseObject.
func readLoose(text string) (v any, ok bool) {
	r := looseReader{text: text}
	v, end := r.value(0)
	r.space()
	return v, end == complete && r.at == len(text)
}

// looseReader reads values from at on. Its time is linear in what it reads.
type looseReader struct {
	text string
	at   int
	// unclosed: no single quote from at on closes a string.
	unclosed bool
}

// mostDepth bounds how deep values lie in each other.
const mostDepth = 64

func (r *looseReader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next skips space and returns the byte that follows, 0 at the end.
func (r *looseReader) next() byte {
	r.space()
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// short is how what is missing at this place ends a value.
func (r *looseReader) short() ending {
	if r.at >= len(r.text) {
		return cutOff
	}
	return broken
}

func (r *looseReader) value(depth int) (any, ending) {
	if depth > mostDepth {
		return nil, broken
	}
	switch c := r.next(); c {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"', '\'':
		return r.quoted(c)
	default:
		return r.bare()
	}
}

func (r *looseReader) array(depth int) (any, ending) {
	r.at++
	list := []any{}
	for {
		if r.next() == ']' {
			r.at++
			return list, complete
		}
		v, end := r.value(depth + 1)
		if end != complete {
			return nil, end
		}
		list = append(list, v)
		if end := r.comma(']'); end != complete {
			return nil, end
		}
	}
}

func (r *looseReader) object(depth int) (any, ending) {
	r.at++
	fields := looseObject{}
	for {
		if r.next() == '}' {
			r.at++
			return fields, complete
		}
		name, end := r.name()
		if end != complete {
			return nil, end
		}
		if r.next() != ':' {
			return nil, r.short()
		}
		r.at++
		v, end := r.value(depth + 1)
		if end != complete {
			return nil, end
		}
		fields = append(fields, looseField{name, v})
		if end := r.comma('}'); end != complete {
			return nil, end
		}
	}
}

// comma goes over a comma, or to the closing bracket.
func (r *looseReader) comma(closing byte) ending {
	switch r.next() {
	case ',':
		r.at++
	case closing:
	default:
		return r.short()
	}
	return complete
}

// name reads a field's name.
func (r *looseReader) name() (string, ending) {
	if c := r.next(); c == '"' || c == '\'' {
		s, end := r.quoted(c)
		name, _ := s.(string)
		return name, end
	}
	word := r.word()
	if word == "" {
		return "", r.short()
	}
	return word, complete
}

// word reads letters, digits and what numbers and names have in them.
func (r *looseReader) word() string {
	start := r.at
	for r.at < len(r.text) {
		c := r.text[r.at]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_-+.", c) >= 0 {
			r.at++
			continue
		}
		break
	}
	return r.text[start:r.at]
}

// bare reads a number or a constant.
func (r *looseReader) bare() (any, ending) {
	start := r.at
	word := r.word()
	switch {
	case word == "null" || word == "None":
		return nil, complete
	case word == "true" || word == "True":
		return true, complete
	case word == "false" || word == "False":
		return false, complete
	case word != "" && json.Valid([]byte(word)):
		return json.Number(word), complete
	case r.at == len(r.text):
		return nil, cutOff
	}
	r.at = start
	return nil, broken
}

// quoted reads a string.
func (r *looseReader) quoted(quote byte) (any, ending) {
	if quote == '\'' && r.unclosed {
		return nil, broken
	}
	start := r.at
	var b strings.Builder
	for r.at++; r.at < len(r.text); {
		switch c := r.text[r.at]; {
		case c == quote && (quote == '"' || closesString(r.text[r.at+1:])):
			r.at++
			return string([]rune(b.String())), complete // valid UTF-8
		case c == '\\':
			r.escape(&b)
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	if quote == '\'' { // an apostrophe of a sentence
		r.at, r.unclosed = start, true
		return nil, broken
	}
	return nil, cutOff
}

// closesString tells whether rest may follow a single-quoted string, so that
// the quote before it is no apostrophe.
func closesString(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return rest == "" || strings.IndexByte(",:]}", rest[0]) >= 0
}

// escape reads what follows a backslash.
func (r *looseReader) escape(b *strings.Builder) {
	r.at++
	if r.at == len(r.text) {
		return
	}
	c := r.text[r.at]
	if c == 'u' {
		r.unicode(b)
		return
	}
	r.at++
	if i := strings.IndexByte("bfnrt", c); i >= 0 {
		c = "\b\f\n\r\t"[i]
	}
	b.WriteByte(c)
}

// unicode reads \uXXXX, and two of them that are one character.
func (r *looseReader) unicode(b *strings.Builder) {
	length := min(len(`uXXXX`), len(r.text)-r.at)
	if pair := len(`uXXXX\uXXXX`); strings.HasPrefix(r.text[r.at+length:], `\u`) && len(r.text)-r.at >= pair {
		length = pair
	}
	var s string
	if json.Unmarshal([]byte(`"\`+r.text[r.at:r.at+length]+`"`), &s) != nil {
		b.WriteRune(utf8.RuneError)
		r.at++
		return
	}
	if first, n := utf8.DecodeRuneInString(s); length > len(`uXXXX`) && n < len(s) { // two characters
		s, length = string(first), len(`uXXXX`)
	}
	b.WriteString(s)
	r.at += length
}
