package macro_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/scene/macro"
)

// inn is the scope that testdata/scope.txtar describes.
func inn() macro.Scope {
	return macro.Scope{
		User: "{{char}}", Char: "Alice", Cast: "Alice, Bob", Now: noon,
		Description: "I, {{char}}, know {{user}}. {{description}}{{roll::1d6}}", HasDescription: true,
		Original: "Be {{char}}. {{original}}Now: {{roll::1d6}}.", HasOriginal: true,
		Dice: func(_ string, nth int) func(int) int { return func(n int) int { return nth % n } },
	}
}

func TestScope(t *testing.T) {
	const path = "testdata/scope.txtar"
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(ar.Files)%3 != 0 {
		t.Fatal("a case is a text and what becomes of it in two ways")
	}
	for i := 0; i < len(ar.Files); i += 3 {
		in := ar.Files[i]
		text := strings.TrimSuffix(string(in.Data), "\n")
		for k, got := range []string{macro.Resolve(text, inn()), macro.Stored(text, inn())} {
			want := &ar.Files[i+1+k]
			if name := in.Name + []string{"/want", "/stored"}[k]; want.Name != name {
				t.Fatalf("%s stands where %s should", want.Name, name)
			}
			if *update {
				want.Data = []byte(got + "\n")
			}
			if diff := cmp.Diff(string(want.Data), got+"\n"); diff != "" {
				t.Errorf("%s (-want +got)\n%s", want.Name, diff)
			}
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What a scope does not have stays as it is written.
func TestEmptyScope(t *testing.T) {
	const text = "{{user}} {{Char}} {{cast}} {{description}} {{original}} {{roll::1d6}} {{random::a::b}}"
	for _, f := range []func(string, macro.Scope) string{macro.Resolve, macro.Stored} {
		if got := f(text, macro.Scope{}); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := macro.Resolve("<{{description}}{{original}}>", macro.Scope{HasDescription: true, HasOriginal: true}); got != "<>" {
		t.Errorf("an empty description is %q", got)
	}
}

// Seeded dice depend on the seed, the macro and its place among equal ones
// alone. The numbers are fixed for good: scenes would change with them.
func TestSeeded(t *testing.T) {
	roll := func(seed, text string) string {
		return macro.Resolve(text, macro.Scope{Dice: macro.Seeded(seed)})
	}
	if got := roll("seed", "{{roll::1d1000}} {{roll::3d1000}} {{roll::1d1000}} {{pick::a::b::c::d}}"); got != "108 1407 245 c" {
		t.Errorf("the dice of a scene changed: %s", got)
	}
	alone, among := roll("seed", "{{roll::2d100}}"), roll("seed", "{{roll::1d6}} {{pick::a::b}} {{roll::2d100}}")
	if !strings.HasSuffix(among, " "+alone) {
		t.Errorf("%s among others is %s", alone, among)
	}
	faces, seeds, first := map[string]int{}, map[string]bool{}, map[bool]int{}
	const n = 6000
	for i := range n {
		face := roll(fmt.Sprint(i), "{{roll::1d6}}")
		faces[face]++
		seeds[roll(fmt.Sprint(i), "{{roll::1d1000000}}")] = true
		a, b, _ := strings.Cut(roll(fmt.Sprint(i), "{{pick::a::b}} {{pick::a::b}}"), " ")
		first[a == b]++
	}
	for face := range 6 {
		if got := faces[fmt.Sprint(face+1)]; got < n/6-200 || got > n/6+200 {
			t.Errorf("of %d seeds %d show %d", n, got, face+1)
		}
	}
	if len(seeds) < n*9/10 || first[true] < n/2-300 || first[true] > n/2+300 {
		t.Errorf("%d seeds make %d rolls, %d times alike twice", n, len(seeds), first[true])
	}
}

// A text that would grow without end keeps the macros that have no room, and
// nesting costs no more than length.
func TestBounds(t *testing.T) {
	const n = 30_000
	long := strings.Repeat("long ", n)
	for name, text := range map[string]string{
		"descriptions": strings.Repeat("{{description}}", n),
		"names":        strings.Repeat("{{user}}", n),
		"nested":       strings.Repeat("{{random::", n) + "{{user}}" + strings.Repeat("}}", n),
		"dice":         strings.Repeat("{{roll::9d9}}", n),
	} {
		s := macro.Scope{User: long, Description: long, HasDescription: true, Dice: macro.Seeded(name)}
		if got := macro.Resolve(text, s); len(got) > 8<<20+len(text) {
			t.Errorf("%s grew to %d bytes", name, len(got))
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{
		"", "{{user}}", "{{description}} {{char}}", "{{random::{{user}}::{{cast}}}}", "`{{char}}` {{char}}", "{{{{user}}}}",
		"{{original}}{{trim}}\n", "{{// {{user}} }}", "{{roll::2d6}} {{roll::2d6}}", "{{USER}}{{ user }}",
	} {
		f.Add(s, "Jean", "I am {{char}}.")
	}
	f.Fuzz(func(t *testing.T, text, name, description string) {
		s := macro.Scope{
			User: name, Char: "Alice", Cast: "Alice, Bob", Now: noon, Dice: macro.Seeded("s"),
			Description: description, HasDescription: true,
		}
		got := macro.Resolve(text, s)
		if again := macro.Resolve(text, s); again != got {
			t.Fatalf("%q gave %q, then %q", text, got, again)
		}
		if !strings.Contains(text, "{{") && (got != text || macro.Stored(text, s) != text) {
			t.Fatalf("%q has no macro and became %q", text, got)
		}
		// With the names of a scope that has none, only the clock and the like are
		// replaced: what Inline does, with the same dice.
		bare := macro.Resolve(text, macro.Scope{Now: noon, Dice: func(string, int) func(int) int { return func(int) int { return 0 } }})
		if inline := macro.Inline(text, func(int) int { return 0 }, noon); bare != inline {
			t.Fatalf("%q is %q alone and %q in a scope of nothing", text, inline, bare)
		}
		// A name is never read: it stands in the result as often as a plain one.
		hostile := s
		hostile.User = "{{char}}{{description}}{{roll::1d6}}\x01"
		plain := s
		plain.User = "\x01"
		a := strings.Count(macro.Stored(text, hostile), "\x01")
		if b := strings.Count(macro.Stored(text, plain), "\x01"); a != b {
			t.Fatalf("in %q the name is there %d times, or %d", text, a, b)
		}
		named := macro.Resolve(text, hostile)
		if a := strings.ReplaceAll(named, hostile.User, "\x01"); a != macro.Resolve(text, plain) {
			t.Fatalf("in %q the name was read: %q", text, named)
		}
		framed := "`" + strings.NewReplacer("`", "", "\n", " ").Replace(text) + "`"
		if got := macro.Resolve(framed, s); got != framed {
			t.Fatalf("the literal %q became %q", framed, got)
		}
	})
}
