// Package reply produces one speaker's reply: it streams the model's answer,
// runs the tools it asks for, asks again, retries what may be retried and
// stops at the limits.
//
// Retries happen only before the first text, reasoning or tool delta of an
// answer. What was streamed before a failure or a stop is yielded as a record
// marked incomplete, then the error. An empty answer is an error and yields
// nothing. Every recorded call of a whole answer gets exactly one result: when
// the tools were cancelled or the limit on cycles is reached, one that says so.
package reply

import (
	"context"

	"jp/internal/kernel/llm"
)

// PartKind says what a Part holds.
type PartKind string

// The kinds of parts.
const (
	Text      PartKind = "text"
	Reasoning PartKind = "reasoning"
)

// Part is a run of text or of reasoning, in the order it streamed.
type Part struct {
	Kind   PartKind
	Text   string
	Replay map[string]any // reasoning only: opaque provider data
}

// Incomplete says why a reply is only a part of one; empty means it is whole.
type Incomplete string

// The reasons. Length is no failure: the provider ended at its own limit.
const (
	Whole       Incomplete = ""
	ByError     Incomplete = "error"
	Interrupted Incomplete = "interrupted"
	Length      Incomplete = "length"
)

// Answer is one answer of the model: what one call brought.
type Answer struct {
	Parts []Part
	Calls []llm.ToolCall
	// Unread are arguments that are no JSON object, as they came, by the call's
	// id; the call then has empty ones. A reader more forgiving may use them.
	Unread     map[string]string
	Incomplete Incomplete
	Finish     llm.Finish
	Usage      llm.Usage
}

// Result is what a tool call brought.
type Result struct {
	Call    string // id of the call
	Name    string
	Content string
	IsError bool
}

// Record is the unit of durability: one model answer, or one batch of tool
// results, never both.
type Record struct {
	Answer  *Answer
	Results []Result
}

// Delta is something to show at once; at most one field is set, Start apart.
type Delta struct {
	Text      string
	Reasoning string
	Tool      string // a call of this tool began
	Notice    string // one line for a person: a retry and when, a dropped call
}

// Event is a Delta, or a Record when Record is not nil.
type Event struct {
	Delta  Delta
	Record *Record
}

// Prompt is a request and how its answer is read.
type Prompt struct {
	Request llm.Request
	// Label is the speaker's own label when the history is labelled, else "".
	// A reply that starts with it loses it.
	Label string
}

// Tools runs tool calls.
type Tools interface {
	// Call runs the calls of one answer and returns one result each, in call
	// order. A failing, refused, unknown or cancelled call is a Result with
	// IsError, never an error: the model must always get its answer.
	Call(ctx context.Context, calls []llm.ToolCall) []Result
}
