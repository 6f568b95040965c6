package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/lib/literal"
	"jp/internal/scene"
	"jp/internal/scene/audit"
	"jp/internal/scene/prompt"
	"jp/internal/scene/voice"
)

// mostRounds is how often the Editor mends one draft.
const mostRounds = 3

// finish takes the Writer's draft to what is stored: Editor, post-processing,
// feedback, hooks. A stop keeps the draft as it is then, which is whole.
func (x *Exchange) finish(ctx context.Context, writer pass) error {
	d := x.draft
	will := x.edits() && d.text != ""
	x.say(WriterDone, WriterDoneData{EditorWillRun: will})
	if d.text == "" {
		return nil
	}
	streamed := d.text
	if will {
		if err := x.edit(ctx, writer); err != nil {
			return at("editor pass", err)
		}
		x.say(EditorDone, EditorDoneData{ToolCalls: nonNil(d.tools)})
	}
	if err := x.postprocess(ctx, writer); err != nil {
		return at("editor pass", err)
	}
	if err := x.giveFeedback(ctx, writer); err != nil {
		return err
	}
	x.runHooks(ctx)
	// A rewrite may bring the label back, or bring nothing else.
	d.text = firstText(strings.TrimSpace(voice.Strip(d.text, d.name)), streamed)
	if d.text != streamed {
		x.say(WriterRewrite, RewriteData{RefinedText: d.text})
	}
	return nil
}

func nonNil(calls []ToolCallData) []ToolCallData {
	if calls == nil {
		return []ToolCallData{}
	}
	return calls
}

// edits tells whether drafts are looked at: for phrases of the bank and what
// goes with them, or for their length.
func (x *Exchange) edits() bool {
	set := x.snap.Settings
	return set.EnableAgent && (x.audits() || set.LengthGuard)
}

func (x *Exchange) audits() bool {
	return x.snap.Settings.EnabledTools[applyPatch] && len(x.snap.Phrases) > 0
}

// tooLong tells whether the length guard wants a text shorter.
func (x *Exchange) tooLong(text string) bool {
	set := x.snap.Settings
	return set.LengthGuard && audit.Words(text) > set.LengthGuardMaxWords
}

// findings are what the audits have against a text.
func (x *Exchange) findings(text string) []audit.Finding {
	if !x.audits() {
		return nil
	}
	return audit.Run(audit.Input{
		Draft: text, Recent: x.recent(), Quoted: x.quoted(),
		Phrases: x.snap.Phrases, Toggles: x.snap.Settings.EditorAuditToggles,
	})
}

// recent are the replies before the draft, without the one that it
// replaces.
func (x *Exchange) recent() []string {
	var texts []string
	for _, s := range x.path {
		if s.Role == scene.RoleAssistant && (x.turn.replaces == nil || s.ID != *x.turn.replaces) {
			texts = append(texts, s.Content)
		}
	}
	return texts
}

// quoted is what the person said, whom a reply should not echo.
func (x *Exchange) quoted() string {
	if x.turn.asked == nil {
		return ""
	}
	return x.turn.asked.Content
}

// edit lets the Editor mend the draft until there is nothing left to mend, or
// it does not get better.
func (x *Exchange) edit(ctx context.Context, writer pass) error {
	d := x.draft
	for range mostRounds {
		found, long := x.findings(d.text), x.tooLong(d.text)
		if len(found) <= 1 && !long {
			return nil
		}
		better, err := x.revise(ctx, writer, found, long)
		if errors.Is(err, errStopped) {
			return nil // the draft is whole
		}
		if err != nil {
			return err
		}
		if better == d.text {
			return nil
		}
		after, still := x.findings(better), x.tooLong(better)
		if worse := len(after) + count(still); worse >= len(found)+count(long) {
			return nil
		}
		d.text = better
		x.say(DraftUpdate, DraftData{Draft: d.text})
	}
	return nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// revise asks for one round of changes and returns the draft with those that
// fit. Length and sameness of structure are mended by a rewrite, the rest by
// patches.
func (x *Exchange) revise(ctx context.Context, writer pass, found []audit.Finding, long bool) (string, error) {
	d := x.draft
	whole := long || slices.ContainsFunc(found, func(f audit.Finding) bool { return f.Kind == audit.StructuralRepeat })
	tool, text, limit := applyPatch, "editor_patch.txt", ""
	if whole {
		tool, text = rewrite, "editor_rewrite.txt"
	}
	if long {
		limit = phrase("editor_length.txt", x.snap.Settings)
	}
	ask := func(demand string) string {
		return phrase(text, struct {
			Findings       []audit.Finding
			Length, Demand string
		}{found, limit, demand})
	}
	var answer struct {
		Patches []struct {
			ID      int    `json:"id"`
			Replace string `json:"replace"`
		} `json:"patches"`
		Text string `json:"rewritten_text"`
	}
	ok, err := x.consult(ctx, writer, "editor", tool, ask, &answer)
	if err != nil || !ok {
		return d.text, err
	}
	if whole {
		return firstText(strings.TrimSpace(answer.Text), d.text), nil
	}
	var changes []audit.Replacement
	for _, p := range answer.Patches {
		changes = append(changes, audit.Replacement{ID: p.ID, Replace: p.Replace})
	}
	better, _ := audit.Patch(d.text, found, changes)
	return firstText(better, d.text), nil
}

// consult forces one structured answer about the draft. It goes on from the
// Writer's exact call, in the agent's lane with that lane's body.
func (x *Exchange) consult(ctx context.Context, writer pass, name, tool string, ask func(demand string) string, into any) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	base := x.inAgentLane(writer)
	known, _ := toolNamed(x.tools, tool)
	p := base.extended(name, x.draft.text, ask(Demand(base.lane, known)))
	p.req = Force(p.lane, x.tools, p.req, tool)
	a, err := x.r.ask(ctx, p, x.keep, func(delta string) {
		x.draft.edited += delta
		x.say(Reasoning, ReasoningData{Pass: name, Delta: delta})
	})
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Kind == llm.Empty {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	args, ok := Answer(tool, a.calls, a.text)
	if !ok || json.Unmarshal(args, into) != nil {
		return false, nil // an answer that is none changes nothing
	}
	x.draft.tools = append(x.draft.tools, ToolCallData{Name: tool, Arguments: args})
	return true, nil
}

// inAgentLane is the Writer's call as the agent's model is sent it: with one
// lane it is the same, else only the body is the agent's own.
func (x *Exchange) inAgentLane(writer pass) pass {
	if !x.lanes.apart(x.speaker()) {
		return writer
	}
	p := writer
	p.lane = x.lanes.agent
	p.req.Model, p.req.Params = p.lane.Name, p.lane.Params
	body, own := x.body(p.lane, x.speaker()), x.body(writer.lane, x.speaker())
	p.req.System = []string{prompt.Join(body)}
	p.sections = append(body[:len(body):len(body)], writer.sections[len(own):]...)
	p.req = Ship(p.lane, x.tools, p.req)
	return p
}

// speaker is the member whose reply is being made, empty in a solo chat.
func (x *Exchange) speaker() string {
	if x.draft == nil || x.draft.member == nil {
		return ""
	}
	return x.draft.member.ID
}

func (x *Exchange) keep(c scene.Call) { x.calls = append(x.calls, c) }

// fragments are those of a type, in order.
func (x *Exchange) fragments(kind string) []scene.Fragment {
	if !x.snap.Settings.EnableAgent {
		return nil
	}
	return fragmentsOf(x.snap, kind)
}

// postprocess runs the fragments that replace stretches of the draft, each on
// what the one before left.
func (x *Exchange) postprocess(ctx context.Context, writer pass) error {
	d := x.draft
	for _, f := range x.fragments("post_processing") {
		var answer struct {
			Edits []audit.Edit `json:"edits"`
		}
		ok, err := x.consult(ctx, writer, "editor", findReplace, func(demand string) string {
			return phrase("post_process.txt", struct{ Label, Instruction, Demand string }{f.Label, x.resolve(f.Description), demand})
		}, &answer)
		if errors.Is(err, errStopped) {
			return nil
		}
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if better, _ := audit.Replace(d.text, answer.Edits); better != d.text && strings.TrimSpace(better) != "" {
			d.text = better
			x.say(DraftUpdate, DraftData{Draft: d.text})
		}
	}
	return nil
}

// giveFeedback fills the feedback fragments in; what it says is for the person
// alone. That it fails is only worth a warning.
func (x *Exchange) giveFeedback(ctx context.Context, writer pass) error {
	fields := x.fragments("feedback")
	if len(fields) == 0 || ctx.Err() != nil {
		return nil
	}
	var values map[string]*string
	ok, err := x.consult(ctx, writer, "feedback", giveFeedback, func(demand string) string {
		return phrase("feedback.txt", struct {
			Fields []parameter
			Demand string
		}{asked(fields, x.resolve), demand})
	}, &values)
	if err != nil {
		x.warn("feedback", err)
		return nil
	}
	if ok {
		said := map[string]string{}
		for id, text := range values {
			if text != nil {
				said[id] = *text
			}
		}
		x.draft.feedback = literal.Must(said)
		x.say(Feedback, FeedbackData{Values: said})
	}
	return nil
}
