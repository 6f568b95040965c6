package term

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

const (
	// head is how many bytes of a line must have come before it can be shown
	// as a paragraph that is still being written. A heading underlined by ===
	// or a table row without a leading bar that is longer than this is taken
	// for text; whoever reads along is not kept waiting for the line's end.
	head = 24
	// maxPending bounds a block that is kept until its end, in bytes.
	maxPending = 256 << 10
)

// Markdown writes a model's text while it arrives. On a stream that is Pretty
// it is rendered, append-only: a block is written when nothing that may come
// can change it, an item of a list when the next one begins, a line of code
// and the words of a paragraph at once. Otherwise it is the model's own text,
// filtered, without empty lines around it. Either way the text ends with one
// line end, and how it was cut into writes makes no difference.
//
// A Markdown belongs to one goroutine. Errors are those of the stream; after
// one nothing more is written.
type Markdown struct {
	stream Stream
	filter Filter
	page   *page // nil: not rendered
	err    error

	begun      bool // something was written since the last Flush
	definition bool // the last block was a link definition
	held       int  // not rendered: line ends that wait for more text

	line    []byte // the line that has not ended yet
	pending []byte // ended lines of the block that has not ended
	kind    ast.NodeKind
	indent  int // of the text of the last item, if pending is a list
	list    listRun
	fence   *fence
	para    *paragraph
	tried   bool // line is known not to be prose
}

// listRun is a list whose earlier items have been written.
type listRun struct {
	open  bool
	next  int  // number of the next item
	apart bool // a blank line goes before it
}

type fence struct {
	mark   string // what opened it
	indent int
	h      *highlighter
}

// paragraph is the one that is being written.
type paragraph struct {
	prose
	joined bool   // the current line belongs to it
	fed    int    // bytes of the current line that were taken
	row    []byte // a line that the next one may make the head of a table
}

var _ io.Writer = (*Markdown)(nil)

// NewMarkdown returns a writer of Markdown to s.
func NewMarkdown(s Stream, look Look) *Markdown {
	m := &Markdown{stream: s}
	if s.Pretty {
		m.page = newPage(s, look)
	}
	return m
}

// Write takes a piece of the text. It always takes all of it.
func (m *Markdown) Write(p []byte) (int, error) { return m.WriteString(string(p)) }

// WriteString is Write for strings.
func (m *Markdown) WriteString(s string) (int, error) {
	m.take(m.filter.Write(s))
	return len(s), m.err
}

// Flush ends the text. The Markdown is then ready for another one.
func (m *Markdown) Flush() error {
	m.take(m.filter.Flush())
	if m.page == nil {
		if m.begun {
			m.emit("\n")
		}
	} else {
		m.finish()
	}
	*m = Markdown{stream: m.stream, page: m.page, err: m.err}
	if m.page != nil {
		clear(m.page.refs)
	}
	return m.err
}

func (m *Markdown) emit(s string) {
	if m.err == nil && s != "" {
		_, m.err = io.WriteString(m.stream, s)
	}
}

func (m *Markdown) take(s string) {
	if m.page == nil {
		m.copy(s)
		return
	}
	for s != "" {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			m.line = append(m.line, s...)
			m.lineGrew()
			break
		}
		m.line = append(m.line, s[:i]...)
		m.endLine()
		s = s[i+1:]
	}
	m.drain()
}

func (m *Markdown) drain() {
	m.emit(m.page.out.String())
	m.page.out.Reset()
}

// copy passes text on, but for line ends at the beginning and the end.
func (m *Markdown) copy(s string) {
	body := strings.TrimRight(s, "\n")
	ends := len(s) - len(body)
	if !m.begun {
		body = strings.TrimLeft(body, "\n")
	}
	if body == "" {
		if m.begun {
			m.held += ends
		}
		return
	}
	m.emit(strings.Repeat("\n", m.held) + body)
	m.begun, m.held = true, ends
}

// lineGrew shows what can be shown of a line that has not ended.
func (m *Markdown) lineGrew() {
	if m.fence != nil {
		return
	}
	if m.para == nil && !m.startProse() {
		return
	}
	m.extend()
}

func (m *Markdown) endLine() {
	switch {
	case m.fence != nil:
		m.code(string(m.line))
	case m.para != nil || m.startProse():
		m.endProseLine()
	default:
		m.addLine()
	}
	m.line, m.tried = m.line[:0], false
}

// finish writes all that waits.
func (m *Markdown) finish() {
	if len(m.line) > 0 {
		m.endLine()
	}
	if m.para != nil {
		m.endProse()
	}
	if m.fence != nil {
		m.closeFence()
	}
	m.render(m.pending, false)
	m.pending = nil
	m.drain()
}

// gap puts a blank line between blocks.
func (m *Markdown) gap() {
	if m.begun {
		m.page.out.WriteByte('\n')
	}
	m.begun, m.definition, m.list.open = true, false, false
}

// addLine adds the line to the pending block and writes what it completes.
func (m *Markdown) addLine() {
	blank := len(bytes.TrimSpace(m.line)) == 0
	if blank && len(m.pending) == 0 {
		return
	}
	start := len(m.pending)
	m.pending = append(append(m.pending, m.line...), '\n')
	if start > 0 && m.continues(blank) && len(m.pending) < maxPending {
		return
	}
	m.settle(start, blank)
	if len(m.pending) >= maxPending {
		m.render(m.pending, false)
		m.pending = nil
	}
}

// continues tells, cheaply, that the line cannot end or change the kind of
// the pending block, so that long blocks are not parsed line by line.
func (m *Markdown) continues(blank bool) bool {
	switch m.kind {
	case ast.KindList:
		return blank || leading(m.line) >= m.indent
	case ast.KindBlockquote:
		return !blank && m.line[0] == '>'
	case east.KindTable:
		return !blank && m.line[0] == '|'
	case ast.KindParagraph:
		return !blank && (startsWord(m.line) || m.outlineKind([]byte("x"), m.line) == ast.KindParagraph)
	case ast.KindHTMLBlock:
		return !blank && bytes.IndexByte(m.line, '>') < 0
	case ast.KindCodeBlock:
		return blank || leading(m.line) >= 4
	}
	return false
}

// settle writes the pending blocks that are complete. A line can only change
// the last block, so all before that are; it is, too, if it ends with its line
// or this line is the blank one after it.
func (m *Markdown) settle(start int, blank bool) {
	last := m.page.blocks(m.pending).LastChild()
	if last == nil {
		return
	}
	from := m.lineOf(blockPos(last))
	m.render(m.pending[:from], false)
	m.pending = m.pending[:copy(m.pending, m.pending[from:])]
	m.kind = last.Kind()
	whole := false
	switch n := last.(type) {
	case *ast.FencedCodeBlock:
		if from == start {
			m.openFence()
		}
	case *ast.Heading, *ast.ThematicBreak:
		whole = true
	case *ast.HTMLBlock:
		whole = n.HasClosure() || blank && n.HTMLBlockType >= ast.HTMLBlockType6
	case *ast.List:
		m.settleItems(n, from)
	case *ast.CodeBlock:
	default:
		whole = blank
	}
	if whole {
		m.render(m.pending, false)
		m.pending = nil
	}
}

// settleItems writes all items of the pending list but the last.
func (m *Markdown) settleItems(n *ast.List, from int) {
	last := n.LastChild().(*ast.ListItem)
	at := m.lineOf(last.Pos() - from) // positions are those before the cut
	if at > 0 {
		m.render(m.pending[:at], true)
		m.pending = m.pending[:copy(m.pending, m.pending[at:])]
		m.list.apart = last.HasBlankPreviousLines()
	}
	m.indent = leading(m.pending) + last.Offset
}

// lineOf is the beginning of the line that holds the byte at pos in pending.
func (m *Markdown) lineOf(pos int) int {
	pos = min(max(pos, 0), len(m.pending))
	return bytes.LastIndexByte(m.pending[:pos], '\n') + 1
}

// blockPos is where a block begins. A table that follows a paragraph's lines
// claims to begin with the paragraph; its head knows better.
func blockPos(n ast.Node) int {
	if n.Kind() == east.KindTable && n.FirstChild() != nil {
		return n.FirstChild().Pos()
	}
	return n.Pos()
}

// render writes complete blocks. With more, the last one is a list that goes
// on; the first one goes on a list whose earlier items have been written.
func (m *Markdown) render(src []byte, more bool) {
	if len(bytes.TrimSpace(src)) == 0 {
		return
	}
	doc := m.page.parse(m.page.full, src)
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if list, ok := n.(*ast.List); ok {
			m.items(list, src)
			continue
		}
		definition := n.Kind() == ast.KindLinkReferenceDefinition
		if !definition || !m.definition {
			m.gap()
		}
		m.definition = definition
		m.page.block(n, src, nil)
	}
	if !more {
		m.list.open = false
	}
}

func (m *Markdown) items(list *ast.List, src []byte) {
	run := m.list
	if !run.open {
		m.gap()
		run.next = list.Start
	}
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		apart := item.HasBlankPreviousLines()
		if item == list.FirstChild() {
			apart = run.open && run.apart
		}
		if apart {
			m.page.out.WriteByte('\n')
		}
		m.page.item(item, src, nil, list, run.next)
		run.next++
	}
	m.list = listRun{open: true, next: run.next}
}

// openFence begins a code block with its first line, which is all of pending.
func (m *Markdown) openFence() {
	line := string(bytes.TrimRight(m.pending, "\n"))
	m.pending = nil
	body := strings.TrimLeft(line, " ")
	f := &fence{mark: body[:runLength(body)], indent: len(line) - len(body)}
	info := strings.TrimSpace(body[len(f.mark):])
	f.h = m.page.highlighter(info)
	m.gap()
	m.page.line(nil, m.page.paint(m.page.theme.mark, f.mark+info))
	m.fence = f
}

// code writes a line of an open code block, or ends it.
func (m *Markdown) code(line string) {
	body := strings.Trim(line, " \t")
	if strings.HasPrefix(body, m.fence.mark) && runLength(body) == len(body) && leading([]byte(line)) < 4 {
		m.closeFence()
		return
	}
	for n := m.fence.indent; n > 0 && strings.HasPrefix(line, " "); n-- {
		line = line[1:]
	}
	m.page.line(nil, m.fence.h.line(line))
}

func (m *Markdown) closeFence() {
	m.page.line(nil, m.page.paint(m.page.theme.mark, m.fence.mark))
	m.fence = nil
}

// startProse decides by its first bytes whether the line begins a paragraph
// that can be shown word by word.
func (m *Markdown) startProse() bool {
	if m.tried || len(m.line) < head {
		return false
	}
	m.tried = true
	if len(m.pending) > 0 && (leading(m.line) > 0 || !bytes.HasSuffix(m.pending, []byte("\n\n"))) {
		return false
	}
	n := head
	for n < len(m.line) && !utf8.RuneStart(m.line[n]) {
		n--
	}
	start := append(append([]byte(nil), m.line[:n]...), '\n')
	if bytes.ContainsRune(start, '|') || start[0] == '[' || start[0] == '<' {
		return false
	}
	last := m.page.blocks(append(append([]byte(nil), m.pending...), start...)).LastChild()
	if last == nil || last.Kind() != ast.KindParagraph || m.lineOf(last.Pos()) != len(m.pending) {
		return false
	}
	m.render(m.pending, false)
	m.pending = nil
	m.gap()
	m.para = &paragraph{prose: prose{page: m.page, flow: m.page.flow(nil)}, joined: true}
	m.para.feedStart(m.line)
	return true
}

// feedStart skips the indentation of a paragraph's first line.
func (p *paragraph) feedStart(line []byte) { p.fed = len(line) - len(bytes.TrimLeft(line, " \t")) }

// extend shows more of the current line if it belongs to the paragraph.
func (m *Markdown) extend() {
	p := m.para
	if !p.joined {
		if p.row != nil || !startsWord(m.line) {
			return
		}
		p.joined = true
	}
	p.feed(string(m.line[p.fed:]))
	p.fed = len(m.line)
}

// endProseLine takes a whole line while a paragraph is open.
func (m *Markdown) endProseLine() {
	p := m.para
	if p.row != nil {
		row := p.row
		p.row = nil
		if m.outlineKind(row, m.line) == east.KindTable {
			m.endProse()
			m.pending = append(row, '\n')
			m.addLine()
			return
		}
		p.feed(string(row))
		p.newline()
	}
	m.extend()
	switch {
	case p.joined:
	case len(bytes.TrimSpace(m.line)) > 0 && m.outlineKind([]byte("x"), m.line) == ast.KindParagraph:
		if bytes.IndexByte(m.line, '|') >= 0 {
			p.row = append([]byte(nil), m.line...)
			return
		}
		p.feed(strings.TrimLeft(string(m.line), " \t"))
	default:
		m.endProse()
		m.addLine()
		return
	}
	p.newline()
	p.joined, p.fed = false, 0
}

func (m *Markdown) endProse() {
	if m.para.row != nil {
		m.para.feed(string(m.para.row))
	}
	m.para.end()
	m.para = nil
}

// outlineKind is the kind of the one block that two lines make, or none.
func (m *Markdown) outlineKind(a, b []byte) ast.NodeKind {
	n := m.page.blocks(bytes.Join([][]byte{a, b, nil}, []byte("\n"))).FirstChild()
	if n == nil || n.NextSibling() != nil {
		return ast.KindDocument
	}
	return n.Kind()
}

// startsWord tells that a line can only be text.
func startsWord(line []byte) bool {
	r, _ := utf8.DecodeRune(line)
	return unicode.IsLetter(r)
}

// leading is the indentation of a line in cells.
func leading(line []byte) int {
	n := 0
	for _, b := range line {
		switch b {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}
