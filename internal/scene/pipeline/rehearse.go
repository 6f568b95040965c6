package pipeline

import (
	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/prompt"
)

// rehearsed has the embedded model play a Writer's call. It takes the last
// message for what somebody said to it, so it is given that alone: the person's
// message, or what the speaker before said. The record of the call stays that
// of a real model's.
func (x *Exchange) rehearsed(p pass, name string, t prompt.Turn) pass {
	if !x.snap.Settings.Rehearses(x.snap.Endpoints) {
		return p
	}
	last := t.Message
	if n := len(x.path); last == "" && n > 0 {
		last = x.frame.Text(x.path[n-1].Message)
	}
	own := x.r.Models.Rehearsal(name)
	p.lane.Model, p.lane.Name = own.Model, own.Name
	p.plain = &llm.Request{Model: own.Name, Messages: append(history(x.path, name, x.frame), llm.Message{Role: llm.RoleUser, Text: last})}
	return p
}

// history is a path from a seat, since the model says more the first time it is
// heard.
func history(path []scene.Step, name string, frame *prompt.Scene) []llm.Message {
	var seen []llm.Message
	for _, s := range path {
		m := llm.Message{Role: llm.RoleUser, Text: s.Content}
		if s.Role == scene.RoleAssistant && frame.Label(s.Message) == name {
			m.Role = llm.RoleAssistant
		}
		seen = append(seen, m)
	}
	return seen
}
