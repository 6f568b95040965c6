package term

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// Look is how Markdown is drawn (the keys of style.markdown and style.code).
// The zero value is the default look.
type Look struct {
	WrapWidth   int    // cells; 0 = 80; a narrower terminal wins
	TableColumn int    // widest table column in cells; 0 = 40
	Theme       string // gruvbox-dark; a name with "light" in it means the light one
	PlainCode   bool   // do not colour code blocks
	PlainRule   bool   // draw a thematic break as in Markdown
}

// page renders finished blocks.
type page struct {
	Stream
	look  Look
	theme theme
	width int
	*grammar
	out bytes.Buffer
}

func newPage(s Stream, look Look) *page {
	if look.TableColumn <= 0 {
		look.TableColumn = 40
	}
	return &page{Stream: s, look: look, theme: newTheme(look.Theme, s.Depth), width: s.wrap(look.WrapWidth), grammar: newGrammar()}
}

func (p *page) flow(l *lead) *flow { return newFlow(p.Stream, &p.out, l, p.width) }

func (p *page) line(l *lead, s string) {
	p.out.WriteString(strings.TrimRight(l.next()+s, " ") + "\n")
}

// block draws one block.
func (p *page) block(n ast.Node, src []byte, l *lead) {
	switch n := n.(type) {
	case *ast.Heading:
		p.heading(n, src, l)
	case *ast.ThematicBreak:
		if rule := strings.Repeat("─", max(0, p.width-l.width())); !p.look.PlainRule {
			p.line(l, p.paint(p.theme.mark, rule))
		} else {
			p.line(l, "---")
		}
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = string(n.Info.Segment.Value(src))
		}
		opening := string(src[n.Pos():])
		p.code(n, src, l, opening[:runLength(opening)], info)
	case *ast.CodeBlock:
		p.code(n, src, l, "```", "")
	case *ast.HTMLBlock:
		html := string(n.Lines().Value(src))
		if n.HasClosure() {
			html += string(n.ClosureLine.Value(src))
		}
		for line := range strings.SplitSeq(strings.TrimRight(html, "\n"), "\n") {
			p.line(l, line)
		}
	case *ast.Blockquote:
		bar := p.paint(p.theme.mark, "│") + " "
		p.children(n, src, l.in(bar, bar), true)
	case *ast.List:
		number := n.Start
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			if item.PreviousSibling() != nil && item.HasBlankPreviousLines() {
				p.line(l, "")
			}
			p.item(item, src, l, n, number)
			number++
		}
	case *east.Table:
		p.table(n, src, l)
	case *ast.LinkReferenceDefinition:
		p.line(l, p.paint(p.theme.mark, Line(fmt.Sprintf("[%s]: %s %s", n.Label, n.Destination, n.Title), 0)))
	default:
		f := p.flow(l)
		p.inline(f, n, src, "")
		f.end()
	}
}

// children draws the blocks of a container; spaced puts a blank line between
// all of them, otherwise they are as far apart as they were written.
func (p *page) children(parent ast.Node, src []byte, l *lead, spaced bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && (spaced || n.HasBlankPreviousLines()) {
			p.line(l, "")
		}
		p.block(n, src, l)
	}
}

// item draws an item of a list; number counts if the list is ordered.
func (p *page) item(n ast.Node, src []byte, l *lead, list *ast.List, number int) {
	mark := "•"
	if list.IsOrdered() {
		mark = fmt.Sprintf("%d%c", number, list.Marker)
	}
	in := l.in(p.paint(p.theme.mark, mark)+" ", strings.Repeat(" ", ansi.StringWidth(mark)+1))
	if n.FirstChild() == nil {
		p.line(in, "")
		return
	}
	p.children(n, src, in, false)
}

func (p *page) heading(n *ast.Heading, src []byte, l *lead) {
	sgr := p.style(bold, p.theme.heading)
	if n.Level == 1 {
		sgr = p.style(sgr, underline)
	}
	f := p.flow(l)
	if p.Depth == Mono {
		f.fixed(strings.Repeat("#", n.Level), "")
		f.gap()
	}
	p.inline(f, n, src, sgr)
	f.end()
}

// code draws a code block between its fences, so that what is copied from the
// screen has no margin.
func (p *page) code(n ast.Node, src []byte, l *lead, fence, info string) {
	h := p.highlighter(info)
	p.line(l, p.paint(p.theme.mark, fence+info))
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		p.line(l, h.line(strings.TrimRight(string(seg.Value(src)), "\n")))
	}
	p.line(l, p.paint(p.theme.mark, fence))
}

func (p *page) highlighter(info string) *highlighter {
	if p.look.PlainCode {
		return nil
	}
	return newHighlighter(p.Stream, p.theme, info)
}

// table draws a table with columns as wide as their cells, the widest ones
// cut down (their cells wrap) until it fits.
func (p *page) table(n *east.Table, src []byte, l *lead) {
	limit := p.width
	if p.Width > 0 {
		limit = p.Width
	}
	g := grid{stream: p.Stream, mark: p.theme.mark, limit: limit - l.width(), column: p.look.TableColumn, align: n.Alignments}
	sgr := p.style("", bold)
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []ast.Node
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, c)
		}
		more := surplus(src, r.Pos(), len(n.Alignments))
		of := sgr
		g.rows = append(g.rows, gridRow{len(cells), func(c, width int) string {
			if c < len(n.Alignments)-1 {
				return p.cell(cells[c], src, of, width, "")
			}
			return p.cell(cells[c], src, of, width, more)
		}})
		sgr = ""
	}
	for _, line := range g.lines() {
		p.line(l, line)
	}
}

// surplus is what a row holds behind its last column. Markdown drops it; it
// is mostly the rest of a cell with a bar in it, and must not be lost.
func surplus(src []byte, pos, columns int) string {
	row, _, _ := strings.Cut(string(src[min(max(pos, 0), len(src)):]), "\n")
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			if columns--; columns == 0 {
				return strings.TrimSpace(strings.TrimSuffix(row[i+1:], "|"))
			}
		}
	}
	return ""
}

// cell renders the text of a table cell, and more of it, into lines of a width.
func (p *page) cell(n ast.Node, src []byte, sgr string, width int, more string) string {
	var out bytes.Buffer
	f := newFlow(p.Stream, &out, nil, width)
	f.width, f.cut = width, true
	p.inline(f, n, src, sgr)
	if more != "" {
		f.text("|"+more, sgr)
	}
	f.end()
	return strings.TrimRight(out.String(), "\n")
}
