package chat

import (
	"encoding/json"
	"fmt"

	"jp/internal/kernel/llm"
)

// answer is an answer on its way: it turns events into chunks.
type answer struct {
	halves  halves
	think   thinkSplit
	stop    stopCut
	calls   []call
	byIndex map[int]int // the wire's index → place in calls
	earlier int         // tool calls in the history, for ids of our own
	details []detail
	size    int // bytes of the details and of calls without a name
	usage   *llm.Usage
	finish  llm.Finish // "" until there is one
	refused bool
	stopped bool // by a stop string of ours
	marked  bool // the end marker, or the end of a whole answer, was seen
	begun   bool // an object of the protocol was seen
}

// call is a tool call whose fragments arrive.
type call struct {
	id, name string
	pending  []byte // arguments that came before the name
	size     int    // bytes of it that were not told
	opened   bool   // a fragment was yielded
}

func newAnswer(req llm.Request, d Dialect) *answer {
	_, rest := d.split(req.Params.Stop)
	a := &answer{byIndex: map[int]int{}, stop: stopCut{stops: rest}}
	for _, m := range req.Messages {
		a.earlier += len(m.ToolCalls)
	}
	return a
}

// whole tells whether the answer may end here.
func (a *answer) whole() bool { return a.marked || a.stopped || a.finish != "" }

// take turns the data of one event into chunks, at least one. An error ends
// the answer.
func (a *answer) take(data []byte) ([]llm.Chunk, *llm.Error) {
	var e *event
	if err := json.Unmarshal(data, &e); err != nil || e == nil {
		return nil, &llm.Error{Kind: llm.Broken, Message: "the server sent something that is no object of the protocol", Err: err}
	}
	a.begun = true
	if raw := e.failed(data); raw != nil {
		return nil, reported(raw)
	}
	if u := e.counts(); u != nil {
		a.usage = u
	}
	var out []llm.Chunk
	for _, c := range e.Choices {
		if c.Index != 0 || a.stopped {
			continue
		}
		for _, d := range []*delta{c.Delta, c.Message} {
			if d != nil {
				out = a.delta(out, *d)
			}
		}
		a.marked = a.marked || c.Message != nil
		if c.FinishReason == "" {
			continue
		}
		finish, ok := finishOf(c.FinishReason)
		if !ok {
			return out, &llm.Error{Kind: llm.Broken, Message: fmt.Sprintf("the server ended the answer with %q", shorten(c.FinishReason))}
		}
		a.finish = finish
	}
	if untold := a.untold(); untold > 0 || len(out) == 0 {
		out = append(out, llm.Chunk{Untold: untold})
	}
	return out, nil
}

// untold is how many bytes of the answer no chunk has told.
func (a *answer) untold() int { return a.think.untold() + len(a.stop.held) + a.size }

func (a *answer) delta(out []llm.Chunk, d delta) []llm.Chunk {
	for _, fields := range d.ReasoningDetails {
		a.detail(fields)
	}
	thought := d.ReasoningContent
	if thought == "" {
		thought = d.Reasoning
	}
	if thought != "" {
		out = append(out, llm.Chunk{Reasoning: thought})
	}
	if text := contentText(a.halves.join(d.Content)); text != "" {
		text, thought := a.think.write(text)
		out = a.say(out, text, thought)
	}
	if d.Refusal != "" {
		a.refused = true
		out = a.say(out, d.Refusal, "")
	}
	for _, t := range d.ToolCalls {
		out = a.flush(out)
		if f := a.fragment(t); f != nil {
			out = append(out, llm.Chunk{Tool: f})
		}
	}
	return out
}

// say yields text up to a stop string of ours.
func (a *answer) say(out []llm.Chunk, text, thought string) []llm.Chunk {
	if thought != "" {
		out = append(out, llm.Chunk{Reasoning: thought})
	}
	if a.stopped {
		return out
	}
	text, a.stopped = a.stop.write(text)
	if text != "" {
		out = append(out, llm.Chunk{Text: text})
	}
	return out
}

// flush yields what is held back because it could have become something else.
func (a *answer) flush(out []llm.Chunk) []llm.Chunk {
	text, thought := a.think.flush()
	out = a.say(out, text, thought)
	if held := a.stop.flush(); held != "" && !a.stopped {
		out = append(out, llm.Chunk{Text: held})
	}
	return out
}

// fragment files a piece of a tool call and returns what is to be told, nil
// while the tool is not named.
func (a *answer) fragment(t toolDelta) *llm.ToolDelta {
	at := a.callOf(t)
	c := &a.calls[at]
	args := argumentText(t.Function.Arguments)
	if c.opened {
		return &llm.ToolDelta{Index: at, Arguments: args}
	}
	a.size -= c.size
	if c.id == "" {
		c.id = t.ID
	}
	c.name = t.Function.Name
	if c.name == "" {
		c.pending = append(c.pending, args...)
		c.size = len(c.id) + len(c.pending) + overhead
		a.size += c.size
		return nil
	}
	if c.id == "" {
		c.id = fmt.Sprintf("call_%d", a.earlier+at+1)
	}
	c.opened = true
	return &llm.ToolDelta{Index: at, ID: c.id, Name: c.name, Arguments: string(c.pending) + args}
}

// callOf is the place of the call that a fragment belongs to, in order of
// first appearance. A new id is a new call, also at an index in use; without
// an index a name or a new id opens a call.
func (a *answer) callOf(t toolDelta) int {
	last := len(a.calls) - 1
	if t.Index == nil {
		if last >= 0 && (t.ID == "" && t.Function.Name == "" || t.ID != "" && t.ID == a.calls[last].id) {
			return last
		}
	} else if at, ok := a.byIndex[*t.Index]; ok {
		if id := a.calls[at].id; t.ID == "" || id == "" || t.ID == id {
			return at
		}
	}
	a.calls = append(a.calls, call{id: t.ID})
	if t.Index != nil {
		a.byIndex[*t.Index] = last + 1
	}
	return last + 1
}

// end yields the rest of a whole answer, its finish last.
func (a *answer) end() ([]llm.Chunk, *llm.Error) {
	out := a.flush(nil)
	for _, c := range a.calls {
		if !c.opened {
			return out, &llm.Error{Kind: llm.Broken, Message: "the server sent a tool call without a name"}
		}
	}
	if len(a.details) > 0 {
		out = append(out, llm.Chunk{Replay: map[string]any{detailsKey: whole(a.details)}})
	}
	finish := a.finish
	switch {
	case a.refused:
		finish = llm.FinishRefused
	case len(a.calls) > 0 && (finish == "" || finish == llm.FinishStop):
		finish = llm.FinishToolCalls
	case finish == "":
		finish = llm.FinishStop
	}
	return append(out, llm.Chunk{Usage: a.usage, Finish: finish}), nil
}
