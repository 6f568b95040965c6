package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"unicode/utf8"
)

// The scanner finds where values begin and end and checks that they are JSON,
// in one pass and without decoding them: an event that nobody looks at is
// neither decoded nor encoded.

// maxDepth is what encoding/json, which decodes later, accepts too.
const maxDepth = 10000

// errSyntax is a syntax error at a place.
type errSyntax struct {
	offset int
	reason string
}

func (e *errSyntax) Error() string { return fmt.Sprintf("%s at byte %d", e.reason, e.offset) }

type scanner struct {
	data []byte
	pos  int
}

func (s *scanner) fail(reason string) error {
	if s.pos >= len(s.data) {
		reason = "unexpected end of file"
	}
	return &errSyntax{min(s.pos, len(s.data)), reason}
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\n', '\t', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte after white space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) expect(c byte, reason string) error {
	if s.peek() != c {
		return s.fail(reason)
	}
	s.pos++
	return nil
}

// value skips one value and returns its bytes.
func (s *scanner) value(depth int) ([]byte, error) {
	c := s.peek()
	start := s.pos
	var err error
	switch {
	case depth > maxDepth:
		err = s.fail("nested too deeply")
	case c == '"':
		err = s.str()
	case c == '{':
		err = s.object(depth, nil)
	case c == '[':
		err = s.array(depth, nil)
	case c == '-' || '0' <= c && c <= '9':
		err = s.number()
	default:
		err = s.word()
	}
	return s.data[start:s.pos], err
}

func (s *scanner) word() error {
	for _, w := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
			s.pos += len(w)
			return nil
		}
	}
	return s.fail("a value is missing")
}

func (s *scanner) str() error {
	for i := s.pos + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c == '\\':
			n := escape(s.data[i+1:])
			if n == 0 {
				s.pos = i
				return s.fail("bad escape in a string")
			}
			i += n
		case c < ' ':
			s.pos = i
			return s.fail("line break or control character in a string")
		}
	}
	s.pos = len(s.data)
	return s.fail("")
}

// escape returns the length of an escape behind its backslash, 0 if it is none.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	if bytes.IndexByte([]byte(`"\/bfnrt`), b[0]) >= 0 {
		return 1
	}
	if b[0] != 'u' || len(b) < 5 {
		return 0
	}
	for _, c := range b[1:5] {
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
			return 0
		}
	}
	return 5
}

func (s *scanner) digits() int {
	n := 0
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
		n++
	}
	return n
}

func (s *scanner) at(set string) bool {
	return s.pos < len(s.data) && bytes.IndexByte([]byte(set), s.data[s.pos]) >= 0
}

func (s *scanner) number() error {
	if s.at("-") {
		s.pos++
	}
	if s.at("0") {
		s.pos++
	} else if s.digits() == 0 {
		return s.fail("bad number")
	}
	if s.at(".") {
		s.pos++
		if s.digits() == 0 {
			return s.fail("bad number")
		}
	}
	if s.at("eE") {
		s.pos++
		if s.at("+-") {
			s.pos++
		}
		if s.digits() == 0 {
			return s.fail("bad number")
		}
	}
	return nil
}

// object skips an object and calls member, if there is one, for each of its
// members.
func (s *scanner) object(depth int, member func(key, value []byte) error) error {
	s.pos++
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.fail("a key in quotes is missing")
		}
		start := s.pos
		if err := s.str(); err != nil {
			return err
		}
		key := s.data[start:s.pos]
		if err := s.expect(':', "a colon is missing"); err != nil {
			return err
		}
		value, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		if member != nil {
			if err := member(key, value); err != nil {
				return err
			}
		}
		if s.peek() == '}' {
			s.pos++
			return nil
		}
		if err := s.expect(',', "a comma or a closing brace is missing"); err != nil {
			return err
		}
	}
}

// array skips an array; element, if there is one, is called before each of its
// elements and must skip it.
func (s *scanner) array(depth int, element func() error) error {
	s.pos++
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.space()
		var err error
		if element != nil {
			err = element()
		} else {
			_, err = s.value(depth + 1)
		}
		if err != nil {
			return err
		}
		if s.peek() == ']' {
			s.pos++
			return nil
		}
		if err := s.expect(',', "a comma or a closing bracket is missing"); err != nil {
			return err
		}
	}
}

// end makes sure that nothing follows.
func (s *scanner) end() error {
	if s.space(); s.pos < len(s.data) {
		return s.fail("something follows after the end")
	}
	return nil
}

// checkUTF8 finds the first byte that is not UTF-8.
func checkUTF8(data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return &errSyntax{i, "not UTF-8"}
		}
		i += n
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// checkObject makes sure that data is one JSON object and nothing else.
func checkObject(path string, data []byte) error {
	data = bytes.TrimPrefix(data, byteOrderMark)
	err := checkUTF8(data)
	if err == nil {
		s := &scanner{data: data}
		if s.peek() != '{' {
			err = s.fail("an object is expected")
		} else if err = s.object(0, nil); err == nil {
			err = s.end()
		}
	}
	return placed(path, data, err)
}

// placed turns a syntax error in data into a *Damage.
func placed(path string, data []byte, err error) error {
	if syn, ok := errors.AsType[*errSyntax](err); ok {
		return damageAt(path, data, syn.offset, syn.reason)
	}
	return err
}

// members yields the members of an object that was scanned before.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		stop := errors.New("stop")
		s := &scanner{data: object}
		if s.peek() != '{' {
			return
		}
		_ = s.object(0, func(key, value []byte) error {
			if !yield(key, value) {
				return stop
			}
			return nil
		})
	}
}

// unquote decodes a JSON string; ok is false when raw is another value.
func unquote(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// keyIs compares a raw key with a plain ASCII name.
func keyIs(raw []byte, name string) bool {
	if len(raw) == len(name)+2 && string(raw[1:len(raw)-1]) == name {
		return true
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return false
	}
	s, ok := unquote(raw)
	return ok && s == name
}

// quote encodes a string without the escapes that only HTML needs.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimRight(b.Bytes(), "\n")
}

// mapStrings returns raw with every string value, at any depth, replaced; keys
// and everything else stay byte for byte.
func mapStrings(raw []byte, f func(string) string) []byte {
	var out []byte
	s := &scanner{data: raw}
	done := 0
	for s.pos < len(raw) {
		if raw[s.pos] != '"' {
			s.pos++
			continue
		}
		start := s.pos
		if s.str() != nil {
			break
		}
		end := s.pos
		if s.peek() == ':' {
			continue
		}
		if text, ok := unquote(raw[start:end]); ok {
			out = append(out, raw[done:start]...)
			out = append(out, quote(f(text))...)
			done = end
		}
	}
	return append(out, raw[done:]...)
}
