package term

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "hello, wörld\n\tx", "hello, wörld\n\tx"},
		{"clipboard", "before\x1b]52;c;SGVsbG8=\x07after", "beforeafter"},
		{"clipboard ended by ST", "before\x1b]52;c;SGVsbG8=\x1b\\after", "beforeafter"},
		{"link", "a \x1b]8;;javascript:x\x1b\\click\x1b]8;;\x1b\\ b", "a click b"},
		{"title", "\x1b]0;owned\x07x", "x"},
		{"CSI", "a\x1b[31;1mred\x1b[0m\x1b[2J", "ared"},
		{"CSI with odd parameters", "a\x1b[?1049hb\x1b[>4;2mc\x1b[!pd", "abcd"},
		{"C1 CSI as a byte", "a\x9b2Jb", "ab"},
		{"C1 CSI as a rune", "a\u009b2Jb", "ab"},
		{"C1 OSC", "a\u009d52;c;AA\u009cb", "ab"},
		{"DCS", "a\x1bP1$r0m\x1b\\b", "ab"},
		{"DCS as a byte", "a\x90secret\x9cb", "ab"},
		{"SOS PM APC", "a\x1bXs\x1b\\b\x1b^p\x1b\\c\x1b_Gf=1;AA\x1b\\d", "abcd"},
		{"tmux passthrough", "a\x1bPtmux;\x1b\x1b]52;c;AA\x07\x1b\\b", "ab"},
		{"two-byte sequences", "a\x1bcb\x1b7c\x1b(Bd\x1b#8e", "abcde"},
		{"escape before a line break", "a\x1b\nb", "a\nb"},
		{"unended OSC stops at the line", "a\x1b]52;c;AAAA\nb", "a\nb"},
		{"unended at the end", "a\x1b]52;c;AAAA", "a"},
		{"cancelled", "a\x1b[3\x18b", "ab"},
		{"malformed CSI", "a\x1b[3äb", "aäb"},
		{"carriage return", "secret\rpublic", "secret\npublic"},
		{"CRLF", "a\r\nb\r\r\nc", "a\nb\n\nc"},
		{"backspace and others", "a\bb\x7fc\x00d\ve\ff\ag", "abcdefg"},
		{"bidi", "a\u202eb\u2066c\u2069d", "abcd"},
		{"bidi marks stay", "a\u200eb\u200d", "a\u200eb\u200d"},
		{"invalid", "a\xffb\xc3", "a�b�"},
		{"broken rune is no C1", "a\xf0\x9fhello\xe2\x9btext", "a�hello�text"},
		{"control inside a rune", "\xe2\x1b[m\x82\xac", "��"},
		{"NEL and lone C1", "a\u0085b\u0080c", "abc"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{" two\nlines\tand\r\nmore ", 0, "two lines and more"},
		{"a\x1b]0;x\x07b\u2028c", 0, "ab c"},
		{"abcdefgh", 4, "abc…"},
		{"👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 5, "👩‍👩‍👧‍👦👩‍👩‍👧‍👦…"},
		{strings.Repeat("x", 2000), 0, strings.Repeat("x", maxLine-1) + "…"},
	} {
		if got := Line(c.in, c.width); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// harmless is what a terminal shows and does not obey.
func harmless(t interface{ Fatalf(string, ...any) }, s string) {
	if !utf8.ValidString(s) {
		t.Fatalf("%q is not UTF-8", s)
	}
	for _, r := range s {
		if !visible(r) {
			t.Fatalf("%q holds %U", s, r)
		}
	}
}

func inPieces(f *Filter, s string, size func() int) string {
	var out strings.Builder
	for s != "" {
		n := min(size(), len(s))
		out.WriteString(f.Write(s[:n]))
		s = s[n:]
	}
	return out.String() + f.Flush()
}

func TestFilterIgnoresChunking(t *testing.T) {
	bits := []string{
		"text", "\x1b", "[", "]", "52;c;AA", "\a", "\x1b\\", "P", "\r", "\n", "ü", "\x9b", "\u009b", "\xe2\x9b", "\x9c",
		"2J", "m", "👩‍👩‍👧", "\x18", "\u202e", "\xff", " ",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom(bits)).Draw(t, "text"), "")
		var f Filter
		got := inPieces(&f, s, func() int { return rapid.IntRange(1, 5).Draw(t, "cut") })
		if want := Clean(s); got != want {
			t.Fatalf("in pieces %q, whole %q", got, want)
		}
		harmless(t, got)
		if again := Clean(got); again != got {
			t.Fatalf("filtering %q again gives %q", got, again)
		}
	})
}

func TestFilterHoldsASequenceOverPieces(t *testing.T) {
	var f Filter
	for _, c := range [][2]string{
		{"before", "before"}, {"\x1b", ""}, {"]52;c;SGVsbG8=", ""}, {"\x07after", "after"},
		{"\xc2", ""}, {"\x9b2", ""}, {"Jx", "x"},
	} {
		if got := f.Write(c[0]); got != c[1] {
			t.Errorf("Write(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("before\x1b]52;c;SGVsbG8=\x07after", 1)
	f.Add("\x9b2J\xe2\x9b\r\n\x1bP\x1b\\", 2)
	f.Fuzz(func(t *testing.T, s string, size int) {
		var fl Filter
		got := inPieces(&fl, s, func() int { return max(1, size%8) })
		if want := Clean(s); got != want {
			t.Fatalf("in pieces %q, whole %q", got, want)
		}
		harmless(t, got)
	})
}
