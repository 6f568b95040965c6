package term

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// fold returns text after before, which is painted already. Where a person
// reads it at a known width it breaks between words, and rest stands before
// the lines that follow; elsewhere it is one line, so that it can be searched
// for. Words stay whole: what is wider than a line is often a path that one wants
// to copy. The text has passed Line.
func (s Stream) fold(before, rest, sgr, text string) string {
	fits := ansi.StringWidth(before)+ansi.StringWidth(text) <= s.Width
	if !s.Pretty || fits || s.Width < ansi.StringWidth(rest)+minText {
		return strings.TrimRight(before+s.paint(sgr, text), " ") + "\n"
	}
	var out bytes.Buffer
	f := newFlow(s, &out, (*lead)(nil).in(before, rest), s.Width)
	f.text(text, sgr)
	f.end()
	return out.String()
}

// sentence is a sentence of ours to a person: "note: …".
func (s Stream) sentence(mark, sgr, text string) string {
	return s.fold(s.paint(sgr, mark)+" ", "  ", "", Line(text, 0))
}
