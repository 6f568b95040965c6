package term

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Details are the properties of one thing.
type Details struct {
	Title string // may be empty
	Rows  []Detail
}

// Detail is a property with one value or a list of them.
type Detail struct {
	Label  string
	Values []string
}

// Draw writes the details: right-aligned labels and their values, which wrap
// beside them, on a Pretty stream, a Markdown table elsewhere. Labels that
// would leave the values too little room stand above them. Errors: those of
// the stream.
func (d Details) Draw(s Stream) error {
	title := Line(d.Title, 0)
	if !s.Pretty {
		if title != "" {
			if _, err := io.WriteString(s, title+"\n\n"); err != nil {
				return err
			}
		}
		t := Table{Header: []string{"Field", "Value"}}
		d.each(func(label, value string) { t.Rows = append(t.Rows, []string{label, value}) })
		return t.Draw(s)
	}
	var out strings.Builder
	if title != "" {
		out.WriteString(s.fold("", "", bold, title) + "\n")
	}
	column := d.column(s.Width)
	margin, rest := "  ", strings.Repeat(" ", column+4)
	if column == 0 {
		margin, rest = "", "  "
	}
	d.each(func(label, value string) {
		before := rest
		if n := ansi.StringWidth(label); n > column {
			out.WriteString(s.fold(margin, margin+"  ", bold, label))
			if value == "" {
				return
			}
		} else if n > 0 {
			before = margin + strings.Repeat(" ", column-n) + s.paint(bold, label) + "  "
		}
		out.WriteString(s.fold(before, rest, "", value))
	})
	_, err := io.WriteString(s, out.String())
	return err
}

// column is the width of the labels that stand beside their values on a
// terminal of so many cells, 0 when none does.
func (d Details) column(terminal int) int {
	most := maxLine
	switch {
	case terminal <= 0:
	case terminal < 40:
		return 0
	default:
		most = max(terminal/3, terminal-2*comfort-4)
	}
	n := 0
	for _, r := range d.Rows {
		if label := ansi.StringWidth(Line(r.Label, 0)); label <= most {
			n = max(n, label)
		}
	}
	return n
}

// each calls f for every line: a label stands before its first value only.
func (d Details) each(f func(label, value string)) {
	for _, r := range d.Rows {
		label := Line(r.Label, 0)
		if len(r.Values) == 0 {
			f(label, "")
		}
		for _, v := range r.Values {
			f(label, Line(v, 0))
			label = ""
		}
	}
}
