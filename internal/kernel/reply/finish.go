package reply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"jp/internal/kernel/llm"
)

// finish makes the answer out of what was collected and of failed, the reason
// why the stream did not end. A nil answer is nothing worth keeping; an answer
// beside an error is a part of one. Calls are only those of a whole answer:
// whatever cut the answer may have cut them.
func (c *call) finish(ctx context.Context, failed error) (*Answer, map[string]string, error) {
	a := &Answer{Finish: c.ended, Usage: c.usage}
	spoken := false
	for _, p := range c.parts {
		text := p.text.String()
		blank := strings.TrimSpace(text) == ""
		if blank && (p.kind == Text || p.replay == nil) {
			continue
		}
		spoken = spoken || p.kind == Text
		a.Parts = append(a.Parts, Part{Kind: p.kind, Text: text, Replay: p.replay})
	}
	switch {
	case failed != nil && ctx.Err() != nil && errors.Is(failed, context.Cause(ctx)):
		a.Incomplete = Interrupted
	case failed != nil:
		a.Incomplete = ByError
	case c.ended == llm.FinishRefused:
		a.Incomplete = ByError
		failed = &llm.Error{Kind: llm.Rejected, Message: "the model refused to answer"}
	case c.ended == llm.FinishLength:
		a.Incomplete = Length
	}
	if failed != nil {
		if len(a.Parts) == 0 || !c.began {
			return nil, nil, failed
		}
		return a, nil, failed
	}
	var unfit map[string]string
	if a.Incomplete == Whole {
		a.Calls, a.Unread, unfit = c.calls()
	}
	if !spoken && len(a.Calls) == 0 {
		return nil, nil, c.empty()
	}
	return a, unfit, nil
}

func (c *call) empty() error {
	err := &llm.Error{Kind: llm.Empty, Message: "the answer is empty"}
	if c.ended == llm.FinishLength {
		err.Message = "the answer reached its length limit before it said anything"
		err.Hint = "allow more tokens or less reasoning"
	}
	return err
}

// calls returns the finished calls with unique ids and valid arguments. Those
// whose arguments are not a JSON object get an empty one and are unfit to run.
func (c *call) calls() (calls []llm.ToolCall, unread, unfit map[string]string) {
	ids := c.uniqueIDs()
	unread, unfit = map[string]string{}, map[string]string{}
	for i, t := range c.tools {
		if t.name == "" {
			continue
		}
		arguments, reason := object(t.arguments.String())
		if reason != "" {
			unread[ids[i]], unfit[ids[i]] = t.arguments.String(), reason
		}
		calls = append(calls, llm.ToolCall{ID: ids[i], Name: t.name, Arguments: arguments})
	}
	return calls, unread, unfit
}

// uniqueIDs returns an id for each call: the model's own unless it has none or
// gave it twice, then one that the history does not know either.
func (c *call) uniqueIDs() []string {
	ids := make([]string, len(c.tools))
	taken := map[string]bool{}
	missing := false
	for i, t := range c.tools {
		if t.id == "" || taken[t.id] {
			missing = true
			continue
		}
		taken[t.id] = true
		ids[i] = t.id
	}
	if !missing {
		return ids
	}
	for _, m := range c.prompt.Request.Messages {
		for _, call := range m.ToolCalls {
			taken[call.ID] = true
		}
	}
	n := 0
	for i := range ids {
		for ids[i] == "" {
			n++
			if id := fmt.Sprint("call_", n); !taken[id] {
				ids[i] = id
			}
		}
	}
	return ids
}

// object checks a call's arguments. No arguments at all are an empty object.
func object(s string) (arguments json.RawMessage, reason string) {
	empty := json.RawMessage("{}")
	s = strings.TrimSpace(s)
	if s == "" || s == "null" {
		return empty, ""
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &fields); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return empty, "Invalid arguments: they must be a JSON object."
		}
		return empty, "Invalid arguments: they are not valid JSON: " + err.Error()
	}
	return json.RawMessage(s), ""
}

// droppedNotice says that calls were not kept in a, if so.
func (c *call) droppedNotice(a *Answer) string {
	kept := 0
	if a != nil {
		kept = len(a.Calls)
	}
	switch n := len(c.tools) - kept; n {
	case 0:
		return ""
	case 1:
		return "a tool call was cut off and dropped"
	default:
		return fmt.Sprintf("%d tool calls were cut off and dropped", n)
	}
}
