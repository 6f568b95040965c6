package term

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	east "github.com/yuin/goldmark/extension/ast"
)

// grid lays out rows of cells. A cell is drawn for a width, which decides how
// many lines it takes.
type grid struct {
	stream Stream
	mark   string // style of the lines
	limit  int    // cells for all
	column int    // widest column
	align  []east.Alignment
	rows   []gridRow // the first is the header
}

type gridRow struct {
	cells int
	draw  func(column, width int) string
}

// widths are the natural widths, cut until the whole fits.
func (g *grid) widths() []int {
	w := make([]int, len(g.align))
	for _, r := range g.rows {
		for c := range min(r.cells, len(w)) {
			for line := range strings.SplitSeq(r.draw(c, g.column), "\n") {
				w[c] = max(w[c], min(ansi.StringWidth(line), g.column))
			}
		}
	}
	shrink(w, g.limit-3*len(w)+1, minColumn)
	return w
}

func (g *grid) lines() []string {
	w := g.widths()
	var out []string
	for i, r := range g.rows {
		out = append(out, g.row(r, w)...)
		if i > 0 {
			continue
		}
		var parts []string
		for _, n := range w {
			parts = append(parts, strings.Repeat("─", n+2))
		}
		out = append(out, g.stream.paint(g.mark, strings.Join(parts, "┼")))
	}
	return out
}

func (g *grid) row(r gridRow, w []int) []string {
	cells := make([][]string, len(w))
	height := 1
	for c := range cells {
		if c < r.cells {
			cells[c] = strings.Split(r.draw(c, w[c]), "\n")
		}
		height = max(height, len(cells[c]))
	}
	bar := g.stream.paint(g.mark, "│")
	var out []string
	for y := range height {
		var parts []string
		for c := range w {
			text := ""
			if y < len(cells[c]) {
				text = cells[c][y]
			}
			parts = append(parts, " "+pad(text, w[c], g.align[c])+" ")
		}
		out = append(out, strings.TrimRight(strings.Join(parts, bar), " "))
	}
	return out
}

// pad fills text up to width cells.
func pad(text string, width int, a east.Alignment) string {
	free := max(0, width-ansi.StringWidth(text))
	left := 0
	switch a {
	case east.AlignRight:
		left = free
	case east.AlignCenter:
		left = free / 2
	}
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", free-left)
}

// minColumn is the narrowest that a column is made to fit a table in.
const minColumn = 6

// shrink takes cells from the widest columns until all fit the limit or none
// is wider than least.
func shrink(w []int, limit, least int) {
	total := 0
	for _, n := range w {
		total += n
	}
	for total > limit {
		widest := 0
		for c := range w {
			if w[c] > w[widest] {
				widest = c
			}
		}
		if len(w) == 0 || w[widest] <= least {
			return
		}
		w[widest]--
		total--
	}
}
