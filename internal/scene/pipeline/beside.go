package pipeline

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/macro"
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

// look makes a conversation ready for a call beside exchanges.
func (r *Runner) look(ctx context.Context, snap scene.Snapshot) (b beside, err error) {
	b.snap = snap
	if b.lane, err = r.agent(snap); err != nil {
		return b, err
	}
	b.frame = prompt.New(snap, r.Now()).With(r.prepared(ctx, snap, func(Hook, string, error) {})...)
	b.lore = lore.Compile(snap.Worlds, snap.Entries).Select(lastTexts(snap.Path), snap.Conversation.LoreBudget)
	b.tools = toolsOf(snap, b.frame)
	return b, b.shown.load(ctx, r.Scenes, snap.Path)
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
	id   string
	said func(Event)
}

// ID is the summary's id, which stands where events have their exchange's. No
// message has it.
func (s *Summary) ID() string { return s.id }

// BeginSummary checks that a conversation's messages but the last keep can be
// summed up. custom adds to what is asked. Errors: NotFound; Invalid for
// another number than 2, 4, 6 or 8 and when nothing is left; fault.Config.
func (r *Runner) BeginSummary(ctx context.Context, conversation string, keep int, custom string) (*Summary, error) {
	snap, err := r.Scenes.Snapshot(ctx, conversation)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]int{2, 4, 6, 8}, keep) {
		return nil, fault.New(fault.Invalid, "%d messages cannot be kept", keep).WithHint("keep 2, 4, 6 or 8")
	}
	if len(snap.Path) <= keep {
		return nil, fault.New(fault.Invalid, "there is nothing to sum up: the conversation has %d messages, and %d are kept", len(snap.Path), keep)
	}
	b, err := r.look(ctx, snap)
	if err != nil {
		return nil, err
	}
	id, err := r.Scenes.NewID()
	if err != nil {
		return nil, err
	}
	asked := phrase("summary.txt", strings.TrimSpace(resolved(b.frame, custom)))
	return &Summary{r: r, pass: b.pass("summary", snap.Path[:len(snap.Path)-keep], asked), id: id}, nil
}

// Run writes the summary until ctx ends: tokens, then Done, before it Failed
// if it failed. Nothing is stored. A summary is run once.
func (s *Summary) Run(ctx context.Context, announce func(Event)) {
	s.said = announce
	err := caught(func() error { return s.write(ctx) })
	status := "completed"
	switch {
	case ctx.Err() != nil:
		status = "stopped"
	case err != nil:
		status = "failed"
		s.say(Failed, s.r.problem(ctx, err, s.id))
	}
	s.say(Done, DoneData{Status: status})
}

func (s *Summary) say(name string, data any) { s.said(Event{Name: name, Data: data}) }

// write announces the summary as it comes. One that the model's limit cut off
// is told: what it stands for is about to be left behind.
func (s *Summary) write(ctx context.Context) error {
	var text strings.Builder
	for ev, err := range s.r.stream(ctx, s.pass, unkept) {
		if err != nil {
			return err
		}
		switch d := ev.Delta; {
		case d.Text != "":
			text.WriteString(d.Text)
			s.say(Token, d.Text)
		case d.Reasoning != "":
			s.say(Reasoning, ReasoningData{Pass: s.pass.name, Delta: d.Reasoning})
		case d.Notice != "":
			s.say(PhaseStatus, PhaseData{Channel: s.pass.name, Label: d.Notice})
		}
		if ev.Record != nil && ev.Record.Answer != nil && ev.Record.Answer.Incomplete == reply.Length {
			s.say(Warning, ProblemData{
				Headline: "The summary is cut off", Sentence: "the model reached its limit of tokens: raise it in the settings, or write the end by hand",
				Kind: "provider", Stage: s.pass.stage(), Model: s.pass.lane.Name,
			})
		}
	}
	if strings.TrimSpace(text.String()) == "" { // a tool call is an answer, too
		return s.pass.nothing()
	}
	return nil
}

// longestCompletion bounds what is added to a draft, in tokens.
const longestCompletion = 120

// Autocomplete goes on with what a person is writing. Errors: NotFound,
// fault.Config, those of the model, and Provider when nothing came.
func (r *Runner) Autocomplete(ctx context.Context, conversation, draft string) (string, error) {
	snap, err := r.Scenes.Snapshot(ctx, conversation)
	if err != nil {
		return "", err
	}
	b, err := r.look(ctx, snap)
	if err != nil {
		return "", err
	}
	scope := b.frame.SceneScope()
	draft = macro.Stored(draft, scope) // as it will be read once it is said
	p := b.pass("autocomplete", snap.Path, phrase("autocomplete.txt", struct{ User, Draft string }{scope.User, draft}))
	p.req.Params.MaxTokens = new(longestCompletion)
	p.req.Params.Reasoning = llm.EffortOff
	a, err := r.ask(ctx, p, unkept, nil)
	if err != nil {
		return "", err
	}
	more := completion(draft, a.text)
	if more == "" {
		return "", p.nothing()
	}
	return more, nil
}

// completion is what an answer adds to a draft, which models like to repeat.
func completion(draft, answer string) string {
	answer = strings.TrimRight(answer, " \n\t")
	said := strings.TrimSpace(draft)
	if rest, repeated := strings.CutPrefix(strings.TrimSpace(answer), said); repeated && said != "" {
		answer = rest
	}
	if draft == "" || strings.TrimRightFunc(draft, unicode.IsSpace) != draft {
		return strings.TrimSpace(answer)
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
	next := prompt.Turn{Lore: found}
	if Directs(snap, false) { // until then the moods stay on
		next.Injection = guidance(snap, frame.SceneScope(), kept(snap), nil, choicesOf(snap))
	}
	return frame.Size(lane.prompt(frame), next), nil
}

// lastTexts are the texts in which lore is looked for.
func lastTexts(path []scene.Step) []string {
	var texts []string
	for _, s := range path[max(0, len(path)-scanWindow):] {
		texts = append(texts, s.Content)
	}
	return texts
}
