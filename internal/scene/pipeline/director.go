package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
	"jp/internal/lib/literal"
	"jp/internal/scene"
	"jp/internal/scene/macro"
)

// Asker sends one request and returns the whole answer. It streams, announces
// and records it as it likes.
type Asker func(ctx context.Context, req llm.Request) (calls []llm.ToolCall, text, reasoning string, err error)

// Directing is what the Director of an exchange works from.
type Directing struct {
	Snapshot scene.Snapshot
	Lane     Lane
	Tools    []llm.Tool
	// Base is what the call begins with: the neutral system body, the history
	// and the parameters.
	Base    llm.Request
	Images  []llm.Image // of the message that is answered
	Lore    string      // the rendered block of the trailing message
	Message string      // that is answered, macros replaced; empty for none
	Fixed   *string     // the member that speaks whatever is planned
	Scope   macro.Scope // of the scene
	Now     func() time.Time
}

// Direction is what the Director decided for an exchange.
type Direction struct {
	Moods     []string       // that are on now
	Fields    map[string]any // by fragment: a string or a []string
	Plan      []exchange.Slot
	PlanOK    bool   // there is a plan; an empty one is rest
	Injection string // what the Writer reads of it all, empty for nothing
	Cooldowns map[string]int
	Choices   map[string]string // the conversation's MacroChoices from now
	Calls     []ToolCallData
	Reasoning string
	Latency   time.Duration
	// Warning is what failed, though the exchange goes on without it.
	Warning error
}

// State is what the conversation's next Director goes on from.
func (d Direction) State(conversation string) scene.DirectorState {
	return scene.DirectorState{ConversationID: conversation, ActiveMoods: d.Moods, MacroChoices: d.Choices, Cooldowns: d.Cooldowns}
}

// Directs tells whether an exchange has a Director. Where it is fixed who
// speaks, or there is one to speak only, it is there for moods and fragments.
func Directs(s scene.Snapshot, fixed bool) bool {
	group := s.Conversation.Kind == scene.Group
	switch {
	case !s.Settings.EnableAgent || !s.Settings.EnabledTools[directScene]:
		return false
	case group && len(s.Eligible()) == 0:
		return false
	case group && !fixed:
		return true
	}
	return len(s.Moods)+len(fragmentsOf(s, "string", "array")) > 0
}

// Direct asks the Director, once or for each field. Without an answer, or the
// part of one, the moods stay on, nobody is planned, and Warning says so.
// Errors end the exchange: ctx's cause, and those of an ask that has reached
// no model.
func Direct(ctx context.Context, d Directing, ask Asker) (Direction, error) {
	began := d.Now()
	t := taking{Directing: d}
	for _, step := range t.steps() {
		if err := t.step(ctx, step, ask); err != nil {
			return Direction{}, err
		}
	}
	s, out := d.Snapshot, t.out
	out.Moods, out.Fields, out.Choices = kept(s), t.fields(), choicesOf(s)
	if v, ok := t.given.first(moodsField); ok && v != nil {
		out.Moods = known(listOf(v), awake(s))
	}
	if v, ok := t.given.first(speakingPlan); ok && t.plans() {
		out.Plan, out.PlanOK = ParsePlan(literal.Must(v), s.Eligible(), s.Conversation.MaxSpeakers)
	}
	out.Injection = guidance(s, d.Scope, out.Moods, out.Fields, out.Choices)
	out.Cooldowns = cool(s, out.Moods, out.Fields)
	out.Latency = d.Now().Sub(began)
	return out, nil
}

// taking is one run of the Director.
type taking struct {
	Directing
	given looseObject // the fields that were answered
	out   Direction
}

// plans tells whether a plan is asked for.
func (t *taking) plans() bool {
	return t.Snapshot.Conversation.Kind == scene.Group && t.Fixed == nil
}

// open returns the fragments that may be filled in.
func (t *taking) open() []scene.Fragment {
	return slices.DeleteFunc(fragmentsOf(t.Snapshot, "string", "array"), func(f scene.Fragment) bool { return resting(t.Snapshot, f.ID) })
}

// steps are the fields that are asked for one by one; "" is all of them.
func (t *taking) steps() []string {
	if !t.Snapshot.Settings.DirectorIndividual {
		return []string{""}
	}
	var steps []string
	for _, f := range t.open() {
		steps = append(steps, f.ID)
	}
	if t.plans() {
		steps = append(steps, speakingPlan)
	}
	if len(awake(t.Snapshot)) > 0 {
		steps = append(steps, moodsField)
	}
	return steps
}

// step asks for one field, or all, and takes the answer.
func (t *taking) step(ctx context.Context, only string, ask Asker) error {
	calls, text, reasoning, err := ask(ctx, t.request(only))
	if reasoning = strings.TrimSpace(reasoning); reasoning != "" {
		t.out.Reasoning = strings.TrimPrefix(t.out.Reasoning+"\n\n"+reasoning, "\n\n")
	}
	if err != nil {
		if context.Cause(ctx) != nil || !survivable(err) {
			return err
		}
		t.warn(err)
		return nil
	}
	args, ok := Answer(directScene, calls, text)
	if !ok {
		t.warn(fault.New(fault.Provider, "the Director gave no answer that can be read").
			WithHint("the scene goes on without it; another agent model may do better"))
		return nil
	}
	t.out.Calls = append(t.out.Calls, ToolCallData{Name: directScene, Arguments: args})
	v, _ := readLoose(string(args))
	answer, _ := v.(looseObject)
	if only != "" {
		value, ok := answer.first(only)
		if !ok {
			return nil
		}
		answer = looseObject{{only, value}}
	}
	t.given = append(t.given, answer...)
	return nil
}

// warn keeps the first thing that failed.
func (t *taking) warn(err error) {
	if t.out.Warning == nil {
		t.out.Warning = err
	}
}

// survivable tells whether a failed call leaves hope for the next: a model
// answered, though not as it should, and not that it cannot hold the scene.
func survivable(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return false
	}
	switch e.Kind {
	case llm.NoServer, llm.Unreachable, llm.TimedOut, llm.Broken, llm.Overfull:
		return false
	}
	return true
}

// directorWarmth is the temperature where the lane has none.
const directorWarmth = 0.25

// request is the call for a field, or all.
func (t *taking) request(only string) llm.Request {
	req := t.Base
	if req.Params.Temperature == nil {
		req.Params.Temperature = new(directorWarmth)
	}
	tools := t.Tools
	if only != "" && t.Lane.Forcing == BySchema {
		tool, _ := toolNamed(tools, directScene)
		tools = []llm.Tool{narrowed(tool, only)}
	}
	tool, _ := toolNamed(tools, directScene)
	message := llm.Message{Role: llm.RoleUser, Text: t.message(only, tool), Images: t.Images}
	req.Messages = append(slices.Clip(req.Messages), message)
	return Force(t.Lane, tools, req, directScene)
}

// briefing is what the trailing message is made of.
type briefing struct {
	Lore, Demand, Only string
	Speakers           []string // who may be planned
	Most               int
	Fixed              string // who speaks anyway
	Resting            []string
	Active             []string
	Moods              []moodUse
	Earlier            []earlier
	User, Message      string
	Pictures           int
}

type moodUse struct{ ID, Use string }

// earlier is what a step before has decided.
type earlier struct{ Name, Text string }

// message is the trailing message.
func (t *taking) message(only string, tool llm.Tool) string {
	s := t.Snapshot
	b := briefing{
		Lore: t.Lore, Demand: Demand(t.Lane, tool),
		User: s.UserName(), Message: strings.TrimSpace(t.Message), Pictures: len(t.Images),
	}
	if t.Lane.Forcing == ByTool { // a schema asks for the one field alone
		b.Only = only
	}
	if s.Conversation.Kind == scene.Group && t.Fixed != nil {
		m, _ := s.Member(*t.Fixed)
		b.Fixed = named(m)
	}
	if t.plans() && (only == "" || only == speakingPlan) {
		b.Most = s.Conversation.MaxSpeakers
		for _, m := range s.Eligible() {
			b.Speakers = append(b.Speakers, named(m))
		}
	}
	if only == "" || only == moodsField {
		b.Active = kept(s)
		for _, m := range awake(s) {
			b.Moods = append(b.Moods, moodUse{m.ID, oneLine(macro.Resolve(cmp.Or(m.Description, m.Label), t.Scope))})
		}
	}
	if only == "" {
		for _, f := range fragmentsOf(s, "string", "array") {
			if resting(s, f.ID) {
				b.Resting = append(b.Resting, f.ID)
			}
		}
	}
	for _, f := range t.given {
		if f.value != nil {
			b.Earlier = append(b.Earlier, earlier{f.name, cmp.Or(oneLine(strings.Join(listOf(f.value), "; ")), "nothing")})
		}
	}
	return phrase("director.txt", b)
}

// named is a speaker as plans name one, and as the scene does.
func named(m scene.Member) string {
	switch {
	case m.Kind == scene.Narrator:
		return m.Key + " (" + oneLine(m.Name) + ", narrates)"
	case !strings.EqualFold(m.Key, m.Name):
		return m.Key + " (" + oneLine(m.Name) + ")"
	}
	return m.Key
}

// oneLine is a text without line ends and runs of blanks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// fields are the fragments that were filled in.
func (t *taking) fields() map[string]any {
	filled := map[string]any{}
	for _, f := range t.open() {
		v, _ := t.given.first(f.ID)
		items := listOf(v)
		switch {
		case len(items) == 0:
		case f.Type == "array":
			filled[f.ID] = items
		default:
			filled[f.ID] = strings.Join(items, ", ")
		}
	}
	return filled
}

// listOf reads a value as texts that say something: those of a list, also one
// in a string, or a single one.
func listOf(v any) []string {
	var items []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			items = append(items, text)
		}
	}
	switch v := v.(type) {
	case string:
		if inner, ok := listIn(v); ok {
			if list, is := inner.([]any); is {
				return listOf(list)
			}
		}
		add(withoutThought(v))
	case json.Number:
		add(v.String())
	case []any:
		for _, e := range v {
			items = append(items, listOf(e)...)
		}
	}
	return items
}
