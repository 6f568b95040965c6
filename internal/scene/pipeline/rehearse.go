package pipeline

import (
	"slices"
	"strings"
	"unicode"

	"jp/internal/kernel/exchange"
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

// rehearsedPlan is what a Director would say that only pretends: who is named
// in the message, else the next two in turn.
func (x *Exchange) rehearsedPlan() []exchange.Slot {
	var plan []exchange.Slot
	may := x.snap.Eligible()
	for word := range strings.FieldsFuncSeq(x.turn.message, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
		for _, m := range may {
			first, _, _ := strings.Cut(m.Name, " ")
			said := strings.EqualFold(word, first) || strings.EqualFold(word, m.Key)
			if said && !slices.ContainsFunc(plan, func(s exchange.Slot) bool { return s.Speaker == m.ID }) {
				plan = append(plan, exchange.Slot{Speaker: m.ID})
			}
		}
	}
	if next := RoundRobin(x.snap); len(plan) == 0 && len(next) > 0 {
		at := slices.IndexFunc(may, func(m scene.Member) bool { return m.ID == next[0].Speaker })
		plan = next
		if other := may[(at+1)%len(may)]; other.ID != plan[0].Speaker {
			plan = append(plan, exchange.Slot{Speaker: other.ID})
		}
	}
	return plan[:min(len(plan), x.snap.Conversation.MaxSpeakers)]
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
