package httpapi_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// player is every model of a script. It answers each call with the next answer
// that the script has for the call's pass, and keeps what it was sent.
type player struct {
	mu      sync.Mutex
	answers map[string][][]string // steps, by pass
	sent    []sent
	gates   map[string]chan struct{}
	called  chan struct{} // closed and replaced with every call
}

// sent is a call as scripts look at it.
type sent struct {
	Pass     string        `json:"pass"`
	Model    string        `json:"model"`
	System   string        `json:"system"`
	Messages []sentMessage `json:"messages"`
	Tools    []string      `json:"tools"`
	Choice   string        `json:"tool_choice"`
}

type sentMessage struct {
	Role   llm.Role `json:"role"`
	Text   string   `json:"text"`
	Images []string `json:"images"`
}

var _ pipeline.Models = (*player)(nil)

// Open implements pipeline.Models.
func (p *player) Open(_ scene.Endpoint, m scene.ModelConfig) (pipeline.Lane, error) {
	return pipeline.Lane{Model: p, Name: m.Model}, nil
}

// Rehearsal implements pipeline.Models.
func (p *player) Rehearsal(string) pipeline.Lane { return pipeline.Lane{Model: p, Name: "scripted"} }

// passes are the passes by the tool that they force.
var passes = map[string]string{
	"direct_scene": "director", "editor_apply_patch": "editor", "editor_rewrite": "editor", "apply_find_replace": "editor",
	"give_feedback": "feedback", "update_character_sheet": "sheet",
}

func passOf(req llm.Request) string {
	if req.ToolChoice.Mode != llm.ToolNamed {
		return "writer"
	}
	if pass, ok := passes[req.ToolChoice.Name]; ok {
		return pass
	}
	return req.ToolChoice.Name
}

// Stream implements llm.Model.
func (p *player) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		finish := llm.FinishStop
		for _, step := range p.next(req) {
			kind, value, _ := strings.Cut(step, ":")
			switch kind {
			case "hold":
				select {
				case <-p.gate(value):
				case <-ctx.Done():
				}
			case "break":
				yield(llm.Chunk{}, &llm.Error{Kind: llm.Kind(value), Provider: "scripted", Message: "as the script says"})
				return
			case "call":
				finish = llm.FinishToolCalls
				if !yield(llm.Chunk{Tool: &llm.ToolDelta{ID: "1", Name: req.ToolChoice.Name, Arguments: value}}, nil) {
					return
				}
			case "think":
				if !yield(llm.Chunk{Reasoning: value}, nil) {
					return
				}
			default:
				for _, word := range strings.SplitAfter(step, " ") {
					if !yield(llm.Chunk{Text: word}, nil) {
						return
					}
				}
			}
			if ctx.Err() != nil {
				yield(llm.Chunk{}, context.Cause(ctx))
				return
			}
		}
		yield(llm.Chunk{Finish: finish, Usage: &llm.Usage{Input: 10, Output: 2}}, nil)
	}
}

// next notes a call and takes its answer.
func (p *player) next(req llm.Request) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := sent{Pass: passOf(req), Model: req.Model, System: strings.Join(req.System, "\n\n"), Choice: string(req.ToolChoice.Mode), Tools: []string{}}
	for _, t := range req.Tools {
		s.Tools = append(s.Tools, t.Name)
	}
	for _, m := range req.Messages {
		out := sentMessage{Role: m.Role, Text: m.Text, Images: []string{}}
		for _, i := range m.Images {
			out.Images = append(out.Images, i.MediaType+" "+i.Source)
		}
		s.Messages = append(s.Messages, out)
	}
	p.sent = append(p.sent, s)
	close(p.called)
	p.called = make(chan struct{})
	list := p.answers[s.Pass]
	if len(list) == 0 {
		return []string{"break:rejected"}
	}
	p.answers[s.Pass] = list[1:]
	return list[0]
}

// gate is what a hold of that name waits for.
func (p *player) gate(name string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates == nil {
		p.gates = map[string]chan struct{}{}
	}
	if p.gates[name] == nil {
		p.gates[name] = make(chan struct{})
	}
	return p.gates[name]
}

func modelSays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: model PASS STEP…")
	}
	p := in(ts).player
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answers == nil {
		p.answers = map[string][][]string{}
	}
	var steps []string
	for _, s := range args[1:] {
		steps = append(steps, strings.ReplaceAll(expand(ts, s), `\n`, "\n"))
	}
	p.answers[args[0]] = append(p.answers[args[0]], steps)
}

// asked waits until the models were called so often for a pass.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	p, want := in(ts).player, int(number(ts, args[1]))
	limit := time.NewTimer(tooLong)
	defer limit.Stop()
	for {
		p.mu.Lock()
		n, called := 0, p.called
		for _, s := range p.sent {
			if s.Pass == args[0] {
				n++
			}
		}
		p.mu.Unlock()
		if n >= want {
			return
		}
		select {
		case <-called:
		case <-limit.C:
			ts.Fatalf("the %s was asked %d times, not %d", args[0], n, want)
		}
	}
}

func release(ts *testscript.TestScript, _ bool, args []string) { close(in(ts).player.gate(args[0])) }

// requests makes what the models were sent the answer that is looked at.
func requests(ts *testscript.TestScript, neg bool, args []string) {
	w := in(ts)
	w.settle(ts)
	p := w.player
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []sent{}
	for _, s := range p.sent {
		if len(args) == 0 || s.Pass == args[0] {
			list = append(list, s)
		}
	}
	raw, err := json.Marshal(list)
	ts.Check(err)
	w.request, w.looked, w.answer = "requests", true, newClient()
	_, err = w.answer.Write(raw)
	ts.Check(err)
	ts.Logf("%s", raw)
}
