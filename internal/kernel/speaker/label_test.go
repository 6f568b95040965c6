package speaker_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jp/internal/kernel/speaker"
)

func TestValidID(t *testing.T) {
	for _, s := range []string{"dev", "_", "A-1", "x_", "_9-"} {
		if !speaker.ValidID(s) {
			t.Errorf("%q is an identifier", s)
		}
	}
	for _, s := range []string{"", "1a", "-a", "a b", "a.b", "é", "dev's", "a\n", "a/b", "@a"} {
		if speaker.ValidID(s) {
			t.Errorf("%q is no identifier", s)
		}
	}
}

func TestDisplay(t *testing.T) {
	for _, c := range [][3]string{
		{"architect", "Software Architect", "Software Architect (@architect)"},
		{"dev", "Dev", "Dev (@dev)"},
		{"dev", "dev", "dev"},
		{"dev", "", "dev"},
		{"dev", " ", "dev"},
	} {
		if got := speaker.Display(c[0], c[1]); got != c[2] {
			t.Errorf("Display(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestHumanLabel(t *testing.T) {
	for _, c := range [][2]string{
		{"jean", "jean"},
		{"", "user"},
		{" \t\n", "user"},
		{"[]", "user"},
		{"[jean]", "jean"},
		{"Jean Mertz", "Jean Mertz"},
		{"a\r\nb", "a  b"},
		{"a]: b\x1b[31m", "a : b  31m"},
		{"a\u2028b\u2029c\u0085d\u202ee", "a b c d e"},
		{"Élodie 助手 👩‍🚀", "Élodie 助手 👩‍🚀"},
		{"\xff", "\uFFFD"},
		{strings.Repeat("é", 70), strings.Repeat("é", 64)},
		{strings.Repeat("a", 63) + " bc", strings.Repeat("a", 63)},
	} {
		if got := speaker.HumanLabel(c[0]); got != c[1] {
			t.Errorf("HumanLabel(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestHumanLabelIsOneShortLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := speaker.HumanLabel(rapid.String().Draw(t, "author"))
		if label == "" || label != strings.TrimSpace(label) || strings.ContainsAny(label, "[]\r\n\u2028\u2029\x1b") ||
			utf8.RuneCountInString(label) > 64 || !utf8.ValidString(label) {
			t.Fatalf("label %q", label)
		}
	})
}

func TestEscapeLabels(t *testing.T) {
	labels := []string{"dev", "jean", "Software Architect"}
	for _, c := range [][2]string{
		{"hello", "hello"},
		{"[dev]: hi", `\[dev]: hi`},
		{"[dev]:", `\[dev]:`},
		{"[dev] hi", "[dev] hi"},
		{"[other]: hi", "[other]: hi"},
		{"say [dev]: hi", "say [dev]: hi"},
		{"a\n[dev]: b\n[jean]: c\n", "a\n\\[dev]: b\n\\[jean]: c\n"},
		{"a\r[dev]: b\r\n[jean]: c", "a\r\\[dev]: b\r\n\\[jean]: c"},
		{"a\u2028[dev]: b\u0085[dev]: c", "a\u2028\\[dev]: b\u0085\\[dev]: c"},
		{" \t[dev]: hi", " \t\\[dev]: hi"},
		{"[DEV]: hi", `\[DEV]: hi`},
		{"[software architect]: hi", `\[software architect]: hi`},
		{`\[dev]: hi`, `\[dev]: hi`},
		{"[dev\n]: hi", "[dev\n]: hi"},
		{"[d\xff]: hi\xff\n[dev]: \xff", "[d\xff]: hi\xff\n\\[dev]: \xff"},
	} {
		if got := speaker.EscapeLabels(c[0], labels); got != c[1] {
			t.Errorf("EscapeLabels(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestEscapeLabelsOnlyAddsBackslashes(t *testing.T) {
	piece := rapid.SampledFrom([]string{"[dev]:", "[Dev]: ", "\n", "\r", "\\", "x", " ", "[", "]:", "\xff", "\u2029"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		got := speaker.EscapeLabels(text, []string{"dev"})
		if again := speaker.EscapeLabels(got, []string{"dev"}); again != got {
			t.Fatalf("%q is escaped twice: %q", got, again)
		}
		if strings.ReplaceAll(got, `\`, "") != strings.ReplaceAll(text, `\`, "") {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name, want string
		known      []string
	}{
		{"devv", "dev", []string{"architect", "dev"}},
		{"Dev", "dev", []string{"architect", "dev"}},
		{"edv", "dev", []string{"dev"}},
		{"architetc", "architect", []string{"dev", "architect"}},
		{"zzz", "", []string{"dev", "architect"}},
		{"a", "", []string{"b"}},
		{"", "", []string{"a"}},
		{"dew", "dev", []string{"dev", "den"}},
		{"systm_prompt", "system_prompt", []string{"system_prompt_sections", "system_prompt"}},
	} {
		got, ok := speaker.Nearest(c.name, c.known)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", c.name, got, ok, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "ab", 1}, {"abc", "axc", 1},
		{"abc", "acb", 1}, {"é", "e", 1}, {"kitten", "sitting", 3},
	} {
		if got := speaker.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := speaker.Distance(c.b, c.a); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
