// Package llm is the port to language models: what is asked of one, what comes
// back chunk by chunk, and how it fails.
//
// A wire (one folder each: chat, rehearsal) turns a Request into the exact
// bytes of one protocol and the answer into Chunks. Wires never retry, never
// read the environment, never keep state between calls. The bytes are a
// contract, held by golden files.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Model answers requests. It may be used from several goroutines at once.
type Model interface {
	// Stream sends one request and yields the answer as it arrives. It ends
	// either after exactly one Chunk with a Finish, or with one non-nil error,
	// which is an *Error (or ctx's cause when ctx ended). Leaving the loop
	// early closes the connection. A stream that ends without a finish reason
	// or its protocol's end marker is an *Error of kind Broken.
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
}

// Role says whose turn a message is.
type Role string

// The roles of messages. System parts are no message: see Request.System.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of the history as one speaker sees it.
type Message struct {
	Role      Role
	Text      string
	Images    []Image
	Reasoning string         // assistant only: the speaker's own, for wires that replay it
	Replay    map[string]any // assistant only: provider data stored with the reasoning, opaque
	ToolCalls []ToolCall     // assistant only
	ToolCall  string         // tool only: id of the call that is answered
	ToolName  string         // tool only
	IsError   bool           // tool only
}

// Image is a picture in a user message.
type Image struct {
	MediaType string
	Data      []byte
	Source    string // file name or URL, for the text beside it
}

// Document is an attachment. Text, unless Image is set.
type Document struct {
	Source string
	Text   string
	Image  *Image
}

// ToolCall is a finished request of the model to run a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage // a JSON object
}

// Tool is a tool definition.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments object
	Strict      bool
}

// ToolMode says whether the model may, must or must not call tools.
type ToolMode string

// The tool modes. Named forces the tool ToolChoice.Name.
const (
	ToolAuto     ToolMode = "auto"
	ToolNone     ToolMode = "none"
	ToolRequired ToolMode = "required"
	ToolNamed    ToolMode = "named"
)

// ToolChoice is a mode and, for ToolNamed, a tool. The zero value is auto.
type ToolChoice struct {
	Mode ToolMode
	Name string
}

// Effort is how long the model may think.
type Effort string

// The efforts. EffortUnset leaves it to the wire's default.
const (
	EffortUnset  Effort = ""
	EffortOff    Effort = "off"
	EffortAuto   Effort = "auto"
	EffortXLow   Effort = "xlow"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
	EffortXHigh  Effort = "xhigh"
	EffortMax    Effort = "max"
)

// Params are the sampling parameters. Nil and zero values are not sent.
type Params struct {
	MaxTokens   *int
	Temperature *float64
	TopP        *float64
	TopK        *int
	Stop        []string
	Reasoning   Effort
	Budget      int  // thinking tokens; set instead of an effort
	HideThought bool // ask the provider not to send its reasoning
	// Extra fields are merged over the body last; a nil value deletes a field.
	Extra map[string]any
}

// Request is everything one call may contain.
type Request struct {
	Model      string
	System     []string // parts, in order; wires join them by a blank line
	Documents  []Document
	Messages   []Message
	Tools      []Tool
	ToolChoice ToolChoice
	Params     Params
	Schema     json.RawMessage // when set, the answer is JSON of this schema
}

// ToolDelta is a fragment of a tool call. Fragments with the same Index belong
// together; ID and Name come with the first, Arguments concatenate.
type ToolDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments string
}

// Finish is why an answer ended.
type Finish string

// The finish reasons.
const (
	FinishStop      Finish = "stop"
	FinishLength    Finish = "length"
	FinishToolCalls Finish = "tool_calls"
	FinishRefused   Finish = "refused"
)

// Usage counts tokens. Input includes Cached, the part the server did not have
// to read again; Output includes Reasoning.
type Usage struct {
	Input, Output, Cached, Reasoning int
}

// Chunk is one piece of an answer. A chunk with nothing set is a sign of life
// (a keep-alive comment, an event that is held back). Usage may come with or
// before the Finish. Replay comes at most once, whole, and belongs to all the
// reasoning of the answer, of which there may be no text.
//
// Untold is how many bytes of the answer the wire keeps back, or left out, up
// to this chunk: no chunk so far holds them. Whoever limits an answer adds it
// to what he was told. A wire says so with the last chunk of what arrived
// together, so that nothing grows out of sight.
type Chunk struct {
	Text      string
	Reasoning string
	Replay    map[string]any
	Tool      *ToolDelta
	Usage     *Usage
	Finish    Finish
	Untold    int
}
