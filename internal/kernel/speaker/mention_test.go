package speaker_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/kernel/speaker"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

var known = []string{"dev", "architect", "reviewer", "dev2"}

func TestMentions(t *testing.T) {
	const path = "testdata/mentions.txtar"
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(ar.Files)%2 != 0 {
		t.Fatal("cases come in pairs")
	}
	for i := 0; i < len(ar.Files); i += 2 {
		in, want := ar.Files[i], &ar.Files[i+1]
		name, kind, _ := strings.Cut(in.Name, "/")
		t.Run(name, func(t *testing.T) {
			if want.Name != name+"/want" {
				t.Fatalf("%s is followed by %s", in.Name, want.Name)
			}
			text := strings.TrimSuffix(string(in.Data), "\n")
			if kind == "quoted" {
				if text, err = strconv.Unquote(text); err != nil {
					t.Fatal(err)
				}
			}
			got := read(text)
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

func read(text string) string {
	var b strings.Builder
	for _, name := range speaker.Mentions(text) {
		fmt.Fprintf(&b, "mention %s\n", name)
	}
	for _, m := range speaker.NearMisses(text, known) {
		fmt.Fprintf(&b, "near miss %s of %s\n", m.Text, m.Name)
	}
	for _, path := range speaker.Files(text) {
		fmt.Fprintf(&b, "file %q\n", path)
	}
	return b.String()
}

func FuzzMentions(f *testing.F) {
	ar, err := txtar.ParseFile("testdata/mentions.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range ar.Files {
		f.Add(string(file.Data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		spans := speaker.Spans(text)
		last := 0
		for _, s := range spans {
			if s.Start < last || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("spans %v overlap or leave the text", spans)
			}
			last = s.End
		}
		inSpan := func(at int) bool {
			for _, s := range spans {
				if s.Start <= at && at < s.End {
					return true
				}
			}
			return false
		}
		// find looks for a word in the spans, at from or behind it.
		find := func(word string, from int) (end int, ok bool) {
			for i := from; ; i++ {
				n := strings.Index(text[i:], word)
				if n < 0 {
					return 0, false
				}
				i += n
				before, _ := utf8.DecodeLastRuneInString(text[:i])
				if inSpan(i) && (i == 0 || unicode.IsSpace(before)) {
					return i + len(word), true
				}
			}
		}
		names := speaker.Mentions(text)
		end, ok := 0, true
		for _, name := range names {
			if end, ok = find("@"+name, end); !ok || !speaker.ValidID(name) {
				t.Fatalf("the mention of %q is no name, or not in the text in this order", name)
			}
		}
		for _, miss := range speaker.NearMisses(text, names) {
			if !strings.Contains(text, miss.Text) || !strings.EqualFold(miss.Text, "@"+miss.Name) {
				t.Fatalf("near miss %+v", miss)
			}
		}
		end = 0
		for _, path := range speaker.Files(text) {
			if end, ok = find("file:"+path, end); !ok || path == "" {
				t.Fatalf("the file reference to %q is empty, or not in the text in this order", path)
			}
		}
	})
}

// Hostile text must cost about what its length says. The test has no clock of
// its own: anything quadratic here runs into the test binary's time limit.
func TestHostileText(t *testing.T) {
	const n = 1 << 20
	var growing strings.Builder
	for i := 1; growing.Len() < n; i++ {
		growing.WriteString(strings.Repeat("`", i) + " ")
	}
	for name, text := range map[string]string{
		"markers":   strings.Repeat(">", n),
		"lists":     strings.Repeat("- ", n/2),
		"backticks": growing.String(),
		"pairs":     strings.Repeat("` ", n/2),
		"signs":     strings.Repeat("@", n),
		"mentions":  strings.Repeat("@dev ", n/5),
		"fences":    strings.Repeat("```\n", n/4),
		"nested":    nestedLists(1000),
		"brackets":  strings.Repeat("[x\n", n/3) + "]:",
	} {
		t.Run(name, func(t *testing.T) {
			_ = read(text)
			_ = speaker.EscapeLabels(text, known)
		})
	}
}

func nestedLists(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}
