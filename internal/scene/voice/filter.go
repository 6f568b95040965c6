// Package voice lets a reply through as it streams, in the speaker's own voice.
//
// The speaker's own label goes off the start, as often as it stands there, and
// so does white space before the text. With Cut the reply ends before a line
// that begins with somebody else's label; what follows is no longer shown. Such
// a label is text where the reply would be empty without it: it is flagged
// then. Labels in code, in quoted speech and in quoted blocks are text.
//
// Only what may still turn out to be a label is held back: never more than the
// longest name and 32 characters. How a text is cut into pieces changes nothing.
package voice

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/internal/scene"
	"jp/internal/scene/prose"
)

// Options say whose reply it is.
type Options struct {
	Own    string   // the speaker's display name; "" has no label
	Others []string // names of members and of the user; one like Own is left out
	Cut    bool     // whether the reply ends where it goes on as one of Others
}

// Filter passes one reply. It is for one goroutine.
type Filter struct {
	own    *name
	others []name // longest first
	cuts   bool

	held    string          // came in, is not shown yet
	shown   strings.Builder // all that was shown
	line    []byte          // the shown part of the current line
	place   place
	lead    bool // still before the first text
	labels  bool // the speaker's own label was there
	solid   bool // something was shown besides white space and a flagged label
	atStart bool // held begins a line
	flagged string
	cut     *scene.Cut
}

// New returns a filter for one reply.
func New(o Options) *Filter {
	f := &Filter{cuts: o.Cut, lead: true, atStart: true}
	if own := newName(o.Own); own.text != "" {
		f.own = &own
	}
	for _, other := range o.Others {
		n := newName(other)
		if n.text != "" && (f.own == nil || !strings.EqualFold(n.text, f.own.text)) {
			f.others = append(f.others, n)
		}
	}
	slices.SortStableFunc(f.others, func(a, b name) int { return len(b.runes) - len(a.runes) })
	return f
}

// Strip returns a whole text without name's label and white space before it.
func Strip(text, name string) string {
	f := New(Options{Own: name})
	return f.Write(text) + f.Flush()
}

// Write takes the next piece and returns what can be shown.
func (f *Filter) Write(delta string) string { return f.take(delta, false) }

// Flush ends the text and returns what was held back.
func (f *Filter) Flush() string { return f.take("", true) }

// Cut tells that the reply went on as somebody else, nil while it did not. Its
// Label is the name as it stands in Others. The provider can be stopped; what
// is still written counts as removed.
func (f *Filter) Cut() *scene.Cut { return f.cut }

// Flagged is the name, as it stands in Others, whose label begins the reply.
func (f *Filter) Flagged() string { return f.flagged }

// Text is all that was shown, after a cut without the white space at its end.
func (f *Filter) Text() string {
	if f.cut != nil {
		return strings.TrimRightFunc(f.shown.String(), unicode.IsSpace)
	}
	return f.shown.String()
}

func (f *Filter) take(delta string, final bool) string {
	if f.cut != nil {
		f.cut.Removed += delta
		return ""
	}
	f.held += delta
	before := f.shown.Len()
	for f.step(final) {
	}
	return f.shown.String()[before:]
}

// step decides about the start of held; false when there is nothing to decide
// yet.
func (f *Filter) step(final bool) bool {
	switch {
	case f.cut != nil || f.held == "":
		return false
	case f.lead:
		return f.open(final)
	case f.atStart:
		return f.begin(final)
	}
	end := strings.IndexByte(f.held, '\n') + 1
	if end == 0 {
		end = whole(f.held, final)
		f.show(end)
		return false
	}
	f.show(end)
	f.place.pass(f.line)
	f.line, f.atStart = f.line[:0], true
	return true
}

// open takes white space and the speaker's own labels off the very start.
func (f *Filter) open(final bool) bool {
	f.held = strings.TrimLeft(f.held, " \t\r\n\u00a0\ufeff")
	if f.labels { // else an ideographic space may be an indent
		f.held = strings.TrimLeftFunc(f.held, unicode.IsSpace)
	}
	if f.held == "" || whole(f.held, final) == 0 {
		return false
	}
	if f.own != nil {
		switch n, answer := f.own.label(f.held, final); answer {
		case maybe:
			return false
		case yes:
			f.held, f.labels = f.held[n:], true
			return true
		}
	}
	f.lead = false
	return true
}

// begin decides whether a line begins with somebody else's label.
func (f *Filter) begin(final bool) bool {
	if f.solid && (!f.cuts || f.place.sheltered()) {
		f.atStart = false
		return true
	}
	for _, other := range f.others {
		n, answer := other.label(f.held, final)
		switch {
		case answer == maybe:
			return false
		case answer == no:
		case f.solid:
			f.cut = &scene.Cut{Label: other.text, Removed: f.held}
			f.held = ""
			return true
		default:
			if f.flagged == "" {
				f.flagged = other.text
			}
			f.show(n)
			f.solid, f.atStart = false, false
			return true
		}
	}
	f.atStart = false
	return true
}

// show passes the first n bytes of held on.
func (f *Filter) show(n int) {
	piece := f.held[:n]
	f.held = f.held[n:]
	f.shown.WriteString(piece)
	f.line = append(f.line, piece...)
	f.solid = f.solid || strings.TrimSpace(piece) != ""
}

// whole is how many bytes of s are whole characters; at the end all are.
func whole(s string, final bool) int {
	if final {
		return len(s)
	}
	for i := max(0, len(s)-utf8.UTFMax+1); i < len(s); i++ {
		if utf8.RuneStart(s[i]) && !utf8.FullRuneInString(s[i:]) {
			return i
		}
	}
	return len(s)
}

// place tells what the lines that are over leave open: a fence, or within the
// paragraph a code span or quoted speech.
type place struct {
	fence prose.Fence
	ticks int    // of the open code span
	quote string // what closes the quoted speech
}

func (p *place) sheltered() bool { return p.fence != "" || p.ticks > 0 || p.quote != "" }

// pass goes over a whole line.
func (p *place) pass(line []byte) {
	fence, code := p.fence.Next(string(line))
	switch {
	case code && p.fence != "":
		p.fence = fence
	case code || len(bytes.TrimSpace(line)) == 0:
		*p = place{fence: fence}
	default:
		p.inline(line)
	}
}

// inline goes over code spans and quoted speech. A span that opens here and
// never closes shelters the rest of its paragraph: whether it closes is not
// known in time.
func (p *place) inline(line []byte) {
	escaped := false
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == '`' && !escaped {
			for size = 1; i+size < len(line) && line[i+size] == '`'; size++ {
			}
			switch p.ticks {
			case 0:
				p.ticks = size
			case size:
				p.ticks = 0
			}
		} else if p.ticks == 0 {
			p.speech(r)
		}
		escaped = r == '\\' && !escaped && p.ticks == 0
		i += size
	}
}

func (p *place) speech(r rune) {
	if p.quote == "" {
		p.quote = prose.Closing(r)
	} else if strings.ContainsRune(p.quote, r) {
		p.quote = ""
	}
}
