package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"jp/internal/kernel/llm"
)

// Call is a chat request as a Scenario sees it.
type Call struct {
	N        int `json:"-"` // 1 for the first chat request of the server
	Nth      int `json:"-"` // 1 for the first of this model
	Model    string
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Tools []struct {
		Function struct{ Name string }
	}
	ToolChoice json.RawMessage `json:"tool_choice"`
}

// LastUser is the text of the newest user message.
func (c Call) LastUser() string {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].Role == "user" {
			return contentText(c.Messages[i].Content)
		}
	}
	return ""
}

// contentText reads a message's content: a string, or parts of which some are text.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(raw, &parts) // anything else has no text
	var all []string
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// forced is the tool that the request demands, or "".
func (c Call) forced() string {
	if len(c.Tools) > 0 && string(c.ToolChoice) == `"required"` {
		return c.Tools[0].Function.Name
	}
	var named struct{ Function struct{ Name string } }
	_ = json.Unmarshal(c.ToolChoice, &named) // a plain word names no tool
	return named.Function.Name
}

// answersTool tells whether a tool result came last.
func (c Call) answersTool() bool {
	return len(c.Messages) > 0 && c.Messages[len(c.Messages)-1].Role == "tool"
}

// Scenario is the response to a call that is not scripted. The model's name up
// to its first ":" chooses it, so that "cut:a" and "cut:b" are two models that
// behave alike:
//
//	think       reasoning, then the reply
//	think-tags  the same with <think> tags in the text
//	tool        calls the first tool with {}, or replies when a result came last
//	json        a whole answer at once, as from a server that does not stream
//	keepalive   comments before, between and after
//	no-done     no end marker behind the finish reason
//	length      ends with the finish reason "length"
//	refused     ends with the finish reason "content_filter"
//	empty       ends well without a word
//	blank       spaces only
//	markdown    a heading, a list, a fence
//	escape      terminal control sequences in the reply
//	cut         the connection closes within the reply
//	eof         the body ends well, but without a finish reason
//	reset       the connection is reset within the reply
//	refuse      the connection is reset before any answer
//	error-in-200, error-later   an error event, at once or within the reply
//	garbage     events that are not JSON
//	html        a web page with status 200
//	401 403 404 429 500 503     that status; 429 with "Retry-After: 7"
//	429-twice 500-twice         that status twice, then the reply; no wait asked
//	hang        nothing after the header, until Release
//	hang-later  the first words, then nothing until Release
//	slow        each word waits for Step
//	drip        each word 10 ms after the one before
//
// Every other name replies "reply N to: " and the last user text, where N
// counts the server's chat requests; a forced tool is called with {}.
func Scenario(c Call) Response {
	name, _, _ := strings.Cut(c.Model, ":")
	text := fmt.Sprintf("reply %d to: %s", c.N, c.LastUser())
	if r, ok := failure(name, c.Nth, text); ok {
		return r
	}
	whole := Reply(text)
	answer, finish := whole.Frames[:len(whole.Frames)-3], whole.Frames[len(whole.Frames)-3:]
	switch name {
	case "think":
		return ThinkingReply("Let me think about it.", text)
	case "think-tags":
		return Reply("<think>\nLet me think about it.\n</think>\n\n" + text)
	case "tool":
		if len(c.Tools) > 0 && !c.answersTool() {
			return ToolReply("call_"+strconv.Itoa(c.N), c.Tools[0].Function.Name, "{}")
		}
	case "json":
		return completion(text)
	case "keepalive":
		for i := range whole.Frames {
			whole.Frames[i].Text = ": PROCESSING\n\n" + whole.Frames[i].Text
		}
		return whole
	case "no-done":
		whole.Frames = whole.Frames[:len(whole.Frames)-1]
		return whole
	case "length", "refused":
		reason := map[string]string{"length": "length", "refused": "content_filter"}[name]
		finish[0].Text = Finish(reason)
		whole.Frames = append(answer, finish...)
		return whole
	case "empty":
		return Reply("")
	case "blank":
		return Reply(" \n ")
	case "markdown":
		return Reply("# Heading\n\n- one\n- *two*\n\n```go\nfunc main() {}\n```\n\nThe end.\n")
	case "escape":
		return Reply("plain \x1b[31mred\x1b[0m \x1b]0;title\x07 \u009b2J \rback\n")
	}
	if tool := c.forced(); tool != "" {
		return ToolReply("call_"+strconv.Itoa(c.N), tool, "{}")
	}
	return whole
}

// failure is the part of Scenario that goes wrong or waits.
func failure(name string, nth int, text string) (Response, bool) {
	whole := Reply(text)
	half := whole
	half.Frames = whole.Frames[:1+len(words(text))/2]
	half.Frames = half.Frames[:len(half.Frames):len(half.Frames)]
	broken := Data(map[string]any{"error": map[string]any{"message": "the model crashed", "code": 502}})
	switch name {
	case "cut":
		half.End = EndCut
	case "eof":
	case "reset":
		half.End = EndReset
	case "refuse":
		half = Response{Drop: true}
	case "error-in-200":
		half = Raw(broken, Done)
	case "error-later":
		half.Frames = append(half.Frames, Frame{Text: broken}, Frame{Text: Done})
	case "garbage":
		half = Raw("data: this is not JSON\n\n", Done)
	case "html":
		half = Raw("<!DOCTYPE html>\n<p>Welcome</p>\n").WithHeader("Content-Type", "text/html")
	case "401", "403", "404", "500", "503":
		status, _ := strconv.Atoi(name) // one of the names above
		half = Fail(status, "the server says "+strings.ToLower(http.StatusText(status)))
	case "429":
		half = Fail(429, "slow down").WithHeader("Retry-After", "7")
	case "429-twice", "500-twice":
		status, _ := strconv.Atoi(name[:3]) // as above
		half = Fail(status, "not yet")
		if nth > 2 {
			half = whole
		}
	case "hang":
		half = Response{Frames: append([]Frame{{Hold: true}}, whole.Frames...)}
	case "hang-later":
		held := append([]Frame{{Hold: true}}, whole.Frames[len(half.Frames):]...)
		half.Frames = append(half.Frames, held...)
	case "slow":
		half = whole.each(func(f *Frame) { f.Step = true })
	case "drip":
		half = whole.each(func(f *Frame) { f.Delay = 10 * time.Millisecond })
	default:
		return Response{}, false
	}
	return half, true
}

// completion is a whole answer in one JSON object.
func completion(text string) Response {
	body := jsonText(map[string]any{
		"object": "chat.completion",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": llm.RoleAssistant, "content": text},
		}},
		"usage": map[string]any{"prompt_tokens": 20, "completion_tokens": len(words(text))},
	})
	return Raw(body).WithHeader("Content-Type", "application/json")
}
