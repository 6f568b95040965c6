package chat_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// transport answers every request itself.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sent returns what cfg's model posts for req.
func sent(t *testing.T, cfg chat.Config, req llm.Request) (*http.Request, []byte) {
	t.Helper()
	var got *http.Request
	var body []byte
	cfg.Transport = transport(func(r *http.Request) (*http.Response, error) {
		if got != nil {
			t.Errorf("a second request, %s %s", r.Method, r.URL)
		}
		got = r
		body, _ = io.ReadAll(r.Body)
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("data: [DONE]\n\n"))}, nil
	})
	for _, err := range chat.New(cfg).Stream(context.Background(), req) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got == nil {
		t.Fatal("nothing was sent")
	}
	return got, body
}

func dialect(t *testing.T, provider string) chat.Dialect {
	t.Helper()
	d, ok := chat.DialectOf(provider)
	if !ok {
		t.Fatalf("no dialect %q", provider)
	}
	return d
}

// TestRequests holds the exact bytes. The golden files show them indented;
// they are compared without the indentation, in which order, escapes and
// everything else count.
func TestRequests(t *testing.T) {
	files, err := filepath.Glob("testdata/requests/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			arc, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var req llm.Request
			if err := json.Unmarshal(arc.Files[0].Data, &req); err != nil {
				t.Fatal(err)
			}
			for i := range arc.Files[1:] {
				golden := &arc.Files[1+i]
				provider, base, _ := strings.Cut(golden.Name, " ")
				cfg := chat.Config{Provider: provider, Key: "k", BaseURL: base, Dialect: dialect(t, provider)}
				r, body := sent(t, cfg, req)
				cfg.Key = "" // to be seen without one
				if told, err := cfg.Body(req); err != nil || !bytes.Equal(told, body) {
					t.Errorf("Body is %s, %v", told, err)
				}
				line := r.Method + " " + r.URL.String() + "\n"
				var got bytes.Buffer
				got.WriteString(line)
				if err := json.Indent(&got, body, "", "  "); err != nil {
					t.Fatalf("%v in %s", err, body)
				}
				got.WriteByte('\n')
				if *update {
					golden.Data = got.Bytes()
					continue
				}
				if diff := cmp.Diff(string(golden.Data), got.String()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", golden.Name, diff)
				}
				var compact bytes.Buffer
				_, want, _ := bytes.Cut(golden.Data, []byte("\n"))
				if err := json.Compact(&compact, want); err != nil || compact.String() != string(body) {
					t.Errorf("%s is not compact: %s", golden.Name, body)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(arc), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
