package term

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

// display is how reasoning is shown.
type display struct {
	hidden bool
	brief  bool // one line says that there is some
	limit  int  // characters of it, 0 = all
}

// newDisplay reads style.reasoning.display: full (also for ""), hidden, a
// number of characters; all other words mean brief.
func newDisplay(s string) display {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return display{limit: n}
	}
	switch s {
	case "", "full":
		return display{}
	case "hidden", "0":
		return display{hidden: true}
	}
	return display{brief: true}
}

// thought writes reasoning while it arrives: dim, behind a bar, word by word
// on a Pretty stream, as it is elsewhere. It is no Markdown.
type thought struct {
	stream Stream
	look   Look
	limit  int // characters, 0 = all

	filter Filter
	plain  *Markdown
	out    bytes.Buffer
	lead   *lead
	flow   *flow
	taken  int
	held   int // line ends that wait for more text
}

func newThought(s Stream, look Look, limit int) *thought {
	t := &thought{stream: s, look: look, limit: limit}
	if !s.Pretty {
		t.plain = NewMarkdown(s, look)
		return t
	}
	bar := s.paint(newTheme(look.Theme, s.Depth).mark, "│") + " "
	t.lead = (*lead)(nil).in(bar, bar)
	t.flow = newFlow(s, &t.out, t.lead, s.wrap(look.WrapWidth))
	return t
}

func (t *thought) write(s string) {
	s = t.filter.Write(s)
	if t.limit > 0 {
		s = t.cut(s)
	}
	if t.plain != nil {
		_, _ = t.plain.WriteString(s)
		return
	}
	for s != "" {
		line, rest, ended := strings.Cut(s, "\n")
		if strings.TrimSpace(line) != "" || t.held == 0 {
			t.breaks()
			t.flow.text(line, t.sgr())
		}
		if ended {
			t.held++
		}
		s = rest
	}
	t.emit()
}

// breaks writes the line ends that were held: one stays one, more are a blank
// line.
func (t *thought) breaks() {
	if t.held > 0 {
		t.flow.end()
	}
	if t.held > 1 && t.lead.used {
		t.out.WriteString(strings.TrimRight(t.lead.next(), " ") + "\n")
	}
	t.held = 0
}

// cut ends the text at the limit.
func (t *thought) cut(s string) string {
	if t.taken >= t.limit {
		return ""
	}
	for i := range s {
		if t.taken == t.limit {
			return s[:i] + "…"
		}
		t.taken++
	}
	return s
}

func (t *thought) sgr() string {
	if t.stream.Depth == Mono {
		return ""
	}
	return dim
}

func (t *thought) emit() {
	_, _ = io.WriteString(t.stream, t.out.String())
	t.out.Reset()
}

// end ends the last line.
func (t *thought) end() {
	if t.plain != nil {
		_ = t.plain.Flush()
		return
	}
	t.flow.text(t.filter.Flush(), t.sgr())
	t.flow.end()
	t.emit()
}
