package term

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
)

// whole renders a text as one parsed document, which is what streaming it
// must come to.
func whole(s Stream, text string) string {
	p := newPage(s, Look{})
	src := []byte(Clean(text))
	definition := false
	for n := p.parse(p.full, src).FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && !(definition && n.Kind() == ast.KindLinkReferenceDefinition) {
			p.out.WriteByte('\n')
		}
		definition = n.Kind() == ast.KindLinkReferenceDefinition
		p.block(n, src, nil)
	}
	return p.out.String()
}

// answers are the real answers of the shared conversations.
func answers(t *testing.T) []string {
	root, err := os.Getwd()
	for ; err == nil && root != filepath.Dir(root); root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
	}
	files, _ := filepath.Glob(filepath.Join(root, "..", "shared", "fixtures", "conversations", "*", "events.json"))
	if len(files) == 0 {
		t.Skip("the shared fixtures are not here")
	}
	var texts []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var events []struct{ Type, Message, Reasoning string }
		if err := json.Unmarshal(data, &events); err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			for _, text := range []string{e.Message, e.Reasoning} {
				if text != "" {
					texts = append(texts, text)
				}
			}
		}
	}
	return texts
}

func TestRealAnswers(t *testing.T) {
	texts := answers(t)
	if len(texts) < 20 {
		t.Fatalf("only %d answers were found", len(texts))
	}
	for _, text := range texts {
		for _, s := range []Stream{{Pretty: true}, {Pretty: true, Depth: Full, Width: 50}} {
			var out bytes.Buffer
			s.Writer = &out
			want := whole(s, text)
			for _, size := range []int{1, 4, 50, len(text)} {
				if diff := cmp.Diff(want, render(s, text, func() int { return size })); diff != "" {
					t.Errorf("chunks of %d of\n%s\n(-document +stream):\n%s", size, text, diff)
					break
				}
			}
		}
	}
}
