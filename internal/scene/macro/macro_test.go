package macro_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/scene/macro"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

var noon = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// counting are dice that show 0, 1, 2, … in turn.
func counting() func(int) int {
	k := -1
	return func(n int) int { k++; return k % n }
}

func TestInline(t *testing.T) {
	const path = "testdata/inline.txtar"
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(ar.Files)%2 != 0 {
		t.Fatal("cases come in pairs")
	}
	for i := 0; i < len(ar.Files); i += 2 {
		in, want := ar.Files[i], &ar.Files[i+1]
		t.Run(in.Name, func(t *testing.T) {
			if want.Name != in.Name+"/want" {
				t.Fatalf("%s is followed by %s", in.Name, want.Name)
			}
			text := strings.TrimSuffix(string(in.Data), "\n")
			got := macro.Inline(text, counting(), noon) + "\n"
			if *update {
				want.Data = []byte(got)
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Line ends around {{trim}} go, of either kind, and none of the rest.
func TestTrim(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\n\r\n{{trim}}\n\nb":           "ab",
		" a \n{{TRIM}}\n b":                " a  b",
		"{{trim}}":                         "",
		"a\n{{trim}}{{trim}}\nb":           "ab",
		"a\n{{random::{{trim}}}}\nb":       "a\nb",
		"a\n`{{trim}}`\nb":                 "a\n`{{trim}}`\nb",
		"a\n{{// gone}}\n{{trim::x}}\nb\n": "a\n\n{{trim::x}}\nb\n",
	} {
		if got := macro.Inline(in, counting(), noon); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

// Deep nesting and many loose braces cost no more than long text does: the
// test would not end if either were quadratic.
func TestOddSizes(t *testing.T) {
	const n = 200_000
	for name, text := range map[string]string{
		"open":     strings.Repeat("{{", n),
		"shut":     strings.Repeat("}}", n),
		"nested":   strings.Repeat("{{random::", n) + strings.Repeat("}}", n),
		"unknown":  strings.Repeat("{{ x {{", n) + strings.Repeat("}}", 2*n),
		"ticks":    strings.Repeat("` ", n) + strings.Repeat("``", n),
		"trims":    strings.Repeat("x\n{{trim}}", n),
		"comments": strings.Repeat("{{//", n) + strings.Repeat("}}", n),
	} {
		got := macro.Inline(text, counting(), noon)
		if len(got) > len(text) {
			t.Errorf("%s grew", name)
		}
	}
}

func FuzzInline(f *testing.F) {
	for _, s := range []string{
		"", "{{user}}", "{{roll::2d6}}", "{{random::a::{{pick::b::c}}}}", "`{{time}}` {{date}}",
		"{{{{", "}}{{", "{{random:a,b}}\n{{trim}}\n", "{{// x {{y}} }}", "{{roll::99999999999999999999d6}}", "{{RoLl:d20-3}}",
	} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		run := func() string { return macro.Inline(text, rand.New(rand.NewPCG(seed, 1)).IntN, noon) }
		got := run()
		if again := run(); again != got {
			t.Fatalf("%q gave %q, then %q", text, got, again)
		}
		if !strings.Contains(text, "{{") && got != text {
			t.Fatalf("%q has no macro and became %q", text, got)
		}
		// A text in which every macro stays is not changed at all.
		plain := strings.ReplaceAll(text, "{{", "{{keep ")
		if got := macro.Inline(plain, func(int) int { panic("no dice here") }, noon); got != plain {
			t.Fatalf("%q became %q", plain, got)
		}
		// In a literal span nothing is a macro.
		framed := "`" + strings.NewReplacer("`", "", "\n", " ").Replace(text) + "`"
		if got := macro.Inline(framed, rand.IntN, noon); got != framed {
			t.Fatalf("the literal %q became %q", framed, got)
		}
	})
}
