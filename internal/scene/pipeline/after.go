package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"jp/internal/scene"
	"jp/internal/scene/prompt"
)

// step is something that runs after the last reply of an exchange. It gets the
// shared prefix and the replies, never a speaker's trailing message.
type step struct {
	name string
	runs func(*Exchange) bool
	run  func(*Exchange, context.Context) error
}

// steps are the after-exchange steps, in order.
func steps() []step {
	return []step{
		{name: "sheet_updates", runs: (*Exchange).updatesSheets, run: (*Exchange).updateSheets},
	}
}

// afterwards runs the steps while the conversation may already be asked for
// the next exchange, which ends them. Their failure is a warning.
func (x *Exchange) afterwards() {
	if x.turn.replaces != nil && !x.turn.newest {
		return // what was written again in the middle changes nothing behind it
	}
	x.claim.Yield()
	for _, s := range steps() {
		if x.ctx.Err() != nil || !s.runs(x) {
			continue
		}
		x.say(StepStart, StepData{Step: s.name})
		if err := s.run(x, x.ctx); err != nil {
			x.warn(strings.ReplaceAll(s.name, "_", " "), err)
		}
	}
	if len(x.calls) > 0 {
		last := x.stored[len(x.stored)-1]
		if err := x.r.Scenes.SaveCalls(context.WithoutCancel(x.ctx), x.ask.Conversation, last, x.id, x.calls); err != nil {
			x.r.Log.ErrorContext(x.ctx, "calls after an exchange are not kept", "error", err)
		}
	}
}

// updatesSheets tells whether new private sheets may be proposed: opted in,
// and a member's perspective is its own.
func (x *Exchange) updatesSheets() bool {
	c := x.snap.Conversation
	return x.group() && c.SheetUpdates && c.ContextMode != scene.Shared && c.ContextMode != scene.Swap && len(x.spoke) > 0
}

// Bounds of a proposed sheet.
const (
	mostReplies = 8    // of the round that are evidence
	leastRoom   = 1200 // characters that any sheet may have
	growth      = 600  // characters that a sheet may grow by
	summaryMost = 25   // words
)

// updateSheets asks for each member that spoke whether the round changed what
// it should know about itself, and stages what is proposed.
func (x *Exchange) updateSheets(ctx context.Context) error {
	asked := map[string]bool{}
	var failed error
	for _, id := range x.spoke {
		if asked[id] || ctx.Err() != nil {
			continue
		}
		asked[id] = true
		if err := x.updateSheet(ctx, id); err != nil && !errors.Is(err, errStopped) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// sheetAnswer is what a sheet update may say.
type sheetAnswer struct {
	Changed bool   `json:"changed"`
	Sheet   string `json:"sheet"`
	Summary string `json:"summary"`
}

func (x *Exchange) updateSheet(ctx context.Context, id string) error {
	m, _ := x.snap.Member(id)
	current := scene.PrivateSheet(m, x.snap.CardOf(m))
	from, err := x.carried(ctx, m, current)
	if err != nil || from == "" {
		return err
	}
	lane := x.lanes.agent
	tool, _ := toolNamed(x.tools, updateSheet)
	asked := phrase("sheet_update.txt", struct{ Name, Sheet, Evidence, Demand string }{m.Name, from, x.evidence(), Demand(lane, tool)})
	p := passOf("sheet", lane, x.body(lane, ""), x.frame.History(x.path, x.images.of), []prompt.Section{{Key: "sheet", Text: asked}}, nil)
	p.req = Force(lane, x.tools, p.req, updateSheet)
	a, err := x.r.ask(ctx, p, x.keep, nil)
	if err != nil {
		return at("sheet updates", err)
	}
	var answer sheetAnswer
	args, ok := Answer(updateSheet, a.calls, a.text)
	if !ok || json.Unmarshal(args, &answer) != nil || !answer.fits(from) {
		return nil // what is no sheet costs nothing
	}
	_, err = x.r.Scenes.Propose(context.WithoutCancel(ctx), x.ask.Conversation, scene.NewProposal{
		MemberID: m.ID, ExchangeID: x.id, Base: &current, Sheet: strings.TrimSpace(answer.Sheet), Summary: answer.summary(),
	})
	return err
}

// carried is what the update begins from: the pending proposal if it still
// stands on the present sheet and on the path, else the sheet as the member
// reads it: an answer repeats what it is shown, and macros in it are no sheet.
func (x *Exchange) carried(ctx context.Context, m scene.Member, current string) (string, error) {
	pending, err := x.r.Scenes.Proposals(context.WithoutCancel(ctx), x.ask.Conversation, string(scene.Pending))
	if err != nil {
		return "", err
	}
	for _, p := range pending {
		if p.MemberID != m.ID || p.Base != current || x.turn.replaces != nil && p.ExchangeID == x.id {
			continue
		}
		for _, s := range x.path {
			if s.ExchangeID != nil && *s.ExchangeID == p.ExchangeID {
				return p.Sheet, nil
			}
		}
	}
	return x.frame.Sheet(m), nil
}

// evidence is the round that the exchange belongs to, as lines "Name: text".
func (x *Exchange) evidence() string {
	round := scene.Round(x.path)
	first := max(0, len(round)-mostReplies)
	var lines []string
	for i, s := range round {
		if s.Role == scene.RoleUser || i >= first {
			lines = append(lines, x.frame.Label(s.Message)+": "+x.frame.Text(s.Message))
		}
	}
	return strings.Join(lines, "\n\n")
}

// fits tells whether an answer is a new sheet at all.
func (a sheetAnswer) fits(from string) bool {
	sheet := strings.TrimSpace(a.Sheet)
	most := max(leastRoom, utf8.RuneCountInString(from)+growth)
	return a.Changed && sheet != "" && !strings.ContainsAny(sheet, "{}") && utf8.RuneCountInString(sheet) <= most &&
		strings.Join(strings.Fields(sheet), " ") != strings.Join(strings.Fields(from), " ")
}

func (a sheetAnswer) summary() string {
	words := strings.Fields(a.Summary)
	if strings.ContainsAny(a.Summary, "{}") {
		return ""
	}
	return strings.Join(words[:min(len(words), summaryMost)], " ")
}
