package pipeline

import (
	"context"
	"errors"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// Commit implements exchange.Ledger: message, files, log and, with the first
// reply, the Director's state, in one transaction.
func (x *Exchange) Commit(ctx context.Context, slot exchange.Slot, rec reply.Record) error {
	d := x.draft
	n := scene.NewMessage{
		Parent: scene.To(x.parent), Role: scene.RoleAssistant, Content: d.text, TurnIndex: &x.index,
		ExchangeID: &x.id, Direction: x.turn.direction, Cut: d.cut, WriterDraft: d.kept,
		Uploads: d.uploads, Slots: d.slots, Once: x.once(),
	}
	if d.member != nil {
		n.SpeakerID = &d.member.ID
	}
	switch rec.Answer.Incomplete {
	case reply.Interrupted:
		n.Incomplete = scene.IncompleteInterrupted
	case reply.ByError:
		n.Incomplete = scene.IncompleteError
	}
	r := scene.Reply{NewMessage: n, Log: x.log()}
	if len(x.stored) == 0 && x.directed {
		state := x.direct.State(x.ask.Conversation)
		r.Director = &state
	}
	m, err := x.r.Scenes.SaveReply(ctx, x.ask.Conversation, r)
	if err != nil {
		return at("saving the reply", err)
	}
	x.saved(m)
	if err := x.r.Scenes.SaveCalls(ctx, x.ask.Conversation, m.ID, x.id, x.calls); err != nil {
		x.r.Log.ErrorContext(ctx, "the prompt of a reply is not kept", "message", m.ID, "error", err)
	}
	x.calls = nil
	return nil
}

// saved lets the next speaker see the reply, and what was asked before it.
func (x *Exchange) saved(m scene.Message) {
	switch first := len(x.stored) == 0; {
	case first && x.turn.steered: // the reply stands in the place of the one that was shown
		x.path = x.path[: len(x.path)-1 : len(x.path)-1]
	case first && x.turn.asked != nil:
		x.path = append(x.path[:len(x.path):len(x.path)], *x.turn.asked)
	}
	x.path = append(x.path, scene.Step{Message: m, Branches: 1})
	x.stored = append(x.stored, m.ID)
	if m.SpeakerID != nil && m.Incomplete == "" {
		x.spoke = append(x.spoke, *m.SpeakerID)
	}
	x.draft.saved = &m
	x.parent, x.index = &m.ID, m.TurnIndex+1
}

// log is the row behind the reply.
func (x *Exchange) log() *scene.Log {
	d := x.draft
	moods, cooldowns := x.direct.Moods, x.direct.Cooldowns
	if !x.directed { // they stay as they were
		moods, cooldowns = x.snap.Director.ActiveMoods, x.snap.Director.Cooldowns
	}
	l := &scene.Log{
		ExchangeID: x.id, TurnIndex: x.index, ActiveMoods: moods, Cooldowns: cooldowns,
		Injection: x.direct.Injection, AgentLatency: x.direct.Latency,
		ReasoningDirector: x.direct.Reasoning, ReasoningWriter: d.reasoning, ReasoningEditor: d.edited,
		Feedback: d.feedback, Plan: x.planJSON, Lore: x.lore.JSON(),
	}
	if calls := append(x.direct.Calls[:len(x.direct.Calls):len(x.direct.Calls)], d.tools...); len(calls) > 0 {
		l.ToolCalls = literal.Must(calls)
	}
	return l
}

// forward announces what the kernel's exchange announces, in this API's words.
func (x *Exchange) forward(e exchange.Event) {
	switch e.Kind {
	case exchange.Started:
		s := SpeakerData{Index: e.Index, Total: e.Total, Cue: e.Slot.Cue, Name: x.snap.Conversation.CharacterName}
		if m, ok := x.snap.Member(e.Slot.Speaker); ok {
			s.MemberID, s.CardID, s.Name = &m.ID, m.CardID, m.Name
		} else {
			s.CardID = x.snap.Conversation.CardID
		}
		x.draft = nil
		x.say(SpeakerStart, s)
	case exchange.Streamed:
		x.streamed(e.Delta)
	case exchange.Saved:
		x.say(SpeakerDone, x.done())
	case exchange.Failed:
		if x.draft == nil || x.draft.saved == nil {
			x.failed(e.Slot, e.Err)
		}
	}
}

func (x *Exchange) streamed(d reply.Delta) {
	if d.Reasoning != "" {
		x.say(Reasoning, ReasoningData{Pass: "writer", Delta: d.Reasoning})
	}
	if d.Text != "" {
		x.say(Token, d.Text)
	}
	if d.Notice != "" {
		x.say(PhaseStatus, PhaseData{Channel: "writer", Label: d.Notice})
	}
}

func (x *Exchange) done() SpeakerDoneData {
	d, m := x.draft, x.draft.saved
	out := SpeakerDoneData{
		MessageID: m.ID, ParentID: m.ParentID, TurnIndex: m.TurnIndex, MemberID: m.SpeakerID, Name: d.name,
		Content: m.Content, Incomplete: m.Incomplete != "", Cut: m.Cut, Usage: d.usage, Timing: d.timing,
	}
	if c := x.card(); c != nil {
		out.CardID = &c.ID
	}
	return out
}

func (x *Exchange) failed(slot exchange.Slot, err error) {
	f := SpeakerFailedData{Detail: told(err)}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		f.Detail = told(e)
	}
	if slot.Speaker != "" {
		f.MemberID = &slot.Speaker
	}
	x.say(SpeakerFailed, f)
}
