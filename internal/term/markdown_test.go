package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func render(s Stream, text string, size func() int) string {
	var out bytes.Buffer
	s.Writer = &out
	m := NewMarkdown(s, Look{})
	for text != "" {
		n := min(size(), len(text))
		_, _ = m.WriteString(text[:n])
		text = text[n:]
	}
	_ = m.Flush()
	return out.String()
}

func TestMarkdown(t *testing.T) {
	escapes := strings.NewReplacer("␛", "\x1b", "␇", "\x07", "␍", "\r")
	goldens(t, "markdown", []string{"mono", "color", "pipe"}, func(name, in string) string {
		text := escapes.Replace(in)
		got := render(streamFor(name, nil), text, func() int { return len(text) })
		for size := 1; size < 8; size++ {
			if cut := render(streamFor(name, nil), text, func() int { return size }); cut != got {
				t.Errorf("%s in chunks of %d:\n%s\nwhole:\n%s", name, size, cut, got)
			}
		}
		return got
	})
}

// lines that models write, and that change what the lines around them mean.
var writing = []string{
	"A short line.", "A much longer line of running text that goes on and on, **with bold words**, and `code`.",
	"# Heading", "===", "---", "- item", "- another item that is long enough to be wrapped at the width of the page", "  - nested",
	"  continued", "1. one", "2) two", "3. three", "> quoted", "> - a", "```go", "```", "~~~", "func main() { /* x", "*/ }", "| a | b |", "|---|:-:|",
	"| 1 | **2** |", "| 中文 | 👩‍👩‍👧‍👦 |", "", "", "", "    indented", "<div>", "</div>", "<!-- open", "-->", "[x]: http://example.org",
	"see [x] and [a link](http://example.org/a) here", "an *unclosed mark in a line that is as long as a paragraph needs to be shown",
	"`unclosed", "中文字，很长的一行文字，没有空格。中文字，很长的一行文字，没有空格。**粗体**文字", "hard  ", "break\\", "* * *", "***bold* x**",
	"- [x] done", "\tafter a tab", "&amp; &#27;[31m", "\x1b[31mred", "Name | Age", "_a_b_ 2 * 3 ~~gone~~ and yet more words to fill up the line to the end",
}

func TestMarkdownIgnoresChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(writing), 0, 20).Draw(t, "lines")
		text := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")
		for _, s := range []Stream{{}, {Pretty: true, Width: 40}, {Pretty: true, Depth: Full, Width: 40}} {
			whole := render(s, text, func() int { return len(text) })
			cut := render(s, text, func() int { return rapid.IntRange(1, 30).Draw(t, "cut") })
			if cut != whole {
				t.Fatalf("in pieces:\n%s\nwhole:\n%s", cut, whole)
			}
			checkPage(t, s, whole)
		}
	})
}

// checkPage holds what is true of every rendered page.
func checkPage(t interface{ Fatalf(string, ...any) }, s Stream, page string) {
	if page != "" && (!strings.HasSuffix(page, "\n") || strings.HasSuffix(page, "\n\n") && s.Pretty) {
		t.Fatalf("does not end with one line end: %q", page)
	}
	harmless(t, ansi.Strip(page))
	if s.Depth == Mono {
		harmless(t, page)
	}
}

func FuzzMarkdown(f *testing.F) {
	for i := range writing {
		f.Add(strings.Join(writing[i:], "\n"), 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		s := Stream{Pretty: true, Depth: Palette, Width: 30}
		whole := render(s, text, func() int { return len(text) })
		if cut := render(s, text, func() int { return max(1, size%16) }); cut != whole {
			t.Fatalf("in pieces:\n%q\nwhole:\n%q", cut, whole)
		}
		harmless(t, ansi.Strip(whole))
	})
}

// Every word of the model's text must be on the page, in order.
func TestMarkdownLosesNothing(t *testing.T) {
	words := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !isLetter(byte(r)) || r > 127 }), " ")
	}
	plain := []string{
		"Some words in a line", "more words, *with emphasis* in a line that is long enough to be shown while it comes", "# A title", "- an item", "  - below it",
		"1. first", "> a quotation", "```", "code here", "", "", "| one | two |", "|---|---|", "| three | four |", "<p>", "<b>raw</b>", "---", "===",
		"    indented code", "an unclosed [bracket", "and ]another", "`tick", "**strong",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(plain), 0, 15).Draw(t, "lines"), "\n")
		page := render(Stream{Pretty: true, Width: 200}, text, func() int { return len(text) })
		if got, want := strings.ReplaceAll(words(page), " ", ""), strings.ReplaceAll(words(text), " ", ""); got != want {
			t.Fatalf("text:\n%s\npage:\n%s\nwords %s\nwant  %s", text, page, got, want)
		}
	})
}

// A person reads along: what is complete is on the screen before the text is.
func TestMarkdownShowsEarly(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"words of a paragraph", "This is the beginning of a paragraph that is long enough to be shown wor", "This is the beginning of a paragraph that is long enough to\nbe shown"},
		{"a heading", "# Title\n", "# Title\n"},
		{"a paragraph and its blank line", "Hi.\n\n", "Hi.\n"},
		{"the items but the last", "- a\n- b\n- c", "• a\n"},
		{"the next item settles the one before", "- a\n- b\n- c\n", "• a\n• b\n"},
		{"lines of code", "```\na\nb\nc", "```\na\nb\n"},
		{"paragraph after a list", "- a\n\nThis is a paragraph that follows the list and is long enough, o", "• a\n\nThis is a paragraph that follows the list and is long\nenough,"},
	} {
		var out bytes.Buffer
		m := NewMarkdown(Stream{Writer: &out, Pretty: true, Width: 60}, Look{WrapWidth: 60})
		_, _ = m.WriteString(c.text)
		if got := out.String(); got != c.want {
			t.Errorf("%s: %q is on the screen, want %q", c.name, got, c.want)
		}
	}
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		look             Look
		depth            Depth
	}{
		{"code without colour", "```go\nx := 1\n```", "␛[38;5;102m```go␛[0m\nx := 1\n␛[38;5;102m```␛[0m\n", Look{PlainCode: true}, Palette},
		{"the light theme", "`x`", "␛[38;5;130mx␛[0m\n", Look{Theme: "gruvbox-light"}, Palette},
		{"a rule as it is written", "***", "---\n", Look{PlainRule: true}, Mono},
		{"the width", "one two three four", "one two\nthree four\n", Look{WrapWidth: 12}, Mono},
		{"narrow columns", "| a | b |\n|---|---|\n| one two | x |", " a   │ b\n─────┼───\n one │ x\n two │\n", Look{TableColumn: 3}, Mono},
	} {
		var out bytes.Buffer
		m := NewMarkdown(Stream{Writer: &out, Pretty: true, Depth: c.depth}, c.look)
		_, _ = m.Write([]byte(c.text))
		if err := m.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := shown(out.String()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What no model writes on purpose must not hang, overflow or grow.
func TestMarkdownOddities(t *testing.T) {
	for name, text := range map[string]string{
		"quotes in quotes":  strings.Repeat(">", 5000) + "a",
		"lists in lists":    strings.Repeat("- ", 2000) + "a",
		"one long word":     strings.Repeat("x", 1<<19),
		"open brackets":     strings.Repeat("[", 10000),
		"a huge block":      strings.Repeat("> (quoted)\n", maxPending/8),
		"a half-open start": "*" + strings.Repeat("words and ", 2000),
	} {
		out := render(Stream{Pretty: true}, text, func() int { return 512 })
		if out == "" || len(out) > 5*len(text)+100 {
			t.Errorf("%s: %d bytes became %d", name, len(text), len(out))
		}
	}
}
