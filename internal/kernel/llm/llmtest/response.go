package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"jp/internal/kernel/llm"
)

// Frame is a piece of a response body, sent at once as soon as it may go.
type Frame struct {
	Text  string
	Step  bool          // waits for Server.Step
	Hold  bool          // waits for Server.Release
	Delay time.Duration // waits that long
}

// End is how a response ends.
type End int

// The ends. EndCut closes the connection before the body is complete,
// EndReset resets it.
const (
	EndWell End = iota
	EndCut
	EndReset
)

// Response is what a Server does with one request.
type Response struct {
	Status int               // 0 is 200
	Header map[string]string // set over the default content type
	Frames []Frame
	End    End
	Drop   bool // the connection is reset before any answer
}

func (r Response) status() int {
	if r.Status == 0 {
		return http.StatusOK
	}
	return r.Status
}

func (r Response) contentType() string {
	if r.status() == http.StatusOK {
		return "text/event-stream"
	}
	return "application/json"
}

// Raw is a response of exactly these frames.
func Raw(frames ...string) Response {
	var r Response
	for _, f := range frames {
		r.Frames = append(r.Frames, Frame{Text: f})
	}
	return r
}

// Reply streams text word by word, ends with the finish reason "stop", tells
// its usage and sends the end marker.
func Reply(text string) Response { return reply("", text) }

// ThinkingReply streams reasoning, then text.
func ThinkingReply(reasoning, text string) Response { return reply(reasoning, text) }

func reply(reasoning, text string) Response {
	frames := []string{Delta(map[string]any{"role": llm.RoleAssistant, "content": ""})}
	for _, w := range words(reasoning) {
		frames = append(frames, Delta(map[string]any{"reasoning_content": w}))
	}
	for _, w := range words(text) {
		frames = append(frames, Delta(map[string]any{"content": w}))
	}
	usage := map[string]any{
		"prompt_tokens": 20, "prompt_tokens_details": map[string]any{"cached_tokens": 8},
		"completion_tokens":         len(words(reasoning)) + len(words(text)),
		"completion_tokens_details": map[string]any{"reasoning_tokens": len(words(reasoning))},
	}
	return Raw(append(frames, Finish("stop"), Data(map[string]any{"choices": []any{}, "usage": usage}), Done)...)
}

// ToolReply calls a tool; arguments is a JSON object, sent in two fragments.
func ToolReply(id, name, arguments string) Response {
	call := func(fields map[string]any) string {
		return Delta(map[string]any{"tool_calls": []any{fields}})
	}
	half := len(arguments) / 2
	return Raw(
		call(map[string]any{"index": 0, "id": id, "type": "function", "function": map[string]any{"name": name, "arguments": ""}}),
		call(map[string]any{"index": 0, "function": map[string]any{"arguments": arguments[:half]}}),
		call(map[string]any{"index": 0, "function": map[string]any{"arguments": arguments[half:]}}),
		Finish("tool_calls"), Done)
}

// Fail answers with an HTTP status and an error object.
func Fail(status int, message string) Response {
	body := jsonText(map[string]any{"error": map[string]any{"message": message, "code": status}})
	return Response{Status: status, Frames: []Frame{{Text: body}}}
}

// WithHeader returns r with one more header field.
func (r Response) WithHeader(name, value string) Response {
	h := map[string]string{name: value}
	for k, v := range r.Header {
		if k != name {
			h[k] = v
		}
	}
	r.Header = h
	return r
}

// CutAt returns r with its body broken off after n bytes and its connection
// closed there.
func (r Response) CutAt(n int) Response {
	var kept []Frame
	for _, f := range r.Frames {
		f.Text = f.Text[:min(n, len(f.Text))]
		n -= len(f.Text)
		if f.Text != "" {
			kept = append(kept, f)
		}
	}
	r.Frames, r.End = kept, EndCut
	return r
}

// each returns r with every frame but the first changed.
func (r Response) each(change func(*Frame)) Response {
	frames := append([]Frame(nil), r.Frames...)
	for i := range frames {
		if i > 0 {
			change(&frames[i])
		}
	}
	r.Frames = frames
	return r
}

// Done is the end marker of a stream.
const Done = "data: [DONE]\n\n"

// Data is an event of a stream.
func Data(v any) string { return "data: " + jsonText(v) + "\n\n" }

// Delta is the event that adds fields to the answer.
func Delta(fields map[string]any) string {
	return Data(map[string]any{"object": "chat.completion.chunk", "choices": []any{
		map[string]any{"index": 0, "delta": fields, "finish_reason": nil},
	}})
}

// Finish is the event that gives the finish reason.
func Finish(reason string) string {
	return Data(map[string]any{"object": "chat.completion.chunk", "choices": []any{
		map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason},
	}})
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only maps of plain values come here
	}
	return string(b)
}

// words cuts text behind each space; joined they are the text again.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}
