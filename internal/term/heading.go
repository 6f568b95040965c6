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
// filled up to the wrap width; elsewhere it is plain text, as a Markdown
// heading if markdown says so.
func (h Heading) Draw(s Stream, look Look, markdown bool) string {
	width := s.wrap(look.WrapWidth)
	if !s.Pretty {
		width = 0
	}
	label, model, detail := Line(h.Label, width*2/3), Line(h.Model, width/2), Line(h.Detail, 0)
	if !s.Pretty {
		parts := []string{label}
		for _, part := range []string{model, detail} {
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
	mark := newTheme(look.Theme, s.Depth).mark
	line := s.paint(mark, "──") + " " + s.paint(bold, label)
	if model != "" {
		line += s.paint(dim, " · "+model)
	}
	end := ""
	if detail != "" {
		end = " " + s.paint(dim, detail) + " " + s.paint(mark, "──")
	}
	fill := max(3, width-ansi.StringWidth(line)-1-ansi.StringWidth(end))
	return line + " " + s.paint(mark, strings.Repeat("─", fill)) + end + "\n"
}

// place is "2/3".
func place(index, total int) string {
	if total < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", index+1, total)
}
