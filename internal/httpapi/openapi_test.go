package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/openapi.json anew")

const descriptionFile = "../../docs/openapi.json"

// TestDescription keeps the committed description what the routes say. The
// page's TypeScript types are made from it: make types.
func TestDescription(t *testing.T) {
	doc := newAPI(Config{Version: "development"}).huma.OpenAPI()
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(descriptionFile, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(descriptionFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got.Bytes()) {
		t.Errorf("docs/openapi.json is stale: go test ./internal/httpapi -run Description -update, then make types\n%s",
			cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")))
	}
}

// TestDescriptionIsOurs looks for what huma says by itself, and for operations
// that say too little.
func TestDescriptionIsOurs(t *testing.T) {
	doc := newAPI(Config{Version: "development"}).huma.OpenAPI()
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("version %s", doc.OpenAPI)
	}
	for _, foreign := range []string{"ErrorModel", "problem+json", `"type":""`, `"type":["",`, "$schema", "additionalProperties\":false", "additionalProperties\":true"} {
		if strings.Contains(string(raw), foreign) {
			t.Errorf("the description holds %s", foreign)
		}
	}
	for path, item := range doc.Paths {
		for method, op := range map[string]any{"get": item.Get, "put": item.Put, "post": item.Post, "delete": item.Delete} {
			if text, _ := json.Marshal(op); string(text) != "null" && (!strings.Contains(string(text), `"summary":`) || !strings.Contains(string(text), `"default":`)) {
				t.Errorf("%s %s says neither what it does nor how it fails", method, path)
			}
		}
		if item.Patch != nil || item.Head != nil || item.Options != nil {
			t.Errorf("%s: methods that tidySchemas does not know", path)
		}
	}
	for name, s := range doc.Components.Schemas.Map() {
		for field, p := range s.Properties {
			if p.Type == "array" && p.Nullable {
				t.Errorf("%s.%s may be null", name, field)
			}
		}
		if slices.Contains(s.Required, "") {
			t.Errorf("%s requires a field without a name", name)
		}
	}
}
