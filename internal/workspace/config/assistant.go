package config

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
)

// Assistant is one participant's configuration, typed. It is lenient: what a
// tree leaves out is the built-in default, what has a wrong type counts as left
// out, so that an incomplete capture can always be read. Ready says whether it
// can be asked to speak.
type Assistant struct {
	ID           string // participant identifier
	Name         string // display name, may be empty
	SystemPrompt string
	Sections     []Section     // by position
	Instructions []Instruction // by position
	Model        ModelID       // zero when none resolves
	Params       llm.Params
	ToolChoice   llm.ToolChoice
	Request      Request
	AtMention    AtMention

	modelErr   error
	parameters Tree // model.parameters as it is written
}

// Section is a part of the system prompt.
type Section struct {
	Content  string
	Tag      string
	Title    string
	Position int
}

// Instruction is a titled list of rules.
type Instruction struct {
	Title       string
	Description string
	Position    int
	Items       []string
	Examples    []Example
}

// Example shows a rule: Text alone, or Good and Bad with a Reason.
type Example struct {
	Text   string
	Good   string
	Bad    string
	Reason string
}

// Request bounds one request to a model.
type Request struct {
	MaxRetries  int
	BaseBackoff time.Duration
	MaxBackoff  time.Duration
	Idle        time.Duration // 0: no limit
	MaxBytes    int
	MaxCycles   int // tool cycles of one reply
}

// Policy says what a mention of somebody outside the roster does.
type Policy string

// The policies.
const (
	PolicyAllow        Policy = "allow"
	PolicyErrorIfKnown Policy = "error_if_known"
	PolicyIgnore       Policy = "ignore"
)

// AtMention are the policies for mentions of a participant who was never
// captured (Invite) and of one who left (Rejoin).
type AtMention struct {
	Invite Policy
	Rejoin Policy
}

// ParticipantConfig reads a participant's configuration from a finalized or a
// stored tree. Errors: the name has none (fault.Invalid).
func ParticipantConfig(t Tree, name string) (Assistant, error) {
	sub, ok := AssistantTree(t, name)
	if !ok {
		return Assistant{}, fault.New(fault.Invalid, "participant %q has no %s config", name, Reserved).
			WithHint("use `jp c invite %s` or `jp c uninvite %s`", name, name)
	}
	shape := schema().shape.fields[Reserved]
	sub = settle(Tree{Reserved: fill(shape, defaultsOf(shape), sub)})[Reserved].(Tree)
	a := Assistant{
		ID:           name,
		Name:         text(sub, "name"),
		SystemPrompt: text(sub, "system_prompt"),
		Params:       params(table(sub, "model", "parameters")),
		parameters:   table(sub, "model", "parameters"),
		ToolChoice:   toolChoice(text(sub, "tool_choice")),
		Request:      request(table(sub, "request")),
		AtMention: AtMention{
			Invite: policy(text(sub, "at_mention", "invite")),
			Rejoin: policy(text(sub, "at_mention", "rejoin")),
		},
	}
	for _, s := range tables(sub, "system_prompt_sections") {
		a.Sections = append(a.Sections, Section{
			Content: text(s, "content"), Tag: text(s, "tag"), Title: text(s, "title"), Position: int(position(s)),
		})
	}
	for _, i := range tables(sub, "instructions") {
		a.Instructions = append(a.Instructions, instruction(i))
	}
	if id := at(sub, "model", "id"); id != nil {
		a.Model, a.modelErr = resolveModel(table(t, "providers", "llm", "aliases"), id)
	}
	return a, nil
}

// Ready is nil when the participant can be asked to speak. Errors
// (fault.Config): it has no model, or one that cannot be resolved.
func (a Assistant) Ready() error {
	if a.modelErr != nil {
		return fault.New(fault.Config, "%s.model.id: %w", Key(a.ID), a.modelErr).WithHint("%s", fault.HintOf(a.modelErr))
	}
	if a.Model == (ModelID{}) {
		return fault.New(fault.Config, "participant %q has no model", a.ID).
			WithHint("use `-m MODEL` when it alone is asked, else `-c @%s:model.id=MODEL`; assistant.model.id in .jp/config.toml is for all new ones", a.ID)
	}
	return nil
}

// ExtraKey is the key, below the participant's, at which one of Params.Extra
// is set.
func (a Assistant) ExtraKey(name string) string {
	path := []string{"model", "parameters", "other", name}
	if a.parameters[name] != nil {
		path = slices.Delete(path, 2, 3)
	}
	return JoinKey(path)
}

func instruction(t Tree) Instruction {
	out := Instruction{
		Title: text(t, "title"), Description: text(t, "description"), Position: int(position(t)), Items: texts(t, "items"),
	}
	list, _ := t["examples"].([]any)
	for _, e := range list {
		switch e := e.(type) {
		case string:
			out.Examples = append(out.Examples, Example{Text: e})
		case Tree:
			out.Examples = append(out.Examples, Example{Good: text(e, "good"), Bad: text(e, "bad"), Reason: text(e, "reason")})
		}
	}
	return out
}

func policy(s string) Policy {
	switch p := Policy(s); p {
	case PolicyAllow, PolicyIgnore:
		return p
	}
	return PolicyErrorIfKnown
}

func toolChoice(s string) llm.ToolChoice {
	switch m := llm.ToolMode(s); m {
	case "", llm.ToolAuto:
		return llm.ToolChoice{Mode: llm.ToolAuto}
	case llm.ToolNone, llm.ToolRequired:
		return llm.ToolChoice{Mode: m}
	}
	return llm.ToolChoice{Mode: llm.ToolNamed, Name: s}
}

func request(t Tree) Request {
	seconds := func(key string) time.Duration { return time.Duration(whole(t, key)) * time.Second }
	return Request{
		MaxRetries:  whole(t, "max_retries"),
		BaseBackoff: time.Duration(whole(t, "base_backoff_ms")) * time.Millisecond,
		MaxBackoff:  seconds("max_backoff_secs"),
		Idle:        seconds("stream_idle_timeout_secs"),
		MaxBytes:    whole(t, "max_response_bytes"),
		MaxCycles:   whole(t, "max_tool_cycles"),
	}
}

// params reads the parameters; keys that no field knows go out as they are.
func params(t Tree) llm.Params {
	p := llm.Params{Stop: texts(t, "stop_words")}
	if n, ok := t["max_tokens"].(int64); ok {
		p.MaxTokens = new(int(n))
	}
	if n, ok := t["top_k"].(int64); ok {
		p.TopK = new(int(n))
	}
	if f, ok := float(t["temperature"]); ok {
		p.Temperature = &f
	}
	if f, ok := float(t["top_p"]); ok {
		p.TopP = &f
	}
	p.Reasoning, p.Budget, p.HideThought = reasoning(t["reasoning"])
	extra := maps.Clone(table(t, "other"))
	known := schema().shape.fields[Reserved].shape.fields["model"].shape.fields["parameters"].shape.fields
	for k, v := range t {
		if known[k] == nil {
			extra[k] = v
		}
	}
	if len(extra) > 0 {
		p.Extra = extra
	}
	return p
}

func reasoning(v any) (effort llm.Effort, budget int, hide bool) {
	switch v := v.(type) {
	case string:
		return llm.Effort(v), 0, false
	case Tree:
		hide, _ = v["exclude"].(bool)
		switch e := v["effort"].(type) {
		case int64:
			return llm.EffortUnset, int(e), hide
		case string:
			if n, err := strconv.Atoi(e); err == nil {
				return llm.EffortUnset, n, hide
			}
			if e == "none" {
				return llm.EffortOff, 0, hide
			}
			return llm.Effort(e), 0, hide
		}
		return llm.EffortMedium, 0, hide
	}
	return llm.EffortUnset, 0, false
}
