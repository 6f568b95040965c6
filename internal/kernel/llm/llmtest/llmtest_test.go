package llmtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
)

func TestScriptedConforms(t *testing.T) {
	failed := &llm.Error{Kind: llm.Overloaded, Message: "no room"}
	answers := map[llmtest.Behaviour]llmtest.Answer{
		llmtest.Answers: llmtest.Say("one two three"),
		llmtest.Calls:   llmtest.Use(llm.ToolCall{ID: "c1", Name: "note", Arguments: json.RawMessage(`{"text":"x"}`)}),
		llmtest.Fails:   llmtest.Break("", failed),
		llmtest.Breaks:  llmtest.Break("one two", failed),
		llmtest.Stalls:  llmtest.Stall("one", nil),
	}
	llmtest.Conformance(t, func(_ *testing.T, b llmtest.Behaviour) llm.Model {
		var script []llmtest.Answer
		for range 8 {
			script = append(script, answers[b])
		}
		return &llmtest.Capturing{Model: llmtest.Script(script...)}
	})
}

func TestScriptEnds(t *testing.T) {
	m := llmtest.Script(llmtest.Say("a"))
	for range m.Stream(t.Context(), llm.Request{}) {
	}
	for _, err := range m.Stream(t.Context(), llm.Request{}) {
		if err == nil {
			t.Error("an answer beyond the script")
		}
	}
	if m.Left() != 0 {
		t.Errorf("%d answers left", m.Left())
	}
}

func TestCapturingKeepsRequests(t *testing.T) {
	c := &llmtest.Capturing{Model: llmtest.Script(llmtest.Say("a"), llmtest.Say("b"))}
	for _, model := range []string{"m1", "m2"} {
		for range c.Stream(t.Context(), llm.Request{Model: model}) {
		}
	}
	if got := c.Requests(); len(got) != 2 || got[0].Model != "m1" || got[1].Model != "m2" {
		t.Errorf("requests %+v", got)
	}
}

// ask posts a chat request and returns status, header and as much of the body
// as came.
func ask(t *testing.T, s *llmtest.Server, model string) (*http.Response, string) {
	t.Helper()
	body := `{"model":"` + model + `","messages":[{"role":"user","content":"hi"}],"tools":[{"function":{"name":"f"}}]}`
	resp, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return nil, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		got = append(got, "!"...)
	}
	return resp, string(got)
}

func TestServerScenarios(t *testing.T) {
	tests := []struct {
		model  string
		status int // 0: no answer at all
		has    string
		lacks  string
		broken bool
	}{
		{model: "any", status: 200, has: `"to: "`, lacks: "reasoning_content"},
		{model: "think", status: 200, has: "reasoning_content"},
		{model: "think-tags:dev", status: 200, has: `think\u003e`},
		{model: "tool", status: 200, has: `"name":"f"`},
		{model: "json", status: 200, has: "chat.completion\"", lacks: "data:"},
		{model: "keepalive", status: 200, has: ": PROCESSING"},
		{model: "no-done", status: 200, has: `"finish_reason":"stop"`, lacks: "[DONE]"},
		{model: "length", status: 200, has: `"finish_reason":"length"`},
		{model: "refused", status: 200, has: "content_filter"},
		{model: "empty", status: 200, has: "[DONE]", lacks: "reply"},
		{model: "cut", status: 200, has: "reply", lacks: "finish_reason\":\"", broken: true},
		{model: "eof", status: 200, has: "reply", lacks: "finish_reason\":\""},
		{model: "reset", status: 200, lacks: "[DONE]", broken: true},
		{model: "refuse"},
		{model: "error-in-200", status: 200, has: "the model crashed", lacks: "reply"},
		{model: "error-later", status: 200, has: "the model crashed"},
		{model: "html", status: 200, has: "<p>"},
		{model: "401", status: 401, has: "the server says unauthorized"},
		{model: "404", status: 404},
		{model: "429", status: 429},
		{model: "503", status: 503},
		{model: "drip", status: 200, has: "[DONE]"},
	}
	s := llmtest.NewServer()
	defer s.Close()
	for _, tt := range tests {
		t.Run(tt.model, func(t *testing.T) {
			resp, body := ask(t, s, tt.model)
			if resp == nil {
				if tt.status != 0 {
					t.Fatal(body)
				}
				return
			}
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.has) || tt.lacks != "" && strings.Contains(body, tt.lacks) || strings.HasSuffix(body, "!") != tt.broken {
				t.Errorf("status %d, body:\n%s", resp.StatusCode, body)
			}
		})
	}
}

func TestServerCounts(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Script("scripted", llmtest.Reply("first").CutAt(40), llmtest.Fail(418, "second"))
	for i, want := range []struct {
		model  string
		status int
		has    string
	}{
		{"429-twice", 429, "not yet"},
		{"429-twice:other", 429, "not yet"},
		{"429-twice", 429, "not yet"},
		{"429-twice", 200, `"4 "`},
		{"scripted", 200, "!"},
		{"scripted", 418, "second"},
		{"scripted", 200, `"7 "`},
	} {
		resp, body := ask(t, s, want.model)
		if resp == nil || resp.StatusCode != want.status || !strings.Contains(body, want.has) {
			t.Errorf("request %d: %v\n%s", i+1, resp, body)
		}
	}
	resp, err := http.Get(s.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	seen := s.Requests()
	if resp.StatusCode != http.StatusNotFound || len(seen) != 8 || seen[7].Path != "/v1/models" || !strings.Contains(string(seen[0].Body), "429-twice") {
		t.Errorf("models: %d; %d requests recorded", resp.StatusCode, len(seen))
	}
}

func TestServerSteps(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	body := make(chan string)
	for _, model := range []string{"slow", "hang", "hang-later"} {
		go func() {
			_, b := ask(t, s, model)
			body <- b
		}()
	}
	s.Await(3)
	s.Step()
	s.Step()
	select {
	case b := <-body:
		t.Fatalf("an answer that should wait: %s", b)
	default:
	}
	s.Release()
	for range 3 {
		if b := <-body; !strings.HasSuffix(b, "[DONE]\n\n") {
			t.Errorf("an answer that does not end: %s", b)
		}
	}
}

func TestServerClosesWhatHangs(t *testing.T) {
	s := llmtest.NewServer()
	done := make(chan string)
	go func() {
		_, b := ask(t, s, "hang-later")
		done <- b
	}()
	s.Await(1)
	s.Close()
	if b := <-done; strings.Contains(b, "[DONE]") {
		t.Errorf("an answer that ended: %s", b)
	}
	s.Step() // returns
}
