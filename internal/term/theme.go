package term

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// theme holds the SGR parameters for a stream's depth. It is not chroma's own
// registry of styles: loading that costs 5 ms at every start of the program.
type theme struct {
	heading, code, link, mark string
	tokens                    map[chroma.TokenType]string
}

// inks are the colours of a theme by what they are for; tokens that are not
// named take their category's.
type inks struct {
	heading, code, link, mark string
	tokens                    map[chroma.TokenType]string
}

// themes after gruvbox by Pavel Pertsev. A theme of another name is drawn as
// the light one if it calls itself light, else as the dark one.
var themes = map[string]inks{
	"dark": {
		heading: "#fabd2f", code: "#fe8019", link: "#83a598", mark: "#928374",
		tokens: map[chroma.TokenType]string{
			chroma.Keyword: "#fe8019", chroma.KeywordType: "#fabd2f",
			chroma.NameAttribute: "#b8bb26", chroma.NameBuiltin: "#fabd2f", chroma.NameConstant: "#d3869b",
			chroma.NameEntity: "#fabd2f", chroma.NameException: "#fb4934", chroma.NameFunction: "#fabd2f",
			chroma.NameLabel: "#fb4934", chroma.NameTag: "#fb4934", chroma.NameNamespace: "#b8bb26",
			chroma.LiteralString: "#b8bb26", chroma.LiteralStringSymbol: "#83a598", chroma.LiteralNumber: "#d3869b",
			chroma.Operator: "#fe8019", chroma.Comment: "#928374", chroma.CommentPreproc: "#8ec07c",
			chroma.GenericDeleted: "#fb4934", chroma.GenericInserted: "#b8bb26",
			chroma.GenericHeading: "#b8bb26", chroma.GenericSubheading: "#83a598", chroma.GenericPrompt: "#928374",
		},
	},
	"light": {
		heading: "#b57614", code: "#af3a03", link: "#076678", mark: "#928374",
		tokens: map[chroma.TokenType]string{
			chroma.Keyword: "#af3a03", chroma.KeywordType: "#b57614",
			chroma.NameAttribute: "#79740e", chroma.NameBuiltin: "#b57614", chroma.NameConstant: "#8f3f71",
			chroma.NameEntity: "#b57614", chroma.NameException: "#9d0006", chroma.NameFunction: "#b57614",
			chroma.NameLabel: "#9d0006", chroma.NameTag: "#9d0006", chroma.NameNamespace: "#79740e",
			chroma.LiteralString: "#79740e", chroma.LiteralStringSymbol: "#076678", chroma.LiteralNumber: "#8f3f71",
			chroma.Operator: "#af3a03", chroma.Comment: "#928374", chroma.CommentPreproc: "#427b58",
			chroma.GenericDeleted: "#9d0006", chroma.GenericInserted: "#79740e",
			chroma.GenericHeading: "#79740e", chroma.GenericSubheading: "#076678", chroma.GenericPrompt: "#928374",
		},
	},
}

func newTheme(name string, d Depth) theme {
	from := themes["dark"]
	if strings.Contains(strings.ToLower(name), "light") {
		from = themes["light"]
	}
	t := theme{
		heading: d.ink(from.heading), code: d.ink(from.code), link: d.ink(from.link), mark: d.ink(from.mark),
		tokens: make(map[chroma.TokenType]string, len(from.tokens)),
	}
	for k, hex := range from.tokens {
		t.tokens[k] = d.ink(hex)
	}
	t.tokens[chroma.Comment] = also(italic, t.tokens[chroma.Comment])
	return t
}

// token is the style of a piece of code.
func (t theme) token(k chroma.TokenType) string {
	for _, k := range []chroma.TokenType{k, k.SubCategory(), k.Category()} {
		if sgr, ok := t.tokens[k]; ok {
			return sgr
		}
	}
	return ""
}
