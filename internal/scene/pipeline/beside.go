package pipeline

import (
	"context"
	"slices"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/prompt"
)

// beside is a conversation as a call beside exchanges sees it: committed rows,
// no claim. Its calls extend the prefix of the exchanges.
type beside struct {
	snap  scene.Snapshot
	frame *prompt.Scene
	lane  Lane
	lore  lore.Selection
	tools []llm.Tool
	shown pictures
}

// look reads a conversation for a call beside exchanges.
func (r *Runner) look(ctx context.Context, conversation string) (b beside, err error) {
	if b.snap, err = r.Scenes.Snapshot(ctx, conversation); err != nil {
		return b, err
	}
	l, err := r.open(b.snap)
	if err != nil {
		return b, err
	}
	b.lane = l.agent
	b.frame = prompt.New(b.snap, r.Now())
	b.lore = lore.Compile(b.snap.Worlds, b.snap.Entries).Select(lastTexts(b.snap.Path), b.snap.Conversation.LoreBudget)
	b.tools = toolsOf(b.snap, b.frame)
	return b, b.shown.load(ctx, r.Scenes, b.snap.Path)
}

// pass is a call on the first messages of the visible branch.
func (b beside) pass(name string, path []scene.Step, asked string) pass {
	p := passOf(name, b.lane, b.frame.System(b.lane.prompt(b.frame), b.lore, ""), b.frame.History(path, b.shown.of),
		[]prompt.Section{{Key: name, Text: asked}}, nil)
	p.req = Ship(b.lane, b.tools, p.req)
	return p
}

// unkept drops the record of a call that belongs to no reply.
func unkept(scene.Call) {}

// Summary is one that was checked and may be written.
type Summary struct {
	r    *Runner
	pass pass
	conv string
}

// BeginSummary checks that a conversation's messages but the last keep can be
// summed up. custom adds to what is asked. Errors: NotFound; Invalid for
// another number than 2, 4, 6 or 8 and when nothing is left; fault.Config.
func (r *Runner) BeginSummary(ctx context.Context, conversation string, keep int, custom string) (*Summary, error) {
	if !slices.Contains([]int{2, 4, 6, 8}, keep) {
		return nil, fault.New(fault.Invalid, "%d messages cannot be kept", keep).WithHint("keep 2, 4, 6 or 8")
	}
	b, err := r.look(ctx, conversation)
	if err != nil {
		return nil, err
	}
	if len(b.snap.Path) <= keep {
		return nil, fault.New(fault.Invalid, "there is nothing to sum up: the conversation has %d messages, and %d are kept", len(b.snap.Path), keep)
	}
	asked := phrase("summary.txt", strings.TrimSpace(custom))
	return &Summary{r: r, pass: b.pass("summary", b.snap.Path[:len(b.snap.Path)-keep], asked), conv: conversation}, nil
}

// Run writes the summary: tokens, then Done, before it Failed if it failed.
// Nothing is stored.
func (s *Summary) Run(ctx context.Context, announce func(Event)) {
	status := "completed"
	var failed error
	for ev, err := range s.r.stream(ctx, s.pass, unkept) {
		if failed = err; err != nil {
			break
		}
		if ev.Delta.Text != "" {
			announce(Event{Name: Token, Data: ev.Delta.Text})
		}
		if ev.Delta.Reasoning != "" {
			announce(Event{Name: Reasoning, Data: ReasoningData{Pass: "summary", Delta: ev.Delta.Reasoning}})
		}
	}
	switch {
	case ctx.Err() != nil:
		status = "stopped"
	case failed != nil:
		status = "failed"
		announce(Event{Name: Failed, Data: s.r.problem(ctx, failed, s.conv)})
	}
	announce(Event{Name: Done, Data: DoneData{Status: status}})
}

// longestCompletion bounds what is added to a draft, in tokens.
const longestCompletion = 120

// Autocomplete goes on with what a person is writing. Errors: NotFound, those
// of the model, and Provider when nothing came.
func (r *Runner) Autocomplete(ctx context.Context, conversation, draft string) (string, error) {
	b, err := r.look(ctx, conversation)
	if err != nil {
		return "", err
	}
	p := b.pass("autocomplete", b.snap.Path, phrase("autocomplete.txt", struct{ User, Draft string }{b.snap.UserName(), draft}))
	p.req.Params.MaxTokens = new(longestCompletion)
	p.req.Params.Reasoning = llm.EffortOff
	a, err := r.ask(ctx, p, unkept, nil)
	if err != nil {
		return "", err
	}
	return completion(draft, a.text), nil
}

// completion is what an answer adds to a draft, which models like to repeat.
func completion(draft, answer string) string {
	answer = strings.TrimRight(answer, " \n\t")
	if rest, repeated := strings.CutPrefix(answer, draft); repeated && draft != "" {
		return rest
	}
	return answer
}

// ContextSize measures what the next exchange would send. Errors: NotFound.
func (r *Runner) ContextSize(ctx context.Context, conversation string) (prompt.Size, error) {
	snap, err := r.Scenes.Snapshot(ctx, conversation)
	if err != nil {
		return prompt.Size{}, err
	}
	frame := prompt.New(snap, r.Now())
	found := lore.Compile(snap.Worlds, snap.Entries).Select(lastTexts(snap.Path), snap.Conversation.LoreBudget)
	lane, err := r.lane(snap, snap.Settings.ActiveEndpointID, scene.LaneWriter)
	if err != nil {
		lane = Lane{} // a model that is missing changes the size by its prompt alone
	}
	return frame.Size(lane.prompt(frame), prompt.Turn{Lore: found}), nil
}

// lastTexts are the texts in which lore is looked for.
func lastTexts(path []scene.Step) []string {
	var texts []string
	for _, s := range path[max(0, len(path)-scanWindow):] {
		texts = append(texts, s.Content)
	}
	return texts
}
