package chat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/llmtest"
)

// recording is an answer of a real provider.
type recording struct {
	contentType, body string
}

// recordings reads the answers of a file: in each document, the content type
// and the indented block under "body:". That is all of YAML that is in use.
func recordings(t *testing.T, file string) []recording {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []recording
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		_, then, ok := strings.Cut(doc, "then:\n")
		head, block, found := strings.Cut(then, "  body: |+\n")
		if !ok || !found {
			t.Fatalf("%s: a document without a recorded body", file)
		}
		_, kind, _ := strings.Cut(head, "content-type\n      value: ")
		kind, _, _ = strings.Cut(kind, "\n")
		lines := strings.SplitAfter(block, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(line, "    ")
		}
		all = append(all, recording{kind, strings.Join(lines, "")})
	}
	return all
}

// shared finds the folder of fixtures beside the repository.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the tests")
		}
		dir = up
	}
	dir = filepath.Join(dir, "../shared/fixtures/providers")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the recordings in ../shared/fixtures are absent")
	}
	return dir
}

// summary is what came of a stream, for a person to check.
func summary(t *testing.T, m llm.Model) string {
	t.Helper()
	var text, thought strings.Builder
	var calls []llm.ToolDelta
	var tail strings.Builder
	finishes := 0
	for c, err := range m.Stream(t.Context(), llm.Request{Model: "m"}) {
		if err != nil {
			fmt.Fprintf(&tail, "error: %v\n", err)
			continue
		}
		text.WriteString(c.Text)
		thought.WriteString(c.Reasoning)
		if d := c.Tool; d != nil {
			if d.Index == len(calls) {
				calls = append(calls, llm.ToolDelta{ID: d.ID, Name: d.Name})
			}
			calls[d.Index].Arguments += d.Arguments
		}
		if c.Replay != nil {
			fmt.Fprintf(&tail, "replay: %s\n", abridged(t, c.Replay))
		}
		if c.Finish != "" {
			finishes++
			fmt.Fprintf(&tail, "usage: %+v\nfinish: %s\n", *c.Usage, c.Finish)
		}
	}
	if finishes > 1 {
		t.Errorf("%d finishes", finishes)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "reasoning: %q\ntext: %q\n", thought.String(), text.String())
	for _, c := range calls {
		fmt.Fprintf(&out, "call: %s %s %s\n", c.ID, c.Name, c.Arguments)
	}
	return out.String() + tail.String()
}

// abridged shows a value with its long strings cut.
func abridged(t *testing.T, v any) string {
	t.Helper()
	var cut func(v any) any
	cut = func(v any) any {
		switch v := v.(type) {
		case string:
			if len(v) > 60 {
				return fmt.Sprintf("%s… (%d bytes)", v[:20], len(v))
			}
		case []any:
			var out []any
			for _, e := range v {
				out = append(out, cut(e))
			}
			return out
		case map[string]any:
			out := map[string]any{}
			for k, e := range v {
				out[k] = cut(e)
			}
			return out
		}
		return v
	}
	b, err := json.Marshal(cut(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// answering is a transport that gets this body, status 200.
func answering(body io.Reader) http.RoundTripper {
	return transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(body)}, nil
	})
}

// oneByte is a transport that gets this body a byte at a time.
func oneByte(body string) http.RoundTripper {
	return answering(iotest.OneByteReader(strings.NewReader(body)))
}

// TestRecorded reads what real providers answered, through a server and byte
// by byte, and compares with summaries that were checked by eye.
func TestRecorded(t *testing.T) {
	t.Run("own", func(t *testing.T) { testRecorded(t, "testdata/own", "ollama") })
	for _, provider := range []string{"llamacpp", "openrouter", "cerebras"} {
		t.Run(provider, func(t *testing.T) { testRecorded(t, filepath.Join(shared(t), provider), provider) })
	}
}

func testRecorded(t *testing.T, dir, provider string) {
	server := llmtest.NewServer()
	defer server.Close()
	d, ok := chat.DialectOf(provider)
	if !ok { // a compatible server
		d = dialect(t, "openai")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in %s, %v", len(files), dir, err)
	}
	for _, file := range files {
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".yml"), "test_")
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for i, r := range recordings(t, file) {
				server.Script("m", llmtest.Raw(r.body).WithHeader("Content-Type", r.contentType))
				whole := summary(t, chat.New(chat.Config{BaseURL: server.URL, Dialect: d, Transport: &http.Transport{}}))
				fmt.Fprintf(&got, "# answer %d\n%s\n", i+1, whole)
				bytes := summary(t, chat.New(chat.Config{BaseURL: server.URL, Dialect: d, Transport: oneByte(r.body)}))
				if diff := cmp.Diff(whole, bytes); diff != "" {
					t.Errorf("answer %d differs byte by byte (-whole +bytes):\n%s", i+1, diff)
				}
			}
			golden(t, filepath.Join("testdata/recorded", provider+"_"+name+".txt"), got.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
