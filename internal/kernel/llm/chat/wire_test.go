package chat_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/lib/fault"
)

func hello() llm.Request {
	return llm.Request{Model: "m", Messages: []llm.Message{{Role: llm.RoleUser, Text: "hello"}}}
}

// got is a stream in short.
type got struct {
	Text, Thought string
	Finish        llm.Finish
	Usage         *llm.Usage
	Calls         string // name(arguments) in order
	Err           *llm.Error
}

func read(t *testing.T, m llm.Model, req llm.Request) got {
	t.Helper()
	var g got
	ends := 0
	for c, err := range m.Stream(t.Context(), req) {
		if ends > 0 {
			t.Errorf("something came behind the end: %+v, %v", c, err)
		}
		if err != nil {
			e, ok := errors.AsType[*llm.Error](err)
			if !ok {
				t.Fatalf("error %#v is no *llm.Error", err)
			}
			g.Err = e
			ends++
			continue
		}
		g.Text += c.Text
		g.Thought += c.Reasoning
		if c.Tool != nil {
			g.Calls += c.Tool.Name + "(" + c.Tool.Arguments + ")"
		}
		if c.Finish != "" {
			g.Finish, g.Usage = c.Finish, c.Usage
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("%d ends", ends)
	}
	return g
}

func TestConformance(t *testing.T) {
	models := map[llmtest.Behaviour]string{
		llmtest.Answers: "any", llmtest.Calls: "any", llmtest.Fails: "500",
		llmtest.Breaks: "cut", llmtest.Stalls: "hang-later",
	}
	server := llmtest.NewServer()
	defer server.Close()
	for _, provider := range []string{"llamacpp", "ollama", "openai", "openrouter"} {
		t.Run(provider, func(t *testing.T) {
			llmtest.Conformance(t, func(t *testing.T, b llmtest.Behaviour) llm.Model {
				return named{models[b], chat.New(chat.Config{Provider: provider, BaseURL: server.URL, Dialect: dialect(t, provider)})}
			})
		})
	}
	for _, r := range server.Requests() {
		if r.Method != http.MethodPost {
			t.Errorf("a preflight: %s %s", r.Method, r.Path)
		}
	}
}

// named is a model whose requests name another one.
type named struct {
	name string
	llm.Model
}

func (n named) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	req.Model = n.name
	return n.Model.Stream(ctx, req)
}

// body is a model whose server answers with these bytes, one at a time unless
// there are very many, and status 200.
func body(text string) llm.Model {
	if len(text) > 1<<20 {
		return served(strings.NewReader(text))
	}
	return served(iotest.OneByteReader(strings.NewReader(text)))
}

// served is a model whose server answers with this body and status 200.
func served(body io.Reader) llm.Model {
	return chat.New(chat.Config{Provider: "p", BaseURL: "http://127.0.0.1:1", Transport: answering(body)})
}

// delta is an event that adds to the answer.
func delta(fields string) string {
	return `data: {"choices":[{"index":0,"delta":{` + fields + `}}]}` + "\n\n"
}

func finish(reason string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
}

const done = "data: [DONE]\n\n"

// TestBroken: none of these answers finishes, and none loses what came before.
func TestBroken(t *testing.T) {
	hi := delta(`"content":"Hi"`)
	tests := []struct {
		name, body string
		kind       llm.Kind
		text       string // what came before
		message    string // part of the error's
	}{
		{"nothing", "", llm.Broken, "", ""},
		{"line breaks only", "\n\n\r\n", llm.Broken, "", ""},
		{"comments only", ": ping\n\n: ping\n\n", llm.Broken, "", ""},
		{"text, then the end", hi, llm.Broken, "Hi", "ended before"},
		{"reasoning, then the end", delta(`"reasoning_content":"Hm"`), llm.Broken, "", ""},
		{"usage, then the end", `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}` + "\n\n", llm.Broken, "", ""},
		{"half an event", hi + `data: {"choices":[{"delta":{"cont`, llm.Broken, "Hi", "no object"},
		{"half a tag held back", delta(`"content":"<thi"`), llm.Broken, "<thi", ""},
		{"open thought", delta(`"content":"<think>a"`), llm.Broken, "", ""},
		{"not JSON", "data: hello\n\n", llm.Broken, "", "no object"},
		{"null", "data: null\n\n" + done, llm.Broken, "", ""},
		{"a number", "data: 7\n\n" + done, llm.Broken, "", ""},
		{"an array", "data: []\n\n" + done, llm.Broken, "", ""},
		{"choices of the wrong type", `data: {"choices":{}}` + "\n\n" + done, llm.Broken, "", ""},
		{"done as a substring", hi + "data: [DONE\n\n", llm.Broken, "Hi", ""},
		{"web page", "<!DOCTYPE html><p>Welcome</p>", llm.Rejected, "", "web page"},
		{"web page behind a mark and spaces", "\uFEFF \n\t<html></html>", llm.Rejected, "", "web page"},
		{"plain text", "Service starting, please wait\n", llm.Broken, "", ""},
		{"object that is no answer", `{"status":"ok"}`, llm.Broken, "", "ended before"},
		{"object without choices", `{"choices":[]}`, llm.Broken, "", ""},
		{"object cut", `{"choices":[{"message":{"content":"Hi"`, llm.Broken, "", ""},
		{"lines of objects", `{"message":{"content":"Hi"},"done":false}` + "\n" + `{"done":true}` + "\n", llm.Broken, "", ""},
		{"finish reason error", hi + finish("error") + done, llm.Broken, "Hi", `"error"`},
		{"error object first", `data: {"error":{"message":"no room","code":503}}` + "\n\n" + done, llm.Overloaded, "", "no room"},
		{"error object later", hi + `data: {"error":{"message":"slow down","type":"rate_limit_error"}}` + "\n\n" + done, llm.RateLimited, "Hi", "slow down"},
		{"error text", `data: {"error":"model exploded"}` + "\n\n", llm.Broken, "", "model exploded"},
		{"error without a word", `data: {"error":{}}` + "\n\n" + done, llm.Broken, "", "without a word"},
		{"error behind the finish", hi + finish("stop") + `data: {"error":{"message":"oops","code":"500"}}` + "\n\n" + done, llm.Overloaded, "Hi", "oops"},
		{"full, in the stream", `data: {"error":{"code":400,"message":"too much","type":"exceed_context_size_error"}}` + "\n\n", llm.Overfull, "", "too much"},
		{"a number beside a type that says nothing", `data: {"error":{"code":503,"message":"loading","type":"unavailable_error"}}` + "\n\n", llm.Overloaded, "", "loading"},
		{"error event", hi + "event: error\ndata: {\"message\":\"too long\",\"code\":400}\n\n", llm.Rejected, "Hi", "too long"},
		{"error event of plain text", "event: error\ndata: it broke\n\n", llm.Broken, "", "it broke"},
		{"error event of nothing", hi + "event: error\n\n", llm.Broken, "Hi", ""},
		{"error in a choice", `data: {"choices":[{"index":0,"delta":{},"error":{"message":"bad gateway","code":502},"finish_reason":"error"}]}` + "\n\n", llm.Overloaded, "", "bad gateway"},
		{"bare error fields", `data: {"object":"error","message":"unknown adapter","code":404}` + "\n\n", llm.NoModel, "", "unknown adapter"},
		{"error object instead of a stream", `{"error":{"message":"invalid key","code":"invalid_api_key"}}`, llm.Denied, "", "invalid key"},
		{"list of errors", `data: {"error":[{"message":"first"}]}` + "\n\n", llm.Broken, "", "first"},
		{"call without a name", delta(`"tool_calls":[{"index":0,"id":"c"}]`) + finish("tool_calls") + done, llm.Broken, "", "without a name"},
		{"call, then the end", delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]`), llm.Broken, "", ""},
		{"line without end", "data: " + strings.Repeat("x", 17<<20), llm.TooLong, "", "longer than"},
		{"object without end", `{"choices":"` + strings.Repeat("x", 17<<20), llm.TooLong, "", "longer than"},
		{"invalid UTF-8", "data: \xff\xfe\n\n", llm.Broken, "", ""},
		{"deep nesting", "data: " + strings.Repeat("[", 20000) + "\n\n", llm.Broken, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := read(t, body(tt.body), hello())
			if g.Err == nil || g.Finish != "" {
				t.Fatalf("finish %q, error %v", g.Finish, g.Err)
			}
			if g.Err.Kind != tt.kind || g.Err.Provider != "p" || g.Text != tt.text || !strings.Contains(g.Err.Message, tt.message) || g.Err.Message == "" {
				t.Errorf("kind %q, text %q, error %q", g.Err.Kind, g.Text, g.Err)
			}
		})
	}
}

// TestWhole: unusual answers that are complete all the same.
func TestWhole(t *testing.T) {
	hi := delta(`"content":"Hi"`)
	usage := &llm.Usage{Input: 5, Output: 2}
	counts := `"usage":{"prompt_tokens":5,"completion_tokens":2}`
	tests := []struct {
		name, body string
		want       got
	}{
		{"finish without the end marker", hi + finish("stop"), got{Text: "Hi", Finish: llm.FinishStop}},
		{"end marker without a finish", hi + done, got{Text: "Hi", Finish: llm.FinishStop}},
		{"end marker without a final line break", hi + "data: [DONE]", got{Text: "Hi", Finish: llm.FinishStop}},
		{"end marker alone", done, got{Finish: llm.FinishStop}},
		{"CRLF, lone CR, BOM, no space", "\uFEFFdata:" + strings.TrimPrefix(strings.ReplaceAll(hi, "\n", "\r\n"), "data: ") + strings.ReplaceAll(finish("stop"), "\n", "\r") + done, got{Text: "Hi", Finish: llm.FinishStop}},
		{"text behind the finish", finish("stop") + hi + done, got{Text: "Hi", Finish: llm.FinishStop}},
		{"length", hi + finish("length") + done, got{Text: "Hi", Finish: llm.FinishLength}},
		{"filtered", hi + finish("content_filter") + done, got{Text: "Hi", Finish: llm.FinishRefused}},
		{"refusal", delta(`"refusal":"I will not."`) + finish("stop") + done, got{Text: "I will not.", Finish: llm.FinishRefused}},
		{"unknown finish reason", hi + finish("eos") + done, got{Text: "Hi", Finish: llm.FinishStop}},
		{"usage behind, null before", hi + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}` + "\n\n" + `data: {` + counts + "}\n\n" + `data: {"choices":[],"usage":{}}` + "\n\n" + done, got{Text: "Hi", Finish: llm.FinishStop, Usage: usage}},
		{"usage counts that make no sense", hi + finish("stop") + `data: {"usage":{"prompt_tokens":-3,"completion_tokens":2.0,"prompt_tokens_details":{"cached_tokens":9},"completion_tokens_details":{"reasoning_tokens":5}}}` + "\n\n" + done, got{Text: "Hi", Finish: llm.FinishStop, Usage: &llm.Usage{Output: 7, Reasoning: 5}}},
		{"timings", hi + `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"timings":{"cache_n":40,"prompt_n":2,"predicted_n":7}}` + "\n\n", got{Text: "Hi", Finish: llm.FinishStop, Usage: &llm.Usage{Input: 42, Cached: 40, Output: 7}}},
		{"empty data and comments", "data:\n\n: ping\n\n" + hi + "data\n\n" + done, got{Text: "Hi", Finish: llm.FinishStop}},
		{"content in parts", delta(`"content":[{"type":"thinking","text":"no"},{"type":"text","text":"Hi"}]`) + done, got{Text: "Hi", Finish: llm.FinishStop}},
		{"second choice is ignored", `data: {"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"stop"}]}` + "\n\n" + hi + done, got{Text: "Hi", Finish: llm.FinishStop}},
		{"both reasoning fields", delta(`"reasoning":"Hm","reasoning_content":"Hm"`) + done, got{Thought: "Hm", Finish: llm.FinishStop}},
		{"calls that end with stop", delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]`) + finish("stop"), got{Calls: "f({})", Finish: llm.FinishToolCalls}},
		{"name behind the id", delta(`"tool_calls":[{"index":0,"id":"c","function":{"arguments":"{"}}]`) + delta(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"}"}}]`) + done, got{Calls: "f({})", Finish: llm.FinishToolCalls}},
		{"fragments without an index", delta(`"tool_calls":[{"id":"c","function":{"name":"f"}}]`) + delta(`"tool_calls":[{"function":{"arguments":"{"}}]`) + delta(`"tool_calls":[{"id":"c","function":{"arguments":"}"}}]`) + done, got{Calls: "f()({)(})", Finish: llm.FinishToolCalls}},
		{"text held back before a call", delta(`"content":"<"`) + delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]`) + done, got{Text: "<", Calls: "f({})", Finish: llm.FinishToolCalls}},
		{"whole object", `{"choices":[{"index":0,"message":{"content":"<think>Hm</think>Hi","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],` + counts + `}`, got{Text: "Hi", Thought: "Hm", Calls: "f({})", Finish: llm.FinishToolCalls, Usage: usage}},
		{"whole object behind white space", "\n\n\n" + `{"choices":[{"message":{"content":"Hi"}}]}` + "\n", got{Text: "Hi", Finish: llm.FinishStop}},
		{"a character in two halves", delta(`"content":"a\ud83c"`) + delta(`"content":""`) + delta(`"content":"\uDFADb"`) + done, got{Text: "a🎭b", Finish: llm.FinishStop}},
		{"the half of a character", delta(`"content":"a\uD83C"`) + delta(`"content":"b"`) + delta(`"content":"\ud83c"`) + done, got{Text: "a\uFFFDb", Finish: llm.FinishStop}},
		{"no half of a character", delta(`"content":"\\ud83c"`) + delta(`"content":"\ud83c\udfad"`) + done, got{Text: `\ud83c🎭`, Finish: llm.FinishStop}},
		{"megabyte line", delta(`"content":"`+strings.Repeat("x", 5<<20)+`"`) + done, got{Text: strings.Repeat("x", 5<<20), Finish: llm.FinishStop}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, read(t, body(tt.body), hello())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLife shows that every event is a sign of life.
func TestLife(t *testing.T) {
	text := ": ping\n\n" + delta(`"role":"assistant","content":""`) + delta(`"content":"<th"`) + "data:\n\n" + done
	chunks := 0
	for range body(text).Stream(t.Context(), hello()) {
		chunks++
	}
	if chunks != 4+1+1 { // the events, the held text, the finish
		t.Errorf("%d chunks", chunks)
	}
}

func TestCallIDs(t *testing.T) {
	req := hello()
	req.Messages = append(req.Messages, llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "x", Name: "f"}, {ID: "y", Name: "f"}}})
	call := delta(`"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{}"}}]`)
	for c, err := range body(call+finish("tool_calls")).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Tool != nil && c.Tool.ID != "call_3" {
			t.Errorf("id %q: it must differ from those of the history", c.Tool.ID)
		}
	}
}

// TestStops: what a server takes no more than four of is enforced here.
func TestStops(t *testing.T) {
	req := hello()
	req.Params.Stop = []string{"1", "2", "3", "4", "\n[dev]:"}
	text := delta(`"content":"a 1 b\n"`) + delta(`"content":"[de"`) + delta(`"content":"v]: c"`) + finish("length") + done
	for provider, want := range map[string]got{
		"openai":   {Text: "a 1 b", Finish: llm.FinishStop},
		"llamacpp": {Text: "a 1 b\n[dev]: c", Finish: llm.FinishLength},
	} {
		m := chat.New(chat.Config{BaseURL: "http://127.0.0.1:1", Dialect: dialect(t, provider), Transport: oneByte(text)})
		if diff := cmp.Diff(want, read(t, m, req)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", provider, diff)
		}
	}
}

func TestEndpoint(t *testing.T) {
	tests := []struct{ provider, base, want string }{
		{"llamacpp", "", "http://127.0.0.1:8080/v1/chat/completions"},
		{"ollama", "", "http://localhost:11434/v1/chat/completions"},
		{"openai", "", "https://api.openai.com/v1/chat/completions"},
		{"openai", "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"},
		{"openai", " http://localhost:1234// ", "http://localhost:1234/v1/chat/completions"},
		{"openai", "http://[::1]:1/v1/", "http://[::1]:1/v1/chat/completions"},
		{"openai", "https://x.example/v1/chat/completions", "https://x.example/v1/chat/completions"},
		{"openai", "https://x.example/openai", "https://x.example/openai/v1/chat/completions"},
		{"openai", "https://x.example/api/paas/v4", "https://x.example/api/paas/v4/chat/completions"},
		{"openai", "https://x.example/v1beta/openai/", "https://x.example/v1beta/openai/chat/completions"},
		{"openai", "https://x.example/vault", "https://x.example/vault/v1/chat/completions"},
		{"openai", "https://x.example/v1?api-version=2", "https://x.example/v1/chat/completions?api-version=2"},
		{"openrouter", "", "https://openrouter.ai/api/v1/chat/completions"},
		{"openrouter", "https://openrouter.ai/", "https://openrouter.ai/api/v1/chat/completions"},
		{"openrouter", "https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"},
		{"openrouter", "https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/chat/completions"},
		{"openrouter", "https://openrouter.ai/v1", "https://openrouter.ai/api/v1/chat/completions"},
	}
	for _, tt := range tests {
		cfg := chat.Config{BaseURL: tt.base, Key: "k", Dialect: dialect(t, tt.provider)}
		if err := cfg.Check(); err != nil {
			t.Errorf("Check says %v", err)
		}
		r, _ := sent(t, cfg, hello())
		if got := r.URL.String(); got != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.provider, tt.base, got, tt.want)
		}
	}
}

func TestHeaders(t *testing.T) {
	cfg := chat.Config{Key: "secret", Headers: map[string]string{"X-Title": "JP", "user-agent": "other"}, Dialect: dialect(t, "openrouter")}
	r, _ := sent(t, cfg, hello())
	want := http.Header{"Authorization": {"Bearer secret"}, "Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {"other"}, "X-Title": {"JP"}}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r, _ = sent(t, chat.Config{Dialect: dialect(t, "llamacpp")}, hello())
	if _, ok := r.Header["Authorization"]; ok {
		t.Error("an Authorization header without a key")
	}
}

// TestNothingSent: these configurations fail before anything leaves the machine.
func TestNothingSent(t *testing.T) {
	tests := []struct {
		name string
		cfg  chat.Config
		kind llm.Kind
		code fault.Code
		hint string
	}{
		{"no key", chat.Config{KeyEnv: "OPENAI_API_KEY", Dialect: dialect(t, "openai")}, llm.NoKey, fault.Config, "OPENAI_API_KEY"},
		{"no key, base spelled out", chat.Config{BaseURL: "https://openrouter.ai/api/v1/", Dialect: dialect(t, "openrouter")}, llm.NoKey, fault.Config, "API key"},
		{"key in the clear", chat.Config{Key: "k", BaseURL: "http://192.168.0.7:8080", Dialect: dialect(t, "llamacpp")}, llm.NoKey, fault.Config, "https"},
		{"key header in the clear", chat.Config{Headers: map[string]string{"authorization": "Basic x"}, BaseURL: "http://localhost.example", Dialect: dialect(t, "openai")}, llm.NoKey, fault.Config, "https"},
		{"key with a line break", chat.Config{Key: "k\n", KeyEnv: "K", Dialect: dialect(t, "openai")}, llm.NoKey, fault.Config, "K"},
		{"no address", chat.Config{BaseURL: "localhost:8080", Dialect: dialect(t, "llamacpp")}, llm.Rejected, fault.Provider, "base_url"},
		{"another scheme", chat.Config{BaseURL: "file:///etc/passwd", Dialect: dialect(t, "llamacpp")}, llm.Rejected, fault.Provider, "base_url"},
		{"no address at all", chat.Config{}, llm.Rejected, fault.Provider, "base_url"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Transport = transport(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, io.EOF
			})
			g := read(t, chat.New(tt.cfg), hello())
			if err := tt.cfg.Check(); err == nil || err.Error() != g.Err.Error() {
				t.Errorf("Check says %v, Stream %v", err, g.Err)
			}
			if g.Err == nil || g.Err.Kind != tt.kind || g.Err.Retryable() || fault.CodeOf(g.Err) != tt.code || !strings.Contains(fault.HintOf(g.Err), tt.hint) {
				t.Errorf("error %#v", g.Err)
			}
		})
	}
	t.Run("a tool that is not offered", func(t *testing.T) {
		req := hello()
		req.ToolChoice = llm.ToolChoice{Mode: llm.ToolNamed, Name: "f"}
		if g := read(t, body(done), req); g.Err == nil || g.Err.Kind != llm.Rejected {
			t.Errorf("error %v", g.Err)
		}
	})
	t.Run("a schema that is no JSON", func(t *testing.T) {
		req := hello()
		req.Tools = []llm.Tool{{Name: "f", Schema: []byte("{")}}
		if g := read(t, body(done), req); g.Err == nil || g.Err.Kind != llm.Rejected {
			t.Errorf("error %v", g.Err)
		}
	})
}
