package term

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	east "github.com/yuin/goldmark/extension/ast"
)

// Table is a list for people: a rounded box as wide as the terminal at most
// on a Pretty stream, a Markdown table elsewhere. Cells are filtered and take
// one line.
//
// The first column says what a row is about and is never cut. On a narrow
// terminal the columns in Drop are left out one after another while others
// have too little room; those are shortened. Where even that is not enough
// for a box, each row is its first cell and, below it, the others.
type Table struct {
	Header []string
	Right  []bool // columns that are aligned to the right
	Drop   []int  // columns that may be left out, never shortened; the first to go first
	Rows   [][]string
	// Repeat writes the header again below the rows of a box (when it has
	// more rows than fit a screen).
	Repeat bool
}

// Draw writes the table. Errors: those of the stream.
func (t Table) Draw(s Stream) error {
	cells := func(row []string) []string {
		out := make([]string, len(t.Header))
		for i := range out {
			if i < len(row) {
				out[i] = Line(row[i], 0)
			}
		}
		return out
	}
	rows := [][]string{cells(t.Header)}
	for _, r := range t.Rows {
		rows = append(rows, cells(r))
	}
	text := ""
	if s.Pretty {
		text = t.box(s, rows)
	} else {
		text = t.pipes(rows)
	}
	_, err := io.WriteString(s, text)
	return err
}

func (t Table) alignment(c int) east.Alignment {
	if c < len(t.Right) && t.Right[c] {
		return east.AlignRight
	}
	return east.AlignLeft
}

func widths(rows [][]string) []int {
	w := make([]int, len(rows[0]))
	for _, r := range rows {
		for c, cell := range r {
			w[c] = max(w[c], ansi.StringWidth(cell))
		}
	}
	return w
}

// comfort is the room that a shortened column should have left.
const comfort = 24

// fit leaves out columns until the rest fits, and returns the rest's widths.
// They may still be wider than limit.
func (t Table) fit(rows [][]string, limit int) (Table, [][]string, []int) {
	w := widths(rows)
	for limit > 0 && len(t.Drop) > 0 {
		need := 3*len(w) + 1
		for c, n := range w {
			if c > 0 && !slices.Contains(t.Drop, c) {
				n = min(n, comfort)
			}
			need += n
		}
		if need <= limit {
			break
		}
		t, rows = t.without(t.Drop[0], rows)
		w = widths(rows)
	}
	if limit <= 0 {
		return t, rows, w
	}
	var elastic []int
	room := limit - 3*len(w) - 1
	for c, n := range w {
		if c > 0 && !slices.Contains(t.Drop, c) {
			elastic = append(elastic, n)
		} else {
			room -= n
		}
	}
	shrink(elastic, room, minText)
	for c := range w {
		if c > 0 && !slices.Contains(t.Drop, c) {
			w[c], elastic = elastic[0], elastic[1:]
		}
	}
	return t, rows, w
}

// without is the table without a column.
func (t Table) without(c int, rows [][]string) (Table, [][]string) {
	kept := make([][]string, len(rows))
	for i, r := range rows {
		kept[i] = slices.Delete(slices.Clone(r), c, c+1)
	}
	right := make([]bool, 0, len(kept[0]))
	for i := range rows[0] {
		if i != c {
			right = append(right, i < len(t.Right) && t.Right[i])
		}
	}
	var drop []int
	for _, d := range t.Drop {
		switch {
		case d > c:
			drop = append(drop, d-1)
		case d < c:
			drop = append(drop, d)
		}
	}
	t.Right, t.Drop = right, drop
	return t, kept
}

// stack writes rows without a box.
func stack(s Stream, rows [][]string) string {
	var out strings.Builder
	for _, r := range rows[1:] {
		out.WriteString(r[0] + "\n")
		rest := strings.Join(slices.DeleteFunc(slices.Clone(r[1:]), func(cell string) bool { return cell == "" }), "  ")
		if rest != "" {
			out.WriteString("  " + ansi.Truncate(rest, max(minText, s.Width-2), "…") + "\n")
		}
	}
	return out.String()
}

func (t Table) box(s Stream, rows [][]string) string {
	t, rows, w := t.fit(rows, s.Width)
	total := 3*len(w) + 1
	for _, n := range w {
		total += n
	}
	if s.Width > 0 && total > s.Width {
		return stack(s, rows)
	}
	var out strings.Builder
	rule := func(left, middle, right string) {
		parts := make([]string, len(w))
		for c, n := range w {
			parts[c] = strings.Repeat("─", n+2)
		}
		out.WriteString(s.paint(dim, left+strings.Join(parts, middle)+right) + "\n")
	}
	line := func(row []string, sgr string) {
		bar := s.paint(dim, "│")
		for c, cell := range row {
			cell = ansi.Truncate(cell, w[c], "…")
			out.WriteString(bar + " " + s.paint(sgr, pad(cell, w[c], t.alignment(c))) + " ")
		}
		out.WriteString(bar + "\n")
	}
	rule("╭", "┬", "╮")
	line(rows[0], bold)
	rule("├", "┼", "┤")
	for _, r := range rows[1:] {
		line(r, "")
	}
	if t.Repeat {
		rule("├", "┼", "┤")
		line(rows[0], bold)
	}
	rule("╰", "┴", "╯")
	return out.String()
}

func (t Table) pipes(rows [][]string) string {
	for _, r := range rows {
		for c := range r {
			r[c] = strings.ReplaceAll(r[c], "|", `\|`)
		}
	}
	w := widths(rows)
	var out strings.Builder
	for i, r := range rows {
		out.WriteByte('|')
		for c, cell := range r {
			out.WriteString(" " + pad(cell, w[c], t.alignment(c)) + " |")
		}
		out.WriteByte('\n')
		if i > 0 {
			continue
		}
		out.WriteByte('|')
		for c, n := range w {
			rule := strings.Repeat("-", n+2)
			if t.alignment(c) == east.AlignRight {
				rule = rule[1:] + ":"
			}
			out.WriteString(rule + "|")
		}
		out.WriteByte('\n')
	}
	return out.String()
}
