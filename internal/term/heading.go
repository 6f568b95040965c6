package term

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Heading names whose text follows.
type Heading struct {
	Label  string // Software Architect (@architect)
	Model  string // provider/name; may be empty
	Detail string // 2/3, or "turn 3, 12 minutes ago"; may be empty
}

// Draw returns the heading's line with its end. On a Pretty stream it is
// filled up to the wrap width and never wider: what has no room is shortened,
// the model first and the detail last. Elsewhere it is plain text, as a
// Markdown heading if markdown says so.
func (h Heading) Draw(s Stream, look Look, markdown bool) string {
	h = Heading{Line(h.Label, 0), Line(h.Model, 0), Line(h.Detail, 0)}
	if ansi.StringWidth(h.Label) == 0 {
		h.Label, h.Model = h.Model, ""
	}
	if s.Pretty {
		return h.rule(s, look)
	}
	parts := []string{h.Label}
	for _, part := range []string{h.Model, h.Detail} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	line := strings.Join(parts, " · ")
	if markdown {
		line = "## " + line
	}
	return line + "\n"
}

// Below narrow cells a heading has no room for lines on both sides. A model
// cut to less than minModel, or a name to less than minLabel, says nothing.
const (
	narrow   = 24
	minLabel = 8
	minModel = 8
)

// rule draws "── label · model ─── detail ──".
func (h Heading) rule(s Stream, look Look) string {
	width := s.wrap(look.WrapWidth)
	before, line, after := "── ", 4, " ──"
	switch {
	case width < minLabel:
		before, line, after = "", 0, ""
	case width < narrow:
		line, after = 0, ""
	}
	if h.Detail == "" {
		after = ""
	}
	room := width - ansi.StringWidth(before) - ansi.StringWidth(after)
	h = h.fit(room - line)
	mark := newTheme(look.Theme, s.Depth).mark
	var parts []string
	if h.Label != "" {
		parts = append(parts, s.paint(bold, h.Label))
	}
	if h.Model != "" {
		parts[0] += s.paint(dim, " · "+h.Model)
	}
	if free := room - 1 - h.cells(); free > 0 {
		parts = append(parts, s.paint(mark, strings.Repeat("─", free)))
	}
	if h.Detail != "" {
		parts = append(parts, s.paint(dim, h.Detail))
	}
	return s.paint(mark, before) + strings.Join(parts, " ") + s.paint(mark, after) + "\n"
}

// cells is the width of the texts with what stands between them.
func (h Heading) cells() int {
	n := ansi.StringWidth(h.Label)
	for _, part := range []struct{ between, text string }{{" · ", h.Model}, {" ", h.Detail}} {
		if part.text != "" && n > 0 {
			n += ansi.StringWidth(part.between)
		}
		n += ansi.StringWidth(part.text)
	}
	return n
}

// fit shortens the texts until they take no more than room cells.
func (h Heading) fit(room int) Heading {
	over := func() int { return h.cells() - room }
	cut := func(s string, least int) string {
		n := max(least, ansi.StringWidth(s)-max(0, over()))
		if s = strings.TrimSpace(ansi.Truncate(s, n, "…")); ansi.StringWidth(s) == 0 {
			return "" // not even a joiner that shows nothing
		}
		return s
	}
	if over() > 0 && ansi.StringWidth(h.Model)-over() < minModel {
		h.Model = ""
	}
	h.Model = cut(h.Model, 0)
	h.Label = cut(h.Label, minLabel)
	// A place like 2/3 stays whole before a name does; a longer text gives way.
	if ansi.StringWidth(h.Detail) > minLabel {
		h.Detail = cut(h.Detail, 1)
	}
	h.Label = cut(h.Label, 0)
	h.Detail = cut(h.Detail, 0)
	return h
}

// place is "2/3".
func place(index, total int) string {
	if total < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", index+1, total)
}
