package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/macro"
	"jp/internal/scene/pipeline"
)

// directing is a Director's work in a scene, answered by the script's lines:
// arguments of direct_scene, "text: …", or an error by its name.
type directing struct {
	pipeline.Directing
	script []string
	asked  []llm.Request
}

func (d *directing) ask(_ context.Context, req llm.Request) ([]llm.ToolCall, string, string, error) {
	d.asked = append(d.asked, req)
	if len(d.script) < len(d.asked) {
		return nil, "", "", &llm.Error{Kind: llm.Rejected, Message: "asked too often"}
	}
	line := d.script[len(d.asked)-1]
	if kind, ok := strings.CutPrefix(line, "error: "); ok {
		return nil, "", "", &llm.Error{Kind: llm.Kind(kind), Message: kind}
	}
	if text, ok := strings.CutPrefix(line, "text: "); ok {
		return nil, text, "", nil
	}
	return toolCall("direct_scene", line), "", fmt.Sprintf("thought %d", len(d.asked)), nil
}

func directed(change func(*directing), script ...string) *directing {
	s := parlour()
	d := &directing{script: script}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d.Directing = pipeline.Directing{
		Snapshot: s,
		Base:     llm.Request{Model: "m", System: []string{"body"}, Messages: []llm.Message{{Role: llm.RoleUser, Text: "before"}}},
		Message:  "Is anybody\nhome?",
		Scope:    macro.Scope{User: "Ada", Char: "Parlour", Cast: "all", Now: clock, Dice: macro.Seeded("seed")},
		Now:      func() time.Time { clock = clock.Add(time.Second); return clock },
	}
	d.Snapshot.Settings.UserName = "Ada"
	if change != nil {
		change(d)
	}
	d.Tools = pipeline.Tools(d.Snapshot, func(text string) string { return macro.Resolve(text, d.Scope) })
	return d
}

func (d *directing) run(t *testing.T) pipeline.Direction {
	t.Helper()
	got, err := pipeline.Direct(t.Context(), d.Directing, d.ask)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func bySchema(d *directing)   { d.Lane.Forcing = pipeline.BySchema }
func individual(d *directing) { d.Snapshot.Settings.DirectorIndividual = true }

// What the Director is told at the end of its calls.
func TestDirectorMessages(t *testing.T) {
	texts := map[string]string{}
	for name, d := range map[string]*directing{
		"all":       directed(nil),
		"by schema": directed(bySchema),
		"bare": directed(func(d *directing) {
			d.Snapshot.Fragments, d.Snapshot.Moods, d.Snapshot.Conversation.MaxSpeakers, d.Message = nil, nil, 1, ""
			d.Snapshot.Members[1].Muted, d.Snapshot.Members[2].Active = true, false
		}),
		"lore, rest and moods before": directed(func(d *directing) {
			d.Lore = "**Lorebook**\n\nThe sea is near."
			d.Snapshot.Director = scene.DirectorState{ActiveMoods: []string{"calm", "stormy", "off"}, Cooldowns: map[string]int{"stormy": 2, "beats": 1, "pacing": 0}}
		}),
		"pictures without a word": directed(func(d *directing) { d.Message, d.Images = " ", []llm.Image{{MediaType: "image/png"}} }),
		"a fixed speaker":         directed(func(d *directing) { d.Fixed = new("m5") }),
		"solo":                    directed(func(d *directing) { d.Snapshot.Conversation.Kind, d.Snapshot.Members = scene.Solo, nil }),
		"one by one": directed(func(d *directing) { individual(d); d.Snapshot.Director.ActiveMoods = []string{"calm"} },
			`{"pacing":"slow","moods":["stormy"],"speaking_plan":[]}`, `{"beats":["a knock","a\nfall"]}`, `{"speaking_plan":["mary — asks"]}`, `{"moods":["calm"]}`),
		"one by one by schema": directed(func(d *directing) { individual(d); bySchema(d) },
			`text: {"pacing":"slow"}`, `text: {"beats":null}`, `text: {"speaking_plan":[]}`, `text: {"moods":[]}`),
	} {
		d.run(t)
		var b strings.Builder
		for i, req := range d.asked {
			last := req.Messages[len(req.Messages)-1]
			fmt.Fprintf(&b, "== call %d: %d tools, choice %q %q, %d images\n", i+1, len(req.Tools), req.ToolChoice.Mode, req.ToolChoice.Name, len(last.Images))
			if len(req.Schema) > 0 {
				fmt.Fprintf(&b, "schema: %s\n", req.Schema)
			}
			b.WriteString(last.Text + "\n")
		}
		texts[name] = b.String()
	}
	golden(t, "testdata/director.txtar", texts)
}

// Every call begins with what the base holds, which stays as it is, and is
// rather cool where the lane does not say how warm it is.
func TestDirectorExtendsTheBase(t *testing.T) {
	d := directed(individual, `{"pacing":"slow"}`, `{}`, `{}`, `{}`)
	d.Base.Messages = append(make([]llm.Message, 0, 9), d.Base.Messages...)
	d.run(t)
	for _, req := range d.asked {
		if diff := cmp.Diff(d.Base.Messages, req.Messages[:len(req.Messages)-1]); diff != "" || len(req.Messages) != 2 || req.System[0] != "body" {
			t.Errorf("the call does not extend the base (-want +got)\n%s", diff)
		}
		if *req.Params.Temperature != 0.25 || d.Base.Params.Temperature != nil {
			t.Error("the temperature is not the Director's own")
		}
	}
	d = directed(func(d *directing) { d.Base.Params.Temperature = new(0.7) }, `{}`)
	d.run(t)
	if *d.asked[0].Params.Temperature != 0.7 {
		t.Error("the lane's temperature does not count")
	}
}

// What is read from an answer.
func TestDirection(t *testing.T) {
	rested := func(d *directing) {
		d.Snapshot.Director = scene.DirectorState{ActiveMoods: []string{"calm", "stormy", "gone"}, Cooldowns: map[string]int{"stormy": 3, "beats": 1}}
	}
	for name, c := range map[string]struct {
		d    *directing
		want pipeline.Direction
	}{
		"all of it": {
			directed(nil, `{"pacing":" slow ","beats":["a knock"," ",""],"speaking_plan":["mary — asks","ghost"],"moods":["calm","storms","CALM"],"state":"x","tone":"y"}`),
			pipeline.Direction{
				Moods: []string{"calm"}, Fields: map[string]any{"pacing": "slow", "beats": []string{"a knock"}},
				Plan: []exchange.Slot{{Speaker: "m2", Cue: "asks"}}, PlanOK: true,
				Cooldowns: map[string]int{"beats": 2},
			},
		},
		"rest survives": {
			directed(nil, `{"pacing":"","beats":[],"speaking_plan":[],"moods":[]}`),
			pipeline.Direction{Moods: []string{}, Fields: map[string]any{}, PlanOK: true, Cooldowns: map[string]int{}},
		},
		"null is absent": {
			directed(rested, `{"pacing":null,"beats":null,"speaking_plan":null,"moods":null}`),
			pipeline.Direction{Moods: []string{"calm"}, Fields: map[string]any{}, Cooldowns: map[string]int{"stormy": 2}},
		},
		"what rests is refused": {
			directed(rested, `{"pacing":"slow","beats":["x"],"speaking_plan":["ghost"],"moods":["stormy","calm"]}`),
			pipeline.Direction{Moods: []string{"calm"}, Fields: map[string]any{"pacing": "slow"}, Cooldowns: map[string]int{"stormy": 2}},
		},
		"wrong types": {
			directed(nil, `{"pacing":["slow","soft"],"beats":"a knock","speaking_plan":"mary","moods":"Stormy, calm"}`),
			pipeline.Direction{
				Moods: []string{"stormy", "calm"}, Fields: map[string]any{"pacing": "slow, soft", "beats": []string{"a knock"}},
				Plan: []exchange.Slot{{Speaker: "m2"}}, PlanOK: true, Cooldowns: map[string]int{"stormy": 3, "beats": 2},
			},
		},
		"a list in a text": {
			directed(nil, `{"pacing":7,"beats":"[\"a\",\"b\"]","moods":["**calm**"]}`),
			pipeline.Direction{Moods: []string{"calm"}, Fields: map[string]any{"pacing": "7", "beats": []string{"a", "b"}}, Cooldowns: map[string]int{"beats": 2}},
		},
		"the plan of a fixed speaker is ignored": {
			directed(func(d *directing) { d.Fixed = new("m5") }, `{"speaking_plan":["mary"],"moods":["calm"]}`),
			pipeline.Direction{Moods: []string{"calm"}, Fields: map[string]any{}, Cooldowns: map[string]int{}},
		},
		"one by one, each its own": {
			directed(individual, `{"pacing":"slow","moods":["stormy"],"speaking_plan":["bob"]}`, `error: overloaded`, `{"speaking_plan":[],"pacing":"fast"}`, `{"moods":["calm"]}`),
			pipeline.Direction{Moods: []string{"calm"}, Fields: map[string]any{"pacing": "slow"}, PlanOK: true, Cooldowns: map[string]int{}},
		},
		"one by one, the plan is missing": {
			directed(individual, `{}`, `{}`, `{"pacing":"x"}`, `text: none`),
			pipeline.Direction{Moods: []string{}, Fields: map[string]any{}, Cooldowns: map[string]int{}},
		},
		"no answer keeps the moods": {
			directed(rested, `text: I would rather not.`),
			pipeline.Direction{Moods: []string{"calm"}, Fields: map[string]any{}, Cooldowns: map[string]int{"stormy": 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.d.run(t)
			got.Calls, got.Injection, got.Choices, got.Reasoning, got.Latency, got.Warning = nil, "", nil, "", 0, nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The record of what was asked: calls, thoughts, time, and what failed.
func TestDirectorRecord(t *testing.T) {
	d := directed(individual, `{"pacing":"slow"}`, `error: overloaded`, `text: {"speaking_plan":["mary"]}`, `{"moods":[]}`)
	got := d.run(t)
	calls, err := json.Marshal(got.Calls)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"name":"direct_scene","arguments":{"pacing":"slow"}},{"name":"direct_scene","arguments":{"speaking_plan":["mary"]}},{"name":"direct_scene","arguments":{"moods":[]}}]`; string(calls) != want {
		t.Errorf("the calls are %s", calls)
	}
	if got.Reasoning != "thought 1\n\nthought 4" || got.Latency != time.Second {
		t.Errorf("%q took %s", got.Reasoning, got.Latency)
	}
	if e, ok := errors.AsType[*llm.Error](got.Warning); !ok || e.Kind != llm.Overloaded {
		t.Errorf("the warning is %v", got.Warning)
	}
	if w := directed(nil, `text: well`).run(t).Warning; fault.CodeOf(w) != fault.Provider || fault.HintOf(w) == "" {
		t.Errorf("an answer that cannot be read warns of %v", w)
	}
	if w := directed(nil, `{}`).run(t).Warning; w != nil {
		t.Errorf("an empty answer warns of %v", w)
	}
	want := scene.DirectorState{ConversationID: "c", ActiveMoods: []string{}, MacroChoices: map[string]string{}, Cooldowns: map[string]int{}}
	if diff := cmp.Diff(want, got.State("c")); diff != "" {
		t.Errorf("the state (-want +got)\n%s", diff)
	}
}

// A model that said no leaves an exchange to go on; one that was not reached,
// a stop and a defect end it.
func TestDirectorFails(t *testing.T) {
	for kind, ends := range map[llm.Kind]bool{
		llm.Rejected: false, llm.RateLimited: false, llm.Overloaded: false, llm.NoModel: false, llm.Denied: false, llm.NoKey: false,
		llm.Empty: false, llm.TooLong: false,
		llm.NoServer: true, llm.Overfull: true, llm.Unreachable: true, llm.TimedOut: true, llm.Broken: true,
	} {
		d := directed(nil, "error: "+string(kind))
		got, err := pipeline.Direct(t.Context(), d.Directing, d.ask)
		if ends != (err != nil) || ends == (got.Warning != nil) {
			t.Errorf("%s: error %v, warning %v", kind, err, got.Warning)
		}
	}
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	d := directed(nil)
	_, err := pipeline.Direct(ctx, d.Directing, func(context.Context, llm.Request) ([]llm.ToolCall, string, string, error) {
		cancel(stop)
		return nil, "", "", &llm.Error{Kind: llm.Overloaded}
	})
	if err == nil {
		t.Error("a stopped Director goes on")
	}
	defect := errors.New("full")
	_, err = pipeline.Direct(t.Context(), d.Directing, func(context.Context, llm.Request) ([]llm.ToolCall, string, string, error) {
		return nil, "", "", defect
	})
	if !errors.Is(err, defect) {
		t.Errorf("a defect is %v", err)
	}
}

// The block that the Writer reads.
func TestGuidance(t *testing.T) {
	before := func(moods ...string) func(*directing) {
		return func(d *directing) { d.Snapshot.Director.ActiveMoods = moods }
	}
	texts := map[string]string{}
	for name, d := range map[string]*directing{
		"moods and fields": directed(nil, `{"pacing":"slow for {{user}}","beats":["a knock","{{cast}} look up"],"moods":["stormy","calm"]}`),
		"fields alone":     directed(nil, `{"pacing":"slow","moods":[]}`),
		"a list alone":     directed(nil, `{"beats":["one"],"moods":[]}`),
		"moods alone":      directed(nil, `{"moods":["calm"]}`),
		"a mood went off":  directed(before("calm"), `{"pacing":"slow","moods":[]}`),
		"a mood stays":     directed(before("calm"), `{"moods":["calm"]}`),
		"a mood rests": directed(func(d *directing) {
			before("stormy")(d)
			d.Snapshot.Director.Cooldowns = map[string]int{"stormy": 1}
		}, `{"moods":["calm"]}`),
		"no heading": directed(func(d *directing) { d.Snapshot.Fragments[0].Heading = "" }, `{"pacing":"slow","moods":[]}`),
		"nothing":    directed(nil, `{"moods":[]}`),
	} {
		texts[name] = d.run(t).Injection
	}
	golden(t, "testdata/guidance.txtar", texts)
}

// A mood of three exchanges' rest is on once, off for three, and may then be on
// again; it goes without its farewell.
func TestCooldown(t *testing.T) {
	s := parlour().Director
	for i, want := range []struct {
		on   bool
		left int
	}{{true, 3}, {false, 2}, {false, 1}, {false, 0}, {true, 3}} {
		d := directed(func(d *directing) { d.Snapshot.Director = s }, `{"moods":["stormy"]}`)
		got := d.run(t)
		if on := len(got.Moods) > 0; on != want.on || got.Cooldowns["stormy"] != want.left {
			t.Errorf("exchange %d: moods %v, cooldowns %v", i+1, got.Moods, got.Cooldowns)
		}
		if strings.Contains(got.Injection, "sky clears") {
			t.Errorf("exchange %d: a resting mood takes its leave", i+1)
		}
		s = got.State("c")
	}
}

// Random picks in a mood's text are drawn once for a conversation, whatever the
// dice show later, and each conversation has its own.
func TestPinnedPicks(t *testing.T) {
	text := "{{random::a::b::c}} {{random::a::b::c}} {{roll::3d6}}"
	guided := func(choices map[string]string, dice string) pipeline.Direction {
		return directed(func(d *directing) {
			d.Snapshot.Moods[0].Prompt, d.Scope.Dice = text, macro.Seeded(dice)
			d.Snapshot.Director.MacroChoices = choices
		}, `{"moods":["calm"]}`).run(t)
	}
	first := guided(nil, "one")
	if len(first.Choices) != 3 || strings.Contains(first.Injection, "{{") {
		t.Fatalf("the choices are %v, the block %q", first.Choices, first.Injection)
	}
	differ := false
	for _, seed := range []string{"two", "three", "four", "five", "six"} {
		if again := guided(first.Choices, seed); again.Injection != first.Injection || !cmp.Equal(again.Choices, first.Choices) {
			t.Errorf("with other dice it is %q, not %q", again.Injection, first.Injection)
		}
		differ = differ || guided(nil, seed).Injection != first.Injection
	}
	if !differ {
		t.Error("every conversation picks the same")
	}
	spoilt := map[string]string{"random::a::b::c": "7", "roll::3d6": "x 1"}
	if got := guided(spoilt, "one"); got.Injection != first.Injection || len(spoilt) != 2 || spoilt["roll::3d6"] != "x 1" {
		t.Errorf("choices that cannot be make it %q; they are now %v", got.Injection, spoilt)
	}
}

func TestDirects(t *testing.T) {
	bare := func(s *scene.Snapshot) { s.Moods, s.Fragments = s.Moods[2:], s.Fragments[2:] } // none that count
	for name, c := range map[string]struct {
		change func(*scene.Snapshot)
		fixed  bool
		want   bool
	}{
		"a group":                   {func(*scene.Snapshot) {}, false, true},
		"a group without fragments": {bare, false, true},
		"fixed, with fragments":     {func(*scene.Snapshot) {}, true, true},
		"fixed, with moods":         {func(s *scene.Snapshot) { s.Fragments = nil }, true, true},
		"fixed, without":            {bare, true, false},
		"solo, with fragments":      {func(s *scene.Snapshot) { s.Conversation.Kind = scene.Solo; s.Members = nil }, false, true},
		"solo, without":             {func(s *scene.Snapshot) { bare(s); s.Conversation.Kind = scene.Solo }, false, false},
		"no agent":                  {func(s *scene.Snapshot) { s.Settings.EnableAgent = false }, false, false},
		"the tool is off":           {func(s *scene.Snapshot) { s.Settings.EnabledTools["direct_scene"] = false }, false, false},
		"all muted": {func(s *scene.Snapshot) {
			for i := range s.Members {
				s.Members[i].Muted = true
			}
		}, false, false},
	} {
		s := parlour()
		c.change(&s)
		if got := pipeline.Directs(s, c.fixed); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
