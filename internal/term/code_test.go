package term

import (
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// Comments and strings over several lines keep their colour, although lines
// are coloured one by one, and end where they end.
func TestHighlightSpans(t *testing.T) {
	s := Stream{Depth: Palette}
	th := newTheme("", Palette)
	colour := map[byte]string{'c': th.token(chroma.Comment), 's': th.token(chroma.LiteralString)}
	for _, c := range []struct{ lang, code, want string }{
		{"go", "x := 1 /* a\nb\nc */ y\n// /* no\nz", "-c--- "},
		{"go", "x := `a /*\nb\nc`\ny", "-s--"},
		{"go", "s := \"/*\"\ny", "--"},
		{"python", "\"\"\"Doc\n\nof f\n\"\"\"\nx = 1", "s s--"},
		{"js", "f(`a\nb`)\nc", "---"},
		{"css", "/* a\nb */\np {}", "cc-"},
		{"html", "<!-- a\nb\n--><p>", "cc-"},
	} {
		h := newHighlighter(s, th, c.lang)
		for i, line := range strings.Split(c.code, "\n") {
			got := h.line(line)
			if ansi.Strip(got) != line {
				t.Errorf("%s: %q became %q", c.lang, line, got)
			}
			want, whole := colour[c.want[i]]
			if is := got == s.paint(want, line); whole && !is {
				t.Errorf("%s: line %d is %q, want it in %s", c.lang, i, got, want)
			}
		}
		if h.open != nil {
			t.Errorf("%s: %v is still open", c.lang, h.open)
		}
	}
}

func TestHighlightUnknown(t *testing.T) {
	th := newTheme("", Palette)
	for _, info := range []string{"", "nosuchlanguage", " "} {
		if h := newHighlighter(Stream{Depth: Palette}, th, info); h != nil {
			t.Errorf("%q has a highlighter", info)
		}
	}
	if newHighlighter(Stream{}, th, "go") != nil {
		t.Error("highlights without colour")
	}
	for _, info := range []string{"go", "go title=x", "{.go}", "rust,ignore", "go:main.go"} {
		if newHighlighter(Stream{Depth: Palette}, th, info) == nil {
			t.Errorf("%q has no highlighter", info)
		}
	}
}

// The lexers of these languages return empty tokens for ever.
func TestHighlightEnds(t *testing.T) {
	for lang, line := range map[string]string{"jsonata": `(;z"`, "jungle": "{F0a$[3!qd "} {
		h := newHighlighter(Stream{Depth: Palette}, newTheme("", Palette), lang)
		if h == nil {
			t.Fatalf("%s is not known", lang)
		}
		if got := ansi.Strip(h.line(line)); got != line {
			t.Errorf("%s: %q became %q", lang, line, got)
		}
	}
}

// Whatever the language, colouring changes no character.
func TestHighlightKeepsText(t *testing.T) {
	names := lexers.Names(false)
	rapid.Check(t, func(t *rapid.T) {
		lang := rapid.SampledFrom(names).Draw(t, "language")
		h := newHighlighter(Stream{Depth: Palette}, newTheme("", Palette), strings.ToLower(lang))
		for _, line := range rapid.SliceOfN(rapid.StringMatching("[ -~ü中]{0,40}"), 1, 5).Draw(t, "lines") {
			if got := ansi.Strip(h.line(line)); got != line {
				t.Fatalf("%q became %q", line, got)
			}
		}
	})
}
