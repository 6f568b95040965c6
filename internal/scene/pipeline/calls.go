package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/prompt"
)

// limits bound every call. Before the first delta a call is asked again; the
// first one may take ten times as long as the others.
var limits = reply.Limits{
	Retries: 3, Backoff: 500 * time.Millisecond, MaxBackoff: 20 * time.Second,
	Idle: 2 * time.Minute, MaxBytes: 1 << 20,
}

// pass is one call that is about to be made.
type pass struct {
	name     string
	lane     Lane
	req      llm.Request
	sections []prompt.Section
	plain    *llm.Request // what a rehearsal is sent instead
}

// stage is where an exchange is during the pass.
func (p pass) stage() string {
	if p.name == "sheet" {
		return "sheet updates"
	}
	return p.name + " pass"
}

// passOf puts a call together: the body, the history, and what is trailing.
func passOf(name string, lane Lane, body []prompt.Section, history []llm.Message, trailing []prompt.Section, images []llm.Image) pass {
	p := prefixOf(name, lane, body, history)
	p.req.Messages = append(p.req.Messages, llm.Message{Role: llm.RoleUser, Text: prompt.Join(trailing), Images: images})
	p.sections = append(p.sections, trailing...)
	return p
}

// prefixOf is what a call begins with: the body and the history.
func prefixOf(name string, lane Lane, body []prompt.Section, history []llm.Message) pass {
	req := llm.Request{
		Model: lane.Name, System: []string{prompt.Join(body)}, Params: lane.Params, Messages: slices.Clip(history),
	}
	var past strings.Builder
	for _, m := range history {
		past.WriteString(m.Text)
	}
	sections := append(slices.Clip(body), prompt.Section{Key: "messages", Text: past.String()})
	return pass{name: name, lane: lane, req: req, sections: sections}
}

// extended is a call that goes on where another ended: with its answer, and
// what is asked about that.
func (p pass) extended(name, answer, asked string) pass {
	p.name = name
	p.req.Messages = append(p.req.Messages[:len(p.req.Messages):len(p.req.Messages)],
		llm.Message{Role: llm.RoleAssistant, Text: answer}, llm.Message{Role: llm.RoleUser, Text: asked})
	p.sections = append(p.sections[:len(p.sections):len(p.sections)],
		prompt.Section{Key: "draft", Text: answer}, prompt.Section{Key: name, Text: asked})
	return p
}

// answered is what a call brought.
type answered struct {
	text      string
	reasoning string
	calls     []llm.ToolCall
}

// stream makes a call and yields what comes, up to the one record that ends it.
// What was sent and what it took is handed to keep, however it ends.
func (r *Runner) stream(ctx context.Context, p pass, keep func(scene.Call)) iter.Seq2[reply.Event, error] {
	return func(yield func(reply.Event, error) bool) {
		if err := fits(ctx, p); err != nil {
			yield(reply.Event{}, &stage{name: p.stage(), model: p.lane.Name, err: err})
			return
		}
		call := p.record()
		began := r.Now()
		defer func() {
			call.Timing.TotalMS = r.Now().Sub(began).Milliseconds()
			keep(call)
		}()
		speaker := reply.Speaker{Model: p.lane.Model, Limits: limits, Prompt: func(context.Context) (reply.Prompt, error) {
			if p.plain != nil {
				return reply.Prompt{Request: *p.plain}, nil
			}
			return reply.Prompt{Request: p.req}, nil
		}}
		for ev, err := range speaker.Reply(ctx) {
			if err != nil {
				yield(reply.Event{}, &stage{name: p.stage(), model: p.lane.Name, err: p.mended(err)})
				return
			}
			if call.Timing.FirstMS == 0 && ev.Delta.Notice == "" {
				call.Timing.FirstMS = max(1, r.Now().Sub(began).Milliseconds())
			}
			if ev.Record != nil && ev.Record.Answer != nil {
				u := ev.Record.Answer.Usage
				call.Usage = scene.CallUsage{Input: u.Input, Cached: u.Cached, Output: u.Output, Reasoning: u.Reasoning}
			}
			if !yield(ev, nil) || ev.Record != nil && ev.Record.Answer.Incomplete == reply.Whole {
				return // tools are answers here: nobody runs them
			}
		}
	}
}

// ask makes a call whose answer is wanted whole. Reasoning is shown as it
// comes.
func (r *Runner) ask(ctx context.Context, p pass, keep func(scene.Call), think func(string)) (a answered, err error) {
	var reasoning strings.Builder
	for ev, err := range r.stream(ctx, p, keep) {
		if err != nil {
			return a, err
		}
		if ev.Delta.Reasoning != "" {
			reasoning.WriteString(ev.Delta.Reasoning)
			if think != nil {
				think(ev.Delta.Reasoning)
			}
		}
		if ev.Record != nil && ev.Record.Answer != nil {
			a = answered{text: textOf(*ev.Record.Answer), calls: callsOf(*ev.Record.Answer)}
		}
	}
	a.reasoning = reasoning.String()
	return a, nil
}

// callsOf are the calls with their arguments as they came, valid or not: Answer
// reads more than JSON.
func callsOf(a reply.Answer) []llm.ToolCall {
	calls := slices.Clone(a.Calls)
	for i, c := range calls {
		if unread, ok := a.Unread[c.ID]; ok {
			calls[i].Arguments = json.RawMessage(unread)
		}
	}
	return calls
}

func textOf(a reply.Answer) string {
	var b strings.Builder
	for _, p := range a.Parts {
		if p.Kind == reply.Text {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// record is the call as the inspector shows it.
func (p pass) record() scene.Call {
	c := scene.Call{Pass: p.name, Model: p.lane.Name}
	c.Messages = append(c.Messages, scene.CallMessage{Role: "system", Text: strings.Join(p.req.System, "\n\n")})
	for _, m := range p.req.Messages {
		c.Messages = append(c.Messages, scene.CallMessage{Role: string(m.Role), Text: m.Text, Images: len(m.Images)})
	}
	for _, s := range p.sections {
		if s.Text != "" {
			c.Sections = append(c.Sections, scene.CallSection{Key: s.Key, Chars: len([]rune(s.Text)), Tokens: scene.Tokens(s.Text)})
		}
	}
	return c
}

// fits refuses a call that the model's window cannot hold. Nothing is cut in
// silence.
func fits(ctx context.Context, p pass) error {
	window := p.lane.Window
	if window == 0 && p.lane.Asked != nil {
		window = p.lane.Asked(ctx)
	}
	if window <= 0 {
		return nil
	}
	need := scene.Tokens(strings.Join(p.req.System, "\n\n"))
	for _, m := range p.req.Messages {
		need += scene.Tokens(m.Text)
	}
	answer := 0
	if p.req.Params.MaxTokens != nil {
		answer = *p.req.Params.MaxTokens
	}
	if need+answer <= window {
		return nil
	}
	return fault.New(fault.Invalid, "the scene is too long for %s: about %d tokens and up to %d for the answer, and it holds %d",
		p.lane.Name, need, answer, window).
		WithHint("%s", p.wayOut())
}

// mended is an error of a call with the way out of a scene that is too long,
// where a server is the one who says so.
func (p pass) mended(err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Kind != llm.Overfull {
		return err
	}
	full := *e
	full.Hint = p.wayOut()
	return &full
}

// wayOut is what to do when a call is longer than the model holds. A summary is
// the first step of compressing, and cannot be helped by it.
func (p pass) wayOut() string {
	if p.name == "summary" {
		return "write the summary by hand, keep more messages, or let the answer have fewer tokens"
	}
	return "compress the scene: it goes on in a new conversation from a summary and the last messages"
}
