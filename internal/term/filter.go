package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxLine bounds what Line returns when no width is asked for, in cells.
const maxLine = 1000

// Filter removes everything a terminal would obey from a text that arrives in
// pieces: escape sequences as a whole, their payloads included, in the 7-bit
// form and as C1 controls (also as single bytes), other control characters,
// and the bidi overrides. \n and \t stay, \r\n and a lone \r become \n (a lone
// one would let later text overwrite earlier text), broken UTF-8 becomes
// U+FFFD. All other text stays as it is.
//
// The result does not depend on where the pieces were cut. A sequence that is
// never ended reaches to the end of its line at most, so that one stray byte
// cannot swallow an answer. The zero value is ready; a Filter belongs to one
// stream and one goroutine.
type Filter struct {
	state filterState
	cut   []byte // the beginning of a rune whose end has not come yet
	rest  int    // continuation bytes of a broken rune still to be dropped
	cr    bool   // the last character was \r
}

type filterState byte

const (
	ground   filterState = iota
	escape               // after ESC
	escapeIn             // after ESC and intermediates, before the final byte
	csi                  // control sequence: parameters until a final byte
	osc                  // operating system command: until BEL or ST
	str                  // DCS, SOS, PM, APC: until ST
)

// Clean filters a whole text.
func Clean(s string) string {
	var f Filter
	return f.Write(s) + f.Flush()
}

// Line filters a text and makes one line of it, at most width cells long; a
// cut shows as "…". A width of 0 or less means a generous bound. It is for
// names, titles, paths and other people's sentences.
func Line(s string, width int) string {
	if width <= 0 {
		width = maxLine
	}
	if !quiet(s) {
		s = Clean(s)
	}
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s))
	return ansi.Truncate(s, width, "…")
}

// Write returns what of s may be shown, after what earlier calls held back.
func (f *Filter) Write(s string) string {
	if f.state == ground && len(f.cut) == 0 && f.rest == 0 && !f.cr && quiet(s) {
		return s
	}
	if len(f.cut) > 0 {
		s = string(f.cut) + s
		f.cut = f.cut[:0]
	}
	var out strings.Builder
	out.Grow(len(s))
	for i := 0; i < len(s); {
		if !utf8.FullRuneInString(s[i:]) {
			f.cut = append(f.cut, s[i:]...)
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			f.broken(&out, s[i])
		} else {
			f.rest = 0
			f.rune(&out, r)
		}
		i += size
	}
	return out.String()
}

// Flush ends the stream: what was held back is shown or dropped, and the
// Filter is ready for another one.
func (f *Filter) Flush() string {
	var out strings.Builder
	for _, b := range f.cut {
		f.broken(&out, b)
	}
	*f = Filter{cut: f.cut[:0]}
	return out.String()
}

// quiet tells whether s is ASCII without controls other than \n and \t.
func quiet(s string) bool {
	for i := range len(s) {
		if b := s[i]; b < 0x20 && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return true
}

// broken takes a byte that is no UTF-8. A beginning without its end is one
// U+FFFD; its continuation bytes must not be mistaken for C1 controls, which
// is what such bytes are when they stand alone.
func (f *Filter) broken(out *strings.Builder, b byte) {
	continuation := b&0xc0 == 0x80
	switch {
	case continuation && f.rest > 0:
		f.rest--
	case b >= 0x80 && b < 0xa0:
		f.rest = 0
		f.rune(out, rune(b))
	default:
		f.rest = 0
		switch {
		case b >= 0xf0 && b < 0xf8:
			f.rest = 3
		case b >= 0xe0 && b < 0xf0:
			f.rest = 2
		case b >= 0xc0 && b < 0xe0:
			f.rest = 1
		}
		f.rune(out, utf8.RuneError)
	}
}

func (f *Filter) rune(out *strings.Builder, r rune) {
	afterCR := f.cr
	f.cr = r == '\r'
	if r == '\n' && afterCR {
		return
	}
	if r == '\r' {
		r = '\n'
	}
	if f.control(r) {
		return
	}
	switch f.state {
	case ground:
		if visible(r) {
			out.WriteRune(r)
		}
		return
	case escape:
		f.introduce(out, r)
		return
	case escapeIn:
		if r >= 0x20 && r < 0x30 {
			return
		}
		if r >= 0x30 && r < 0x7f {
			f.state = ground
			return
		}
	case csi:
		if r >= 0x20 && r < 0x40 {
			return
		}
		if r >= 0x40 && r < 0x7f {
			f.state = ground
			return
		}
	case osc, str:
		if r == '\a' && f.state == osc {
			f.state = ground
		}
		if r != '\n' {
			return
		}
	}
	// The sequence is malformed: it ends here and r is text.
	f.state = ground
	if visible(r) {
		out.WriteRune(r)
	}
}

// control handles what starts, cancels or ends a sequence in every state.
func (f *Filter) control(r rune) bool {
	switch r {
	case 0x1b:
		f.state = escape
	case 0x18, 0x1a, 0x9c: // CAN, SUB, ST
		f.state = ground
	case 0x9b:
		f.state = csi
	case 0x9d:
		f.state = osc
	case 0x90, 0x98, 0x9e, 0x9f:
		f.state = str
	default:
		return false
	}
	return true
}

func (f *Filter) introduce(out *strings.Builder, r rune) {
	f.state = ground
	switch {
	case r == '[':
		f.state = csi
	case r == ']':
		f.state = osc
	case r == 'P' || r == 'X' || r == '^' || r == '_':
		f.state = str
	case r >= 0x20 && r < 0x30:
		f.state = escapeIn
	case r >= 0x30 && r < 0x7f:
	case visible(r):
		out.WriteRune(r)
	}
}

// visible tells whether r is text, a line break or a tab.
func visible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return false
	case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
		return false
	}
	return true
}
