package card_test

import (
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"jp/internal/lib/fault"
	"jp/internal/scene/card"
)

func parse(text string) *txtar.Archive { return txtar.Parse([]byte(text)) }

// fuzz seeds a fuzz test with the files of a folder of the corpus.
func fuzz(f *testing.F, folder string) {
	for path, arc := range corpus(f) {
		if !strings.Contains(path, folder) || strings.Contains(path, "bomb") {
			continue
		}
		data, _ := build(f, arc)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := card.Decode(data, "fuzz.png")
		if err != nil {
			if fault.CodeOf(err) != fault.Invalid || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", fault.CodeOf(err), err)
			}
			return
		}
		if strings.TrimSpace(p.Card.Name) == "" || p.Card.ID == "" || !json.Valid(p.Card.Extensions) {
			t.Errorf("name %q, id %q, extensions %s", p.Card.Name, p.Card.ID, p.Card.Extensions)
		}
		for _, line := range p.Report {
			if line == "" || strings.Contains(line, "\n") {
				t.Errorf("%q is no line", line)
			}
		}
		roundTrip(t, p)
	})
}

func FuzzJSON(f *testing.F)  { fuzz(f, "json") }
func FuzzPNG(f *testing.F)   { fuzz(f, "png") }
func FuzzCharX(f *testing.F) { fuzz(f, "charx") }
