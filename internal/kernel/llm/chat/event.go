package chat

import (
	"encoding/json"
	"math"
	"strings"

	"jp/internal/kernel/llm"
)

// event is what an event of a stream, or a whole answer, may hold.
type event struct {
	Choices []choice
	Usage   *usage
	Timings *timings
	Error   json.RawMessage
	Object  string // "error" when an error's fields stand without an object around them
}

type choice struct {
	Index        int
	Delta        *delta // in a stream
	Message      *delta // in a whole answer
	FinishReason string `json:"finish_reason"`
	Error        json.RawMessage
}

type delta struct {
	Content          json.RawMessage
	Refusal          string
	ReasoningContent string           `json:"reasoning_content"`
	Reasoning        string           // the same on other servers
	ReasoningDetails []map[string]any `json:"reasoning_details"`
	ToolCalls        []toolDelta      `json:"tool_calls"`
}

type toolDelta struct {
	Index    *int
	ID       string
	Function struct {
		Name      string
		Arguments json.RawMessage // a string, or from some servers the object
	}
}

// failed returns the error object of the event, or nil.
func (e event) failed(raw []byte) []byte {
	candidates := []json.RawMessage{e.Error}
	for _, c := range e.Choices {
		candidates = append(candidates, c.Error)
	}
	for _, c := range candidates {
		if len(c) > 0 && string(c) != "null" {
			return c
		}
	}
	if e.Object == "error" {
		return raw
	}
	return nil
}

// contentText reads content: a string, or parts of which those of text count.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(raw, &parts) // anything else has no text
	var out strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			out.WriteString(p.Text)
		}
	}
	return out.String()
}

// argumentText reads a fragment of arguments.
func argumentText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// finishOf maps a finish reason; false is a reason that means failure.
func finishOf(reason string) (llm.Finish, bool) {
	switch reason {
	case "length", "max_tokens":
		return llm.FinishLength, true
	case "content_filter", "refusal":
		return llm.FinishRefused, true
	case "error", "abort", "insufficient_system_resource":
		return "", false
	}
	return llm.FinishStop, true // tool calls are seen by themselves
}

// usage counts are read as any number, since some servers write 12.0.
type usage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	In         struct {
		Cached float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// timings are llama.cpp's counts.
type timings struct {
	Cached    float64 `json:"cache_n"`
	Prompt    float64 `json:"prompt_n"`
	Predicted float64 `json:"predicted_n"`
}

// counts is the usage of an event, or nil when it has none.
func (e event) counts() *llm.Usage {
	u, t := e.Usage, e.Timings
	switch {
	case u != nil && *u != (usage{}):
		out := &llm.Usage{Input: tokens(u.Prompt), Output: tokens(u.Completion), Cached: tokens(u.In.Cached), Reasoning: tokens(u.Out.Reasoning)}
		if t != nil && out.Cached == 0 {
			out.Cached = tokens(t.Cached)
		}
		out.Cached = min(out.Cached, out.Input)
		if out.Reasoning > out.Output { // then it was not counted in
			out.Output += out.Reasoning
		}
		return out
	case t != nil:
		return &llm.Usage{Input: tokens(t.Cached) + tokens(t.Prompt), Output: tokens(t.Predicted), Cached: tokens(t.Cached)}
	}
	return nil
}

func tokens(n float64) int { return int(min(max(n, 0), math.MaxInt32)) }
