package pipeline

import (
	"context"
	"slices"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/prompt"
)

// choose finds who speaks, asking the Director where it is needed. It is called
// once for an exchange.
func (x *Exchange) choose(ctx context.Context) ([]exchange.Slot, error) {
	fixed := x.fixed()
	if Directs(x.snap, fixed != nil) {
		if err := x.directs(ctx, fixed); err != nil {
			return nil, at("director pass", err)
		}
	} else {
		x.say(DirectorDone, DirectorData{ActiveMoods: []string{}, ToolCalls: []ToolCallData{}, ExtraFields: map[string]any{}, Cooldowns: map[string]int{}})
	}
	if !x.group() {
		return []exchange.Slot{{}}, nil
	}
	if x.directed && !x.direct.PlanOK && x.snap.Settings.Rehearses(x.snap.Endpoints) {
		x.direct.Plan, x.direct.PlanOK = x.rehearsedPlan(), true
	}
	return Choose(x.snap, x.turn.pin, x.direct.Plan, x.direct.PlanOK), nil
}

// fixed is the member that speaks whatever a Director would plan.
func (x *Exchange) fixed() *string {
	if x.turn.pin != nil || !x.group() {
		return x.turn.pin
	}
	if next := Choose(x.snap, nil, nil, false); x.snap.Conversation.TurnMode != scene.Director && len(next) > 0 {
		return &next[0].Speaker
	}
	return nil
}

// directs runs the Director and tells what it decided.
func (x *Exchange) directs(ctx context.Context, fixed *string) error {
	x.say(DirectorStart, nil)
	lane := x.lanes.agent
	body := x.body(lane, "")
	message := ""
	if x.turn.asked != nil && !x.turn.steered { // a steer is the Writer's alone
		message = x.frame.Text(x.turn.asked.Message)
	}
	base := prefixOf("director", lane, body, x.frame.History(x.path, x.images.of))
	d := Directing{
		Snapshot: x.snap, Lane: lane, Tools: x.tools, Lore: x.frame.LoreBlock(x.lore), Message: message, Fixed: fixed,
		Scope: x.frame.SceneScope(), Now: x.r.Now, Base: base.req,
	}
	if x.turn.asked != nil && !x.turn.steered {
		d.Images = x.images.of(x.turn.asked.ID)
	}
	direct, err := Direct(ctx, d, func(ctx context.Context, req llm.Request) ([]llm.ToolCall, string, string, error) {
		p := base
		p.req = req
		p.sections = append(slices.Clip(p.sections), prompt.Section{Key: "director", Text: req.Messages[len(req.Messages)-1].Text})
		a, err := x.r.ask(ctx, p, x.keep, func(delta string) { x.say(Reasoning, ReasoningData{Pass: "director", Delta: delta}) })
		return a.calls, a.text, a.reasoning, err
	})
	if err != nil {
		return err
	}
	x.direct, x.directed = direct, true
	if direct.Warning != nil {
		x.warn("director pass", direct.Warning)
	}
	x.say(DirectorDone, DirectorData{
		ActiveMoods: direct.Moods, Injection: direct.Injection, ToolCalls: nonNil(direct.Calls), LatencyMS: direct.Latency.Milliseconds(),
		ExtraFields: direct.Fields, Cooldowns: direct.Cooldowns,
	})
	return nil
}
