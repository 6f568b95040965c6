package catalog_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm/catalog"
	"jp/internal/lib/fault"
)

// net is a network of servers by host; others cannot be reached. Text "hang"
// is a server that never answers.
type net struct {
	mu    sync.Mutex
	texts map[string]string
	asked []string
	keys  []string
}

func (n *net) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	n.asked = append(n.asked, r.URL.String())
	n.keys = append(n.keys, r.Header.Get("Authorization"))
	text, ok := n.texts[r.URL.Host]
	n.mu.Unlock()
	switch {
	case !ok:
		return nil, errors.New("connection refused")
	case text == "hang":
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Request: r}
	if code, ok := map[string]int{"401": 401, "404": 404, "302": 302}[text]; ok {
		resp.StatusCode, text = code, "<html>"
		resp.Header.Set("Location", "http://elsewhere.example/v1/models")
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &net{texts: map[string]string{
			"ok.example":     `{"object":"list","data":[{"id":"b"},{"id":"a","x":1},{"id":"b"},{"id":""},{"id":"c\u001b[2J"},{"id":"` + strings.Repeat("x", 301) + `"}]}`,
			"none.example":   `{"data":[]}`,
			"html.example":   `<html>`,
			"other.example":  `{"models":[]}`,
			"long.example":   `{"data":[{"id":"` + strings.Repeat("x", 5<<20) + `"}]}`,
			"401.example":    "401",
			"404.example":    "404",
			"302.example":    "302",
			"silent.example": "hang",
			"127.0.0.1:8080": `{"data":[{"id":"local"}]}`,
			"plain.example":  `{"data":[]}`,
		}}
		for _, tt := range []struct {
			base, key string
			want      []string
			code      fault.Code
		}{
			{"https://ok.example/v1", "k", []string{"a", "b"}, ""},
			{"https://ok.example/v1/", "", []string{"a", "b"}, ""},
			{"https://none.example/v1", "", []string{}, ""},
			{"http://127.0.0.1:8080/v1", "k", []string{"local"}, ""},
			{"http://plain.example/v1", "", []string{}, ""},
			{"http://plain.example/v1", "k", nil, fault.Invalid},
			{"ftp://ok.example/v1", "", nil, fault.Invalid},
			{"ok", "", nil, fault.Invalid},
			{"http://%zz", "", nil, fault.Invalid},
			{"https://html.example/v1", "", nil, fault.Provider},
			{"https://other.example/v1", "", nil, fault.Provider},
			{"https://long.example/v1", "", nil, fault.Provider},
			{"https://401.example/v1", "k", nil, fault.Provider},
			{"https://404.example/v1", "", nil, fault.Provider},
			{"https://302.example/v1", "k", nil, fault.Provider},
			{"https://silent.example/v1", "", nil, fault.Provider},
			{"https://gone.example/v1", "", nil, fault.Provider},
		} {
			got, err := catalog.List(t.Context(), n, tt.base, tt.key)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.base, diff)
			}
			if tt.code == "" && err != nil || tt.code != "" && (fault.CodeOf(err) != tt.code || fault.HintOf(err) == "") {
				t.Errorf("%s: error %v, hint %q", tt.base, err, fault.HintOf(err))
			}
			if err != nil && strings.Contains(err.Error(), "k ") {
				t.Errorf("%s: the key is in %q", tt.base, err)
			}
		}
		if n.asked[0] != "https://ok.example/v1/models" || n.asked[1] != n.asked[0] || n.keys[0] != "Bearer k" || n.keys[1] != "" {
			t.Errorf("asked %v with keys %v", n.asked[:2], n.keys[:2])
		}
		if slices.ContainsFunc(n.asked, func(u string) bool { return strings.Contains(u, "elsewhere") }) {
			t.Error("a redirect was followed")
		}
	})
}

func TestStoppedList(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fault.New(fault.Interrupted, "stop"))
	n := &net{texts: map[string]string{"silent.example": "hang"}}
	if _, err := catalog.List(ctx, n, "https://silent.example/v1", ""); fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("error %v", err)
	}
}

func TestFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &net{texts: map[string]string{
			"127.0.0.1:11434": `{"data":[{"id":"llama"}]}`,
			"127.0.0.1:8080":  "hang",
			"127.0.0.1:1234":  `{"data":[]}`,
		}}
		want := []catalog.Server{
			{Name: "Ollama", URL: "http://127.0.0.1:11434/v1", Models: []string{"llama"}},
			{Name: "LM Studio", URL: "http://127.0.0.1:1234/v1", Models: []string{}},
		}
		if diff := cmp.Diff(want, catalog.Found(t.Context(), n)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, u := range n.asked {
			if !strings.HasPrefix(u, "http://127.0.0.1:") {
				t.Errorf("%s was asked", u)
			}
		}
		if diff := cmp.Diff([]catalog.Server{}, catalog.Found(t.Context(), &net{})); diff != "" {
			t.Error(diff)
		}
	})
}
