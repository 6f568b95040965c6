package conversation

import (
	"encoding/json"
	"time"

	"jp/internal/workspace/config"
)

// Kind is an event's `type`. Others than these are kept and invisible.
type Kind string

// The kinds of events.
const (
	TurnStart        Kind = "turn_start"
	ChatRequest      Kind = "chat_request"
	ChatResponse     Kind = "chat_response"
	ToolCallRequest  Kind = "tool_call_request"
	ToolCallResponse Kind = "tool_call_response"
	InquiryRequest   Kind = "inquiry_request"
	InquiryResponse  Kind = "inquiry_response"
	ConfigDelta      Kind = "config_delta"
	Compaction       Kind = "compaction"
)

// Answers reports whether events of this kind are made by a participant while
// it answers a request.
func (k Kind) Answers() bool {
	switch k {
	case ChatResponse, ToolCallRequest, ToolCallResponse, InquiryRequest, InquiryResponse:
		return true
	}
	return false
}

// Form says which of its three contents a chat response has.
type Form string

// The forms, each the name of the field that holds the content.
const (
	Message   Form = "message"
	Reasoning Form = "reasoning"
	Data      Form = "data"
)

// Why a chat response ends early, as stored in `incomplete`.
const (
	IncompleteError       = "error"
	IncompleteInterrupted = "interrupted"
	IncompleteLength      = "length" // no failure: the reply counts as complete
)

// Event is one entry, decoded: base64 is undone, times are UTC, raw JSON is
// compact. Only the fields of its kind are set.
type Event struct {
	ID          string
	Kind        Kind
	Time        time.Time
	Participant string         // of the answering kinds; empty in older conversations
	Request     string         // of the answering kinds: `request_id`; may be empty
	Metadata    map[string]any // opaque data of a provider

	// Content is a chat request's or response's text, or a tool's result.
	Content string

	Author     string          // chat request
	Responders []string        // chat request: `recipients.responders`
	Only       []string        // `recipients.visibility.only`; nil means everyone
	Schema     json.RawMessage // chat request

	Form       Form            // chat response
	Data       json.RawMessage // chat response of form Data
	Incomplete string          // chat response

	CallID    string          // tool call and inquiry kinds: `id`
	Name      string          // tool call request
	Arguments json.RawMessage // tool call request: an object
	IsError   bool            // tool call response

	Source   json.RawMessage // inquiry request
	Question json.RawMessage // inquiry request
	Answer   json.RawMessage // inquiry response

	Delta config.Tree // config delta

	FromTurn, ToTurn int         // compaction: 0-based, both included
	Summary          *string     // compaction
	StripReasoning   bool        // compaction
	StripTools       *ToolPolicy // compaction
}

// ToolPolicy says what a compaction does with tool traffic: Omit drops it,
// otherwise Request empties arguments and Response results.
type ToolPolicy struct {
	Omit              bool
	Request, Response bool
}

// Broken reports whether the response is a part of one that failed or was
// stopped, so that its responder still owes an answer.
func (e *Event) Broken() bool {
	return e.Incomplete == IncompleteError || e.Incomplete == IncompleteInterrupted
}
