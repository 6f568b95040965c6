package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// wire keeps the last request and answers it with one word.
type wire struct {
	to   *url.URL
	head http.Header
	body map[string]any
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.to, w.head, w.body = r.URL, r.Header, map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&w.body); err != nil {
		return nil, err
	}
	text := `data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// asked opens a lane and makes one call.
func asked(t *testing.T, e scene.Endpoint, m scene.ModelConfig) (*wire, pipeline.Lane) {
	t.Helper()
	w := &wire{}
	lane, err := (&models{http: w}).Open(e, m)
	if err != nil {
		t.Fatal(err)
	}
	req := llm.Request{Model: lane.Name, Params: lane.Params, Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}}
	for _, err := range lane.Model.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
	}
	delete(w.body, "messages")
	delete(w.body, "stream")
	delete(w.body, "stream_options")
	return w, lane
}

// TestWhatServersAreSent is the table of servers: how they are known, what they
// are sent, and how answers are forced.
func TestWhatServersAreSent(t *testing.T) {
	all := scene.DefaultModel("e", scene.LaneWriter)
	all.Model, all.ReasoningEffort = "m", "low"
	base := map[string]any{"model": "m", "temperature": 0.8, "top_p": 0.95}
	with := func(more map[string]any) map[string]any {
		out := map[string]any{}
		for _, from := range []map[string]any{base, more} {
			for k, v := range from {
				out[k] = v
			}
		}
		return out
	}
	local := with(map[string]any{"max_tokens": 4096.0, "top_k": 40.0, "min_p": 0.0, "repetition_penalty": 1.0, "reasoning_effort": "low"})
	llama := map[string]any{
		"max_tokens": 4096.0, "top_k": 40.0, "min_p": 0.0, "repeat_penalty": 1.0,
		"reasoning_format": "deepseek", "chat_template_kwargs": map[string]any{"enable_thinking": true},
	}
	for name, tt := range map[string]struct {
		url, provider string
		to            string
		forcing       pipeline.Forcing
		body          map[string]any
	}{
		"OpenAI":               {"https://api.openai.com/v1", "", "https://api.openai.com/v1/chat/completions", pipeline.ByTool, with(map[string]any{"max_completion_tokens": 4096.0, "reasoning_effort": "low"})},
		"OpenRouter":           {"https://openrouter.ai/api/v1", "", "https://openrouter.ai/api/v1/chat/completions", pipeline.ByTool, with(map[string]any{"max_tokens": 4096.0, "top_k": 40.0, "min_p": 0.0, "repetition_penalty": 1.0, "reasoning": map[string]any{"effort": "low"}})},
		"Ollama":               {"http://127.0.0.1:11434/v1", "", "http://127.0.0.1:11434/v1/chat/completions", pipeline.BySchema, with(map[string]any{"max_tokens": 4096.0, "reasoning_effort": "low"})},
		"llama.cpp":            {"http://localhost:8080/v1", "", "http://localhost:8080/v1/chat/completions", pipeline.BySchema, with(llama)},
		"llama.cpp, said":      {"http://localhost:9999/v1", "llamacpp", "http://localhost:9999/v1/chat/completions", pipeline.BySchema, with(llama)},
		"any other":            {"http://localhost:5000/v1", "", "http://localhost:5000/v1/chat/completions", pipeline.ByTool, local},
		"any other, elsewhere": {"https://models.example/v1", "", "https://models.example/v1/chat/completions", pipeline.ByTool, local},
	} {
		t.Run(name, func(t *testing.T) {
			key := "k"
			if strings.HasPrefix(tt.url, "http:") {
				key = ""
			}
			w, lane := asked(t, scene.Endpoint{URL: tt.url, Provider: tt.provider, Key: key}, all)
			if w.to.String() != tt.to || lane.Forcing != tt.forcing || lane.Name != "m" {
				t.Errorf("%s, forcing %d, %q", w.to, lane.Forcing, lane.Name)
			}
			if diff := cmp.Diff(tt.body, w.body); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := w.head.Get("Authorization"); (key != "") != (got == "Bearer k") {
				t.Errorf("Authorization %q", got)
			}
		})
	}
}

// TestNothingUnsaidIsSent opens a model without parameters, and one with fields
// of its own.
func TestNothingUnsaidIsSent(t *testing.T) {
	e := scene.Endpoint{URL: "http://localhost:5000/v1"}
	w, _ := asked(t, e, scene.ModelConfig{Model: "m"})
	if diff := cmp.Diff(map[string]any{"model": "m"}, w.body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w, _ = asked(t, e, scene.ModelConfig{
		Model: "m", ReasoningEffort: "ponder", ReasoningParam: "budget", ReasoningValue: "12",
		ExtraHeaders: "X-Title: jp\n\nX-Two: a: b\n", ExtraBody: `{"mirostat":2,"budget":{"n":1}}`,
	})
	want := map[string]any{"model": "m", "reasoning_effort": "ponder", "mirostat": 2.0, "budget": map[string]any{"n": 1.0}}
	if diff := cmp.Diff(want, w.body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if w.head.Get("X-Title") != "jp" || w.head.Get("X-Two") != "a: b" {
		t.Errorf("headers %v", w.head)
	}
}

// TestLanesThatCannotBe are refused before anything is sent.
func TestLanesThatCannotBe(t *testing.T) {
	for name, tt := range map[string]struct {
		e scene.Endpoint
		m scene.ModelConfig
	}{
		"no key":                 {scene.Endpoint{URL: "https://api.openai.com/v1"}, scene.ModelConfig{Model: "m"}},
		"a key in the clear":     {scene.Endpoint{URL: "http://models.example/v1", Key: "k"}, scene.ModelConfig{Model: "m"}},
		"a header in the clear":  {scene.Endpoint{URL: "http://models.example/v1"}, scene.ModelConfig{Model: "m", ExtraHeaders: "authorization: Bearer k"}},
		"no URL":                 {scene.Endpoint{URL: "models"}, scene.ModelConfig{Model: "m"}},
		"a field of the wire":    {scene.Endpoint{URL: "http://localhost:1/v1"}, scene.ModelConfig{Model: "m", ExtraBody: `{"messages":[]}`}},
		"a parameter of it":      {scene.Endpoint{URL: "http://localhost:1/v1"}, scene.ModelConfig{Model: "m", ReasoningParam: "stream", ReasoningValue: "false"}},
		"a body that is no JSON": {scene.Endpoint{URL: "http://localhost:1/v1"}, scene.ModelConfig{Model: "m", ExtraBody: `[`}},
	} {
		_, err := (&models{http: &wire{}}).Open(tt.e, tt.m)
		if fault.CodeOf(err) != fault.Config || fault.HintOf(err) == "" || strings.Contains(err.Error(), "Bearer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProxiesAreKept uses one transport for all calls through a proxy.
func TestProxiesAreKept(t *testing.T) {
	s := &models{http: &http.Transport{}}
	one, two := s.through("http://localhost:3128"), s.through("http://localhost:3128")
	if one != two || one == s.http || s.through("") != s.http {
		t.Error("a proxy has no transport of its own, or several")
	}
	r, _ := http.NewRequest(http.MethodPost, "https://models.example/v1", nil)
	if to, err := one.(*http.Transport).Proxy(r); err != nil || to.String() != "http://localhost:3128" {
		t.Errorf("by way of %v, %v", to, err)
	}
	if lane := s.Rehearsal("Ada"); lane.Model == nil || lane.Name != "offline/rehearsal" {
		t.Errorf("%+v", lane)
	}
}

// props answers every request with a context and counts.
type props struct{ asked int }

func (p *props) RoundTrip(r *http.Request) (*http.Response, error) {
	p.asked++
	body := io.NopCloser(strings.NewReader(`{"default_generation_settings":{"n_ctx":4096}}`))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
}

// The context is what is configured, else what llama.cpp says, asked once a
// minute; other servers do not say.
func TestContextOfLanes(t *testing.T) {
	now, p := time.Unix(0, 0), &props{}
	s := &models{http: p, now: func() time.Time { return now }}
	open := func(base string, size *int) pipeline.Lane {
		m := scene.DefaultModel("e", scene.LaneWriter)
		m.Model, m.ContextSize = "m", size
		lane, err := s.Open(scene.Endpoint{URL: base}, m)
		if err != nil {
			t.Fatal(err)
		}
		return lane
	}
	if lane := open("http://127.0.0.1:8080/v1", new(100)); lane.Window != 100 || lane.Asked != nil {
		t.Errorf("configured: %d", lane.Window)
	}
	if lane := open("http://127.0.0.1:9000/v1", nil); lane.Window != 0 || lane.Asked != nil {
		t.Error("any server is asked for its context")
	}
	for _, step := range []struct {
		after time.Duration
		asked int
	}{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}} {
		now = now.Add(step.after)
		if got := open("http://127.0.0.1:8080/v1", nil).Asked(t.Context()); got != 4096 || p.asked != step.asked {
			t.Errorf("after %v: %d, asked %d times, want %d", step.after, got, p.asked, step.asked)
		}
	}
}

// A server that nobody knows may have any chat template behind it: what it is
// sent begins with a person, and people and models take turns.
func TestTurnsOfUnknownServers(t *testing.T) {
	for base, want := range map[string][]string{
		"http://127.0.0.1:9000/v1":     {"user", "assistant", "user"},
		"https://api.openai.com/v1":    {"assistant", "user", "user"},
		"https://openrouter.ai/api/v1": {"assistant", "user", "user"},
	} {
		w, m := &wire{}, scene.DefaultModel("e", scene.LaneWriter)
		m.Model = "m"
		lane, err := (&models{http: w}).Open(scene.Endpoint{URL: base, Key: "k"}, m)
		if err != nil {
			t.Fatal(err)
		}
		said := []llm.Message{{Role: llm.RoleAssistant, Text: "Welcome."}, {Role: llm.RoleUser, Text: "Hello."}, {Role: llm.RoleUser, Text: "Anybody?"}}
		for _, err := range lane.Model.Stream(t.Context(), llm.Request{Model: lane.Name, Messages: said}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, sent := range w.body["messages"].([]any) {
			got = append(got, sent.(map[string]any)["role"].(string))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", base, diff)
		}
	}
}
