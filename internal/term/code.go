package term

import (
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// maxCodeLine is the longest line, in bytes, that is coloured.
const maxCodeLine = 1000

// spans lists what may run over several lines, by chroma's name of a language.
// Lines are coloured one by one as they come; a comment or string that is
// still open is remembered by how it was opened.
var spans = map[string][]span{
	"C":          {comment},
	"C#":         {comment},
	"C++":        {comment},
	"CSS":        {comment},
	"Dart":       {comment},
	"Go":         {comment, backtick},
	"HTML":       {{"<!--", "-->"}},
	"Java":       {comment},
	"JavaScript": {comment, backtick},
	"Kotlin":     {comment},
	"PHP":        {comment},
	"Python":     {{`"""`, `"""`}, {"'''", "'''"}},
	"Rust":       {comment},
	"SCSS":       {comment},
	"SQL":        {comment},
	"Scala":      {comment},
	"Swift":      {comment},
	"TypeScript": {comment, backtick},
	"XML":        {{"<!--", "-->"}},
}

type span struct{ open, close string }

var (
	comment  = span{"/*", "*/"}
	backtick = span{"`", "`"}
)

// highlighter colours code line by line. A nil one leaves it as it is.
type highlighter struct {
	stream Stream
	theme  theme
	lexer  chroma.Lexer
	open   *span
}

// newHighlighter returns nil when there is no colour or the language, the
// info string of a fence, is not known.
func newHighlighter(s Stream, t theme, info string) *highlighter {
	lang := strings.TrimLeft(info, " {.")
	if i := strings.IndexAny(lang, " \t,:{}"); i >= 0 {
		lang = lang[:i]
	}
	if s.Depth == Mono || lang == "" {
		return nil
	}
	lexer := lexers.Get(lang)
	if lexer == nil {
		return nil
	}
	return &highlighter{stream: s, theme: t, lexer: lexer}
}

// line colours one line without its end.
func (h *highlighter) line(s string) string {
	if h == nil || len(s) > maxCodeLine {
		return s
	}
	prefix := ""
	if h.open != nil {
		prefix = h.open.open + "\n"
	}
	var tokens []chroma.Token
	if tokens, h.open = h.unended(prefix, s); h.open == nil {
		tokens = h.tokens(prefix + s + "\n")
	}
	var out strings.Builder
	skip, left := len(prefix), len(s)
	for _, t := range tokens {
		v := t.Value[min(skip, len(t.Value)):]
		skip -= len(t.Value) - len(v)
		v = v[:min(left, len(v))]
		left -= len(v)
		out.WriteString(h.stream.paint(h.theme.token(t.Type), v))
	}
	return out.String()
}

// unended finds the span that is open at the end of the line, and the tokens
// with its end put below: it is open if that end is read as part of a comment
// or string, and what follows it is not. What begins first is tried first.
func (h *highlighter) unended(prefix, line string) ([]chroma.Token, *span) {
	candidates := slices.Clone(spans[h.lexer.Config().Name])
	slices.SortStableFunc(candidates, func(a, b span) int {
		return strings.Index(line, a.open) - strings.Index(line, b.open)
	})
	for _, sp := range candidates {
		if h.open != nil && *h.open != sp || h.open == nil && !strings.Contains(line, sp.open) {
			continue
		}
		tokens := h.tokens(prefix + line + "\n" + sp.close + "\nq\n")
		seen := slices.DeleteFunc(slices.Clone(tokens), func(t chroma.Token) bool { return strings.TrimSpace(t.Value) == "" })
		n := len(seen)
		if n >= 2 && strings.TrimSpace(seen[n-1].Value) == "q" && !quoted(seen[n-1]) &&
			quoted(seen[n-2]) && strings.HasSuffix(strings.TrimSpace(seen[n-2].Value), sp.close) {
			return tokens, &sp
		}
	}
	return nil, nil
}

func quoted(t chroma.Token) bool {
	return t.Type.InCategory(chroma.Comment) || t.Type.InSubCategory(chroma.LiteralString)
}

// tokens reads code; what the lexer cannot read, or would not give back
// unchanged, is one token of plain text. Lexers are tables of regular
// expressions written by many hands: they panic when one times out, and some
// never come to an end.
func (h *highlighter) tokens(code string) (tokens []chroma.Token) {
	plain := []chroma.Token{{Type: chroma.Text, Value: code}}
	defer func() {
		if recover() != nil {
			tokens = plain
		}
	}()
	it, err := h.lexer.Tokenise(nil, code)
	if err != nil {
		return plain
	}
	length, empty := 0, 0
	for t := it(); t != chroma.EOF; t = it() {
		if t.Value == "" {
			if empty++; empty > len(code) {
				return plain
			}
			continue
		}
		if length+len(t.Value) > len(code) || code[length:length+len(t.Value)] != t.Value {
			return plain
		}
		length += len(t.Value)
		if n := len(tokens); n > 0 && tokens[n-1].Type == t.Type {
			tokens[n-1].Value += t.Value
			continue
		}
		tokens = append(tokens, t)
	}
	if length != len(code) {
		return plain
	}
	return tokens
}
