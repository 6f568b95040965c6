package term

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// grammar holds the three parsers: whole blocks, the outlines of blocks only
// (to find where they begin), and one paragraph's text. They share the link
// definitions seen so far.
type grammar struct {
	full, outline, prose parser.Parser
	refs                 map[string]parser.Reference
}

func newGrammar() *grammar {
	blocks := parser.WithBlockParsers(parser.DefaultBlockParsers()...)
	paragraphs := parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200))...)
	inlines := parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(extension.NewStrikethroughParser(), 500))...)
	return &grammar{
		full: parser.NewParser(blocks, paragraphs, inlines,
			parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0))),
		outline: parser.NewParser(blocks, paragraphs),
		prose:   parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1)), inlines),
		refs:    map[string]parser.Reference{},
	}
}

// context is a parse's view of the shared definitions; the first one of a
// label counts. They are copied, for they outlive the text they were read in.
type context struct {
	parser.Context
	refs map[string]parser.Reference
}

func (c context) AddReference(r parser.Reference) {
	key := util.ToLinkReference(r.Label())
	if _, ok := c.refs[key]; !ok {
		c.refs[key] = parser.NewReference(bytes.Clone(r.Label()), bytes.Clone(r.Destination()), bytes.Clone(r.Title()))
	}
}

func (c context) Reference(label string) (parser.Reference, bool) {
	r, ok := c.refs[label]
	return r, ok
}

func (g *grammar) parse(p parser.Parser, src []byte) ast.Node {
	return p.Parse(text.NewReader(src), parser.WithContext(context{parser.NewContext(), g.refs}))
}

// blocks returns the outline of src. What it takes for link definitions is
// forgotten: src may not be complete.
func (g *grammar) blocks(src []byte) ast.Node {
	return g.outline.Parse(text.NewReader(src))
}

// inline writes the text of a node's children into a flow.
func (p *page) inline(f *flow, parent ast.Node, src []byte, sgr string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			p.words(f, n, src, sgr)
		case *ast.String:
			f.text(Clean(string(n.Value)), sgr)
		case *ast.CodeSpan:
			p.codeSpan(f, n, src, sgr)
		case *ast.Emphasis:
			if n.Level == 1 {
				p.marked(f, n, src, sgr, italic, "*")
			} else {
				p.marked(f, n, src, sgr, bold, "**")
			}
		case *east.Strikethrough:
			p.marked(f, n, src, sgr, struck, "~~")
		case *ast.Link:
			p.inline(f, n, src, p.style(sgr, also(underline, p.theme.link)))
			p.target(f, n.Destination, flat(n, src), sgr)
		case *ast.Image:
			f.text("image: "+flat(n, src), p.style(sgr, italic))
			p.target(f, n.Destination, "", sgr)
		case *ast.AutoLink:
			f.fixed(string(n.URL(src)), p.style(sgr, also(underline, p.theme.link)))
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				seg := n.Segments.At(i)
				f.text(string(seg.Value(src)), sgr)
			}
		case *east.TaskCheckBox:
			box := "[ ]"
			if n.IsChecked {
				box = "[x]"
			}
			f.fixed(box, sgr)
			f.gap()
		default:
			p.inline(f, n, src, sgr)
		}
	}
}

func (p *page) words(f *flow, n *ast.Text, src []byte, sgr string) {
	raw := n.Segment.Value(src)
	if n.IsRaw() {
		f.text(string(raw), sgr)
	} else {
		f.text(unescape(raw), sgr)
	}
	switch {
	case n.HardLineBreak():
		f.hard()
	case n.SoftLineBreak():
		f.gap()
	}
}

// marked writes an emphasised text: by style, or by its own marks where there
// is no colour.
func (p *page) marked(f *flow, n ast.Node, src []byte, sgr, more, mark string) {
	if p.Depth != Mono {
		p.inline(f, n, src, p.style(sgr, more))
		return
	}
	f.fixed(mark, "")
	p.inline(f, n, src, sgr)
	f.fixed(mark, "")
}

func (p *page) codeSpan(f *flow, n ast.Node, src []byte, sgr string) {
	code := strings.ReplaceAll(rawText(n, src), "\n", " ")
	if p.Depth == Mono {
		code = "`" + code + "`"
	}
	f.text(code, p.style(sgr, p.theme.code))
}

// target shows where a link leads, unless its text says so already.
func (p *page) target(f *flow, url []byte, label, sgr string) {
	to := Line(string(url), 0)
	if to == "" || to == label || to == "mailto:"+label {
		return
	}
	f.gap()
	f.fixed("("+to+")", p.style(sgr, p.theme.mark))
}

// style adds SGR parameters where there is colour.
func (p *page) style(sgr, more string) string {
	if p.Depth == Mono {
		return ""
	}
	return also(sgr, more)
}

// flat is the text of a node without any marks.
func flat(n ast.Node, src []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out.WriteString(unescape(t.Segment.Value(src)))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

func rawText(n ast.Node, src []byte) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out.Write(t.Segment.Value(src))
		}
	}
	return out.String()
}

// unescape resolves backslashes and entities. What an entity stands for is
// filtered again: "&#27;" is an escape character.
func unescape(b []byte) string {
	if !bytes.ContainsAny(b, `\&`) {
		return string(b)
	}
	var out strings.Builder
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\' && i+1 < len(b) && util.IsPunct(b[i+1]):
			out.WriteByte(b[i+1])
			i += 2
		case b[i] == '&':
			n := bytes.IndexByte(b[i:min(len(b), i+40)], ';') + 1
			n = max(n, 1)
			entity := util.ResolveEntityNames(util.ResolveNumericReferences(b[i : i+n]))
			out.WriteString(Clean(string(entity)))
			i += n
		default:
			out.WriteByte(b[i])
			i++
		}
	}
	return out.String()
}
