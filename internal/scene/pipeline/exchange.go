package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
	"jp/internal/lib/literal"
	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/prompt"
)

// Kind is what an exchange was asked for by.
type Kind string

// The kinds. All but Send and ForkEdit store no user message.
const (
	Send            Kind = "send"
	Continue        Kind = "continue"
	Speak           Kind = "speak"
	ForkEdit        Kind = "fork_edit"
	Regenerate      Kind = "regenerate"
	SuperRegenerate Kind = "super_regenerate"
	MagicRewrite    Kind = "magic_rewrite"
)

// Ask is what a client wants of a conversation.
type Ask struct {
	Kind         Kind
	Conversation string
	Content      string // of Send and ForkEdit
	Uploads      []scene.NewUpload
	Pin          *string // the member picked; not read by the regenerate family
	Message      int64   // of ForkEdit and the regenerate family
	Direction    string  // of MagicRewrite
	NoAgent      bool    // neither Director nor Editor, whatever the settings say
	Once         *scene.Once
}

// errStopped is the cause of an exchange that a person stopped.
var errStopped = fault.New(fault.Interrupted, "stopped")

// Exchange is one that was begun. It is run once.
type Exchange struct {
	r     *Runner
	ask   Ask
	id    string
	claim *scene.Claim
	ctx   context.Context
	stop  context.CancelCauseFunc

	snap     scene.Snapshot
	turn     turn
	frame    *prompt.Scene
	lanes    lanes
	lore     lore.Selection
	tools    []llm.Tool
	images   pictures
	direct   Direction
	directed bool // a Director ran
	announce func(Event)

	planned  bool            // speaking_plan was announced
	planJSON json.RawMessage // as it was
	path     []scene.Step    // what the next speaker has behind it
	parent   *int64          // of the next reply
	index    int             // the next reply's turn_index
	spoke    []string        // members whose reply was stored, in order
	stored   []int64         // the replies
	draft    *draft          // the reply that is being made
	calls    []scene.Call    // since the last reply was stored
}

var (
	_ exchange.Responder = (*Exchange)(nil)
	_ exchange.Ledger    = (*Exchange)(nil)
)

// Begin claims the conversation and checks all that can be refused before
// anything is stored. Errors: NotFound for unknown ids; Conflict for a member
// that may not speak, a target that is no reply, and /speak in a solo chat;
// Busy; Invalid for what says nothing. Whoever gets an Exchange runs it.
func (r *Runner) Begin(ctx context.Context, ask Ask) (*Exchange, error) {
	x := &Exchange{r: r, ask: ask}
	// The client's going away does not end an exchange.
	x.ctx, x.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	claim, err := r.Scenes.Claim(ctx, ask.Conversation, func() { x.stop(errStopped) })
	if err != nil {
		x.stop(nil)
		return nil, err
	}
	x.claim = claim
	if err := x.check(ctx); err != nil {
		x.stop(nil)
		claim.Release()
		return nil, err
	}
	return x, nil
}

// ID is the exchange's id.
func (x *Exchange) ID() string { return x.id }

// check reads the conversation as it is and finds what the exchange answers.
func (x *Exchange) check(ctx context.Context) (err error) {
	if x.snap, err = x.r.Scenes.Snapshot(ctx, x.ask.Conversation); err != nil {
		return err
	}
	x.snap.Settings.EnableAgent = x.snap.Settings.EnableAgent && !x.ask.NoAgent
	if err := scene.CheckText(x.ask.Content); err != nil {
		return err
	}
	if x.turn, err = x.rewind(ctx); err != nil {
		return err
	}
	if err := x.goBack(ctx); err != nil {
		return err
	}
	if x.id = x.turn.exchange; x.id == "" {
		if x.id, err = x.r.Scenes.NewID(); err != nil {
			return err
		}
	}
	return x.mayspeak(x.turn.pin, x.turn.recorded)
}

// mayspeak refuses a speaker that is fixed but cannot speak. One that a message
// recorded can be brought back.
func (x *Exchange) mayspeak(pin *string, recorded bool) error {
	if pin == nil {
		return nil
	}
	m, ok := x.snap.Member(*pin)
	switch {
	case !ok:
		return fault.New(fault.NotFound, "there is no member %q in this conversation", *pin)
	case !m.Active && recorded:
		return fault.New(fault.Conflict, "%s has left the cast, so this reply cannot be written again", m.Name).
			WithHint("add the character to the cast again; new replies are then possible, old ones keep their name")
	case !m.Active:
		return fault.New(fault.Conflict, "%s has left the cast", m.Name).WithHint("pick a member of the cast")
	case m.Muted:
		return fault.New(fault.Conflict, "%s is muted", m.Name).WithHint("unmute the member in the cast first")
	}
	return nil
}

// Run runs the exchange to its end and announces what happens, from the calling
// goroutine. The claim is given back before Done is announced.
func (x *Exchange) Run(announce func(Event)) {
	x.announce = announce
	err := caught(func() error { return x.run(x.ctx) })
	status := "completed"
	switch {
	case err != nil && !errors.Is(err, errStopped):
		status = "failed"
	case context.Cause(x.ctx) != nil && !x.claim.Wanted():
		status = "stopped" // also when every reply was whole by then
	}
	if err != nil && !x.planned && x.group() {
		x.say(SpeakingPlan, PlanData{Plan: []PlanSlot{}})
	}
	if status == "failed" {
		x.say(Failed, x.problem(err))
	}
	x.stop(nil)
	x.claim.Release()
	x.say(Done, DoneData{Status: status})
}

func (x *Exchange) say(name string, data any) { x.announce(Event{Name: name, Data: data}) }

func (x *Exchange) group() bool { return x.snap.Conversation.Kind == scene.Group }

// run is the exchange; every error is one of a stage, or errStopped.
func (x *Exchange) run(ctx context.Context) error {
	if err := x.open(ctx); err != nil {
		return at("saving the message", err)
	}
	if x.rests() {
		x.plan(nil)
		return nil
	}
	if err := x.setup(ctx); err != nil {
		return at("setting up", err)
	}
	slots, err := x.choose(ctx)
	if err != nil {
		return err
	}
	x.plan(slots)
	err = exchange.Run(ctx, slots, x, x, x.forward)
	if len(x.stored) > 0 && !errors.Is(err, errStopped) {
		x.afterwards()
	}
	return err
}

// rests tells whether nobody is to answer: Manual without a pick.
func (x *Exchange) rests() bool {
	return x.group() && x.snap.Conversation.TurnMode == scene.Manual && x.turn.pin == nil
}

// plan announces who will speak. A solo chat has no plan.
func (x *Exchange) plan(slots []exchange.Slot) {
	if !x.group() {
		return
	}
	data := PlanData{Plan: []PlanSlot{}}
	for _, s := range slots {
		m, _ := x.snap.Member(s.Speaker)
		data.Plan = append(data.Plan, PlanSlot{MemberID: m.ID, CardID: m.CardID, Name: m.Name, Cue: s.Cue})
	}
	x.planned, x.planJSON = true, literal.Must(data.Plan)
	x.say(SpeakingPlan, data)
}

// setup does once what all speakers share: the lanes, the lore, the texts.
func (x *Exchange) setup(ctx context.Context) (err error) {
	if x.lanes, err = x.openLanes(); err != nil {
		return err
	}
	x.frame = prompt.New(x.snap, x.r.Now()).With(x.r.prepared(ctx, x.snap, x.hooked)...)
	x.tools = toolsOf(x.snap, x.frame)
	x.lore = lore.Compile(x.snap.Worlds, x.snap.Entries).Select(x.scanned(), x.snap.Conversation.LoreBudget)
	return x.loadImages(ctx)
}

// scanWindow is how many messages lore is looked for in, the current one
// counted.
const scanWindow = 6

// scanned are the texts that may fire lore: the history's end as it is stored,
// and what is answered now.
func (x *Exchange) scanned() []string {
	texts := lastTexts(x.turn.history)
	said := x.turn.message
	if x.turn.steered {
		said = x.turn.direction // what stands around it is ours
	}
	if strings.TrimSpace(said) != "" {
		texts = append(texts, said)
	}
	return texts[max(0, len(texts)-scanWindow):]
}
