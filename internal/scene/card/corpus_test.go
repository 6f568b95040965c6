package card_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/card"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// corpus is every case by its path.
func corpus(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	cases := map[string]*txtar.Archive{}
	for _, p := range paths {
		if cases[p], err = txtar.ParseFile(p); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

// TestCorpus: odd and broken files each come to the outcome that their case
// writes down, and a card that came in goes out and in again as it is.
func TestCorpus(t *testing.T) {
	for path, arc := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, name := build(t, arc)
			p, err := card.Decode(data, name)
			got := outcome(p, err, data)
			last := len(arc.Files) - 1
			if *update {
				if arc.Files[last].Name != "want" {
					arc.Files = append(arc.Files, txtar.File{Name: "want"})
					last++
				}
				arc.Files[last].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(arc), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if arc.Files[last].Name != "want" {
				t.Fatal("the case has no want section at its end")
			}
			if diff := cmp.Diff(string(arc.Files[last].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err == nil {
				roundTrip(t, p)
			}
		})
	}
}

// outcome is what came of a file, for people.
func outcome(p card.Parsed, err error, file []byte) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "%s: %v\n", fault.CodeOf(err), err)
		if hint := fault.HintOf(err); hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", hint)
		}
		return b.String()
	}
	c := p.Card
	if len(c.ID) != 36 || strings.Count(c.ID, "-") != 4 {
		fmt.Fprintf(&b, "id: %s\n", c.ID)
	}
	fmt.Fprintf(&b, "format: %s\n", c.Format)
	for _, f := range []struct{ name, text string }{
		{"name", c.Name},
		{"description", c.Description},
		{"personality", c.Personality},
		{"scenario", c.Scenario},
		{"first message", c.FirstMessage},
		{"examples", c.Examples},
		{"creator notes", c.CreatorNotes},
		{"system prompt", c.SystemPrompt},
		{"post history", c.PostHistory},
		{"creator", c.Creator},
		{"version", c.Version},
	} {
		if f.text != "" {
			fmt.Fprintf(&b, "%s: %+q\n", f.name, f.text)
		}
	}
	if c.Greetings != nil {
		fmt.Fprintf(&b, "greetings: %+q\n", c.Greetings)
	}
	if c.Tags != nil {
		fmt.Fprintf(&b, "tags: %+q\n", c.Tags)
	}
	if string(c.Extensions) != "{}" {
		fmt.Fprintf(&b, "extensions: %s\n", c.Extensions)
	}
	if p.Book != nil {
		fmt.Fprintf(&b, "book: %q, entries %d\n", p.Book.World.Name, len(p.Book.Entries))
	}
	if p.Avatar != nil {
		fmt.Fprintf(&b, "avatar: %s%s\n", p.Avatar.MIME, whole(p.Avatar, file))
	}
	for _, line := range p.Report {
		fmt.Fprintf(&b, "report: %s\n", line)
	}
	return b.String()
}

func whole(a *scene.Avatar, file []byte) string {
	if bytes.Equal(a.Data, file) {
		return ", the whole file"
	}
	return ""
}

// roundTrip checks that a card that came in goes out and in again as it is, as
// JSON and as PNG, and is spelled the same each time.
func roundTrip(t testing.TB, p card.Parsed) {
	t.Helper()
	want := p.Card
	want.Format = "tavern_v3"
	wire, err := card.EncodeJSON(p.Card, p.Book)
	if err != nil {
		t.Fatal(err)
	}
	for kind, encode := range map[string]func(card.Parsed) ([]byte, error){
		"JSON": func(p card.Parsed) ([]byte, error) { return card.EncodeJSON(p.Card, p.Book) },
		"PNG":  func(p card.Parsed) ([]byte, error) { return card.EncodePNG(p.Card, p.Avatar, p.Book) },
	} {
		file, err := encode(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := card.Decode(file, "another name.png")
		if err != nil {
			t.Fatalf("%s: %v\n%s", kind, err, wire)
		}
		if diff := cmp.Diff(want, again.Card); diff != "" {
			t.Errorf("%s (-before +after):\n%s", kind, diff)
		}
		if diff := cmp.Diff(p.Book, again.Book); diff != "" {
			t.Errorf("%s, book (-before +after):\n%s", kind, diff)
		}
		if twice, err := encode(again); err != nil || !bytes.Equal(file, twice) {
			t.Errorf("%s: it is written otherwise the second time: %v", kind, err)
		}
		if got, err := card.EncodeJSON(again.Card, again.Book); err != nil || !bytes.Equal(got, wire) {
			t.Errorf("%s: %v\n%s\nwant\n%s", kind, err, got, wire)
		}
	}
}
