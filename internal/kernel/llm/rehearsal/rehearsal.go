// Package rehearsal is the embedded model offline/rehearsal. It needs no
// network and no key and understands nothing: it plays a speaker so that a
// room can be tried, shown and tested.
//
// It is a pure function of the speaker's name and the request. It says who was
// heard last and what they began with, and names a detail of it: a line of a
// diff, an attachment, a word. Different speakers choose different words. Every
// reply is marked as rehearsed, the first in a conversation says so at length.
// A tool is called only when the request forces one, with arguments that are
// valid for its JSON Schema as far as schemas are understood here; so is the
// JSON when the request demands some. The terminal face offers no tools yet and
// forces none.
package rehearsal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"jp/internal/kernel/llm"
)

// New returns the model that plays the speaker called name.
func New(name string) llm.Model {
	if name = plain(name); name == "" {
		name = "Rehearsal"
	}
	return actor{name}
}

type actor struct{ name string }

var _ llm.Model = actor{}

// Stream implements llm.Model. Errors: ctx's cause; *llm.Error of kind
// Rejected for a forced tool that is not offered or whose schema is no JSON.
func (a actor) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		chunks, err := a.answer(req)
		for _, c := range chunks {
			if ctx.Err() != nil {
				break
			}
			if !yield(c, nil) {
				return
			}
		}
		if ctx.Err() != nil && (err != nil || len(chunks) > 0) {
			err = context.Cause(ctx)
		}
		if err != nil {
			yield(llm.Chunk{}, err)
		}
	}
}

// answer is the whole answer in the chunks in which it streams.
func (a actor) answer(req llm.Request) ([]llm.Chunk, error) {
	tool, err := forced(req)
	if err != nil {
		return nil, err
	}
	var chunks []llm.Chunk
	var said string
	finish := llm.FinishStop
	switch {
	case tool != nil:
		finish = llm.FinishToolCalls
		if said, err = fill(tool.Schema, "rehearsal"); err != nil {
			return nil, err
		}
		next := llm.ToolDelta{ID: fmt.Sprintf("call_%d", calls(req)+1), Name: tool.Name}
		for _, part := range pieces(said) {
			next.Arguments = part
			delta := next
			chunks = append(chunks, llm.Chunk{Tool: &delta})
			next.ID, next.Name = "", ""
		}
	case len(req.Schema) > 0:
		if said, err = fill(req.Schema, cmp.Or(heard(req).quote(), "rehearsal")); err != nil {
			return nil, err
		}
		for _, part := range pieces(said) {
			chunks = append(chunks, llm.Chunk{Text: part})
		}
	default:
		said = a.say(req)
		for _, word := range strings.SplitAfter(said, " ") {
			chunks = append(chunks, llm.Chunk{Text: word})
		}
	}
	usage := llm.Usage{Input: tokens(size(req)), Output: tokens(len(said))}
	return append(chunks, llm.Chunk{Usage: &usage, Finish: finish}), nil
}

// forced is the tool that the request forces, or nil.
func forced(req llm.Request) (*llm.Tool, error) {
	switch req.ToolChoice.Mode {
	case llm.ToolRequired:
		if len(req.Tools) > 0 {
			return &req.Tools[0], nil
		}
	case llm.ToolNamed:
		for i, t := range req.Tools {
			if t.Name == req.ToolChoice.Name {
				return &req.Tools[i], nil
			}
		}
		return nil, rejected("the tool " + req.ToolChoice.Name + " is demanded but not offered")
	}
	return nil, nil
}

// fill writes a JSON value of a schema, an empty object when there is none or
// it is not understood.
func fill(schema json.RawMessage, word string) (string, error) {
	if len(schema) == 0 {
		return "{}", nil
	}
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return "", rejected("the schema is not JSON: " + err.Error())
	}
	f := filler{root: root, word: word}
	value, ok := f.whole()
	if !ok {
		value = map[string]any{}
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", rejected("no value for the schema: " + err.Error())
	}
	return string(text), nil
}

func rejected(message string) *llm.Error {
	return &llm.Error{Kind: llm.Rejected, Provider: "offline", Message: message}
}

// calls counts the tool calls so far, so that ids do not repeat.
func calls(req llm.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += len(m.ToolCalls)
	}
	return n
}

// pieces cuts text into small pieces of whole characters.
func pieces(text string) []string {
	var out []string
	for len(text) > 16 {
		n := 16
		for !utf8.RuneStart(text[n]) {
			n--
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return append(out, text)
}

func size(req llm.Request) int {
	n := len(req.Schema)
	for _, s := range req.System {
		n += len(s)
	}
	for _, d := range req.Documents {
		n += len(d.Text)
	}
	for _, m := range req.Messages {
		n += len(m.Text) + len(m.Reasoning)
	}
	for _, t := range req.Tools {
		n += len(t.Description) + len(t.Schema)
	}
	return n
}

// tokens estimates: four bytes each.
func tokens(bytes int) int { return (bytes + 3) / 4 }
