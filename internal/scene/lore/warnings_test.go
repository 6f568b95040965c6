package lore_test

import (
	"strings"
	"testing"

	"jp/internal/scene"
	"jp/internal/scene/lore"
)

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		regex bool
		key   string
		want  string // part of the warning, or empty for none
	}{
		{true, `(a+)+$`, ""},
		{true, `/(a+)+$/`, ""},
		{true, `/x/gz`, ""},
		{true, `(`, "no regular expression"},
		{true, `/(/i`, "no regular expression"},
		{true, `foo(?=bar)`, "look-around"},
		{true, `/(?<!foo)bar/i`, "look-around"},
		{true, `(x{1000}){1000}`, "too large"},
		{true, strings.Repeat("(", 2000) + strings.Repeat(")", 2000), "too large"},
		{true, `/etc/passwd`, ""},
		{false, `/(/i`, "no regular expression"},
		{false, `/a\/(?!b)/`, "look-around"},
		{false, `(`, ""},
		{false, `/etc/(passwd`, ""},
		{false, `:(`, ""},
	} {
		e := scene.NewEntry()
		e.Regex, e.Keys, e.SecondaryKeys = c.regex, []string{"fine"}, []string{c.key}
		got := lore.Warnings(e)
		switch {
		case c.want == "" && len(got) != 0:
			t.Errorf("%q: %q", c.key, got)
		case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
			t.Errorf("%q: %q, want %q", c.key, got, c.want)
		}
	}
}
