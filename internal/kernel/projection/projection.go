// Package projection shows a conversation of several speakers to one of them
// as the two-sided history that model providers expect.
//
// It is pure: the same lines from the same seat are always the same messages,
// and what others may see of a speaker does not depend on who is asking. A
// speaker's own lines become assistant messages, everybody else's become user
// messages; as soon as two or more others are heard, each of theirs carries
// its speaker's label in the text, because providers merge messages of one
// role. Others' reasoning and tool traffic is never shown.
//
// What comes out is fit to send: no message is blank, every tool call has
// exactly one result directly after the message that made it, and the last
// message is never the speaker's own: providers refuse to answer that, so a
// neutral request to go on follows it, and stands alone when there is nothing
// to show. Messages of one role may follow one another; wires that need to
// merge them do.
package projection

import "jp/internal/kernel/llm"

// Kind says what a Line holds.
type Kind string

// The kinds of lines. A Note is nobody's: user text without a label (a
// summary of what was cut).
const (
	Request    Kind = "request"
	Text       Kind = "text"
	Reasoning  Kind = "reasoning"
	ToolCall   Kind = "tool_call"
	ToolResult Kind = "tool_result"
	Note       Kind = "note"
)

// Line is one thing said or done, in the order of the conversation.
type Line struct {
	Kind    Kind
	Speaker string // identifier, or a human author's name; a human's may be empty
	Human   bool
	ID      string // of a Request: what the lines that answer it carry in Answers
	Answers string // id of the request that is answered; empty when unknown
	// Provider whose model made the line. Own reasoning and its Replay data
	// are shown only to a seat on the same provider.
	Provider   string
	Text       string         // request, text, reasoning, note; tool result content
	Replay     map[string]any // reasoning: opaque provider data
	Call       llm.ToolCall   // tool call; of a result only ID and Name
	IsError    bool           // tool result
	Images     []llm.Image    // request
	Incomplete bool           // text or reasoning of a reply that broke off
	// Only are the speakers it is shown to; nil means everyone. A reply
	// without limits of its own has those of the request that it answers.
	Only []string
}

// Seat is who is about to speak.
type Seat struct {
	Speaker  string
	Provider string
	// Answering is the id of the request to be answered now.
	Answering string
	// Known are the identifiers of all speakers that are not human, present or
	// not: an author named like one of them is labelled "name (human)".
	Known []string
}

// View is a projection.
type View struct {
	Messages []llm.Message
	// Labels are those used, the seat's own among them; empty in a two-sided
	// conversation, whose messages then carry none.
	Labels []string
	Own    string // the seat's own label when Labels are used, else ""
}
