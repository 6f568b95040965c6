package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// stop stops what runs in the conversation, without waiting for its end.
func (sc *scened) stop() {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, _ = sc.s.Stop(gone, sc.id)
}

// at does something when an event of a name comes for the nth time.
func at(name string, nth int, do func(pipeline.Event)) func(pipeline.Event) {
	return func(e pipeline.Event) {
		if e.Name == name {
			if nth--; nth == 0 {
				do(e)
			}
		}
	}
}

func fails(kind llm.Kind) func(asked) llmtest.Answer {
	return func(asked) llmtest.Answer {
		return llmtest.Break("", &llm.Error{Kind: kind, Provider: "fake", Status: 418, Message: "the server says " + string(kind)})
	}
}

// bySpeaker answers the Writer of one member in a way of its own.
func (p *player) bySpeaker(name string, part func(asked) llmtest.Answer) {
	p.play("writer", func(a asked) llmtest.Answer {
		if a.speaker == name {
			return part(a)
		}
		return llmtest.Say(a.speaker + " speaks.")
	})
}

// S6: what is announced as done is stored, with its log, and the claim is
// given back before the end is announced.
func TestCommitBeforeDone(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"}, func(e pipeline.Event) {
		switch data := e.Data.(type) {
		case pipeline.CreatedData:
			if leaf := sc.leaf(); leaf.ID != data.ID || leaf.Content != data.Content {
				t.Errorf("user_message_created of %d, and the store ends with %+v", data.ID, leaf)
			}
		case pipeline.SpeakerDoneData:
			if leaf := sc.leaf(); leaf.ID != data.MessageID || leaf.Content != data.Content {
				t.Errorf("speaker_done of %d, and the store ends with %+v", data.MessageID, leaf)
			}
			if logs := must(sc.s.LogsOf(t.Context(), sc.id, []int64{data.MessageID}))(t); len(logs) != 1 {
				t.Errorf("%d logs of a reply that is done", len(logs))
			}
			if calls, _, err := sc.s.Calls(t.Context(), sc.id, data.MessageID); err != nil || len(calls) == 0 {
				t.Errorf("%d calls of a reply that is done: %v", len(calls), err)
			}
		}
		if running := sc.s.Running(sc.id); running != (e.Name != pipeline.Done) {
			t.Errorf("at %s the conversation is claimed: %v", e.Name, running)
		}
	})
}

// S6, S7, V17, V18, H11: how failures end an exchange, and what is kept.
func TestFailures(t *testing.T) {
	broken := &llm.Error{Kind: llm.Broken, Provider: "fake", Message: "cut"}
	for name, c := range map[string]struct {
		set    func(*scened)
		names  string // of the events behind speaking_plan, or from director_start without one
		text   string
		last   string // incomplete
		stage  string
		kind   string
		writes int
	}{
		"the first, with nothing": {
			set:   func(sc *scened) { sc.p.bySpeaker("Anna", fails(llm.Rejected)) },
			names: "speaker_start step_start speaker_failed error done", text: "User: Hello?", stage: "writer pass", kind: "provider", writes: 1,
		},
		"the first, with a part": {
			set: func(sc *scened) {
				sc.p.bySpeaker("Anna", func(asked) llmtest.Answer { return llmtest.Break("Anna: I was", broken) })
			},
			names: "speaker_start step_start token speaker_done error done", text: "User: Hello?\nAnna: I was", last: "error", stage: "writer pass", kind: "provider", writes: 1,
		},
		"the second, with nothing": {
			set:   func(sc *scened) { sc.p.bySpeaker("Bob", fails(llm.Denied)) },
			names: "speaker_start step_start token writer_done speaker_done speaker_start step_start speaker_failed error done", text: "User: Hello?\nAnna: Anna speaks.", stage: "writer pass", kind: "transport", writes: 2,
		},
		"the second, with a part": {
			set: func(sc *scened) {
				sc.p.bySpeaker("Bob", func(asked) llmtest.Answer { return llmtest.Break("I was", broken) })
			},
			names: "speaker_start step_start token writer_done speaker_done speaker_start step_start token speaker_done error done", text: "User: Hello?\nAnna: Anna speaks.\nBob: I was", last: "error", stage: "writer pass", kind: "provider", writes: 2,
		},
		"a refusal": {
			set: func(sc *scened) {
				sc.p.bySpeaker("Anna", func(asked) llmtest.Answer {
					a := llmtest.Say("I cannot")
					a[len(a)-1].Chunk.Finish = llm.FinishRefused
					return a
				})
			},
			names: "speaker_start step_start token speaker_done error done", text: "User: Hello?\nAnna: I cannot", last: "error", stage: "writer pass", kind: "provider", writes: 1,
		},
		"nothing said": {
			set: func(sc *scened) {
				sc.p.bySpeaker("Anna", func(asked) llmtest.Answer { return llmtest.Say("**Anna:** \n") })
			},
			names: "speaker_start step_start writer_done speaker_failed error done", text: "User: Hello?", stage: "writer pass", kind: "provider", writes: 1,
		},
		"nothing but a comment": {
			set: func(sc *scened) {
				sc.p.bySpeaker("Anna", func(asked) llmtest.Answer { return llmtest.Say("{{// hm}}") })
			},
			names: "speaker_start step_start token writer_done speaker_failed error done", text: "User: Hello?", stage: "writer pass", kind: "provider", writes: 1,
		},
		"a call of a tool": {
			set: func(sc *scened) {
				sc.p.bySpeaker("Anna", func(asked) llmtest.Answer {
					return llmtest.Use(llm.ToolCall{ID: "1", Name: "direct_scene", Arguments: []byte(`{}`)})
				})
			},
			names: "speaker_start step_start writer_done speaker_failed error done", text: "User: Hello?", stage: "writer pass", kind: "provider", writes: 1,
		},
		"no Director to reach": {
			set:   func(sc *scened) { sc.p.play("direct_scene", fails(llm.NoServer)) },
			names: "speaking_plan error done", text: "User: Hello?", stage: "director pass", kind: "transport",
		},
		"a Director that fails": {
			set:   func(sc *scened) { sc.p.play("direct_scene", fails(llm.Rejected)) },
			names: "speaker_start step_start token writer_done speaker_done done", text: "User: Hello?\nAnna: Anna says line 1.", writes: 1,
		},
		"an Editor that fails": {
			set: func(sc *scened) {
				must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"oh no"}}))(t)
				sc.p.says("writer", "Well, oh no. And oh no.")
				sc.p.play("editor_apply_patch", fails(llm.Rejected))
			},
			names: "speaker_start step_start token writer_done speaker_done error done", text: "User: Hello?\nAnna: Well, oh no. And oh no.", stage: "editor pass", kind: "provider", writes: 1,
		},
		"an Editor with nothing": {
			set: func(sc *scened) {
				must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"oh no"}}))(t)
				sc.p.says("writer", "Well, oh no. And oh no.")
				sc.p.play("editor_apply_patch", func(asked) llmtest.Answer { return llmtest.Say(" ") })
				sc.p.plan = []string{"anna"}
			},
			names: "speaker_start step_start token writer_done editor_done speaker_done done", text: "User: Hello?\nAnna: Well, oh no. And oh no.", writes: 1,
		},
		"a full disk": {
			set: func(sc *scened) {
				sc.p.bySpeaker("Anna", func(asked) llmtest.Answer {
					sc.s.Store = fullDisk{sc.s.Store}
					return llmtest.Say("Anna speaks.")
				})
			},
			names: "speaker_start step_start token writer_done speaker_failed error done", text: "User: Hello?", stage: "saving the reply", kind: "internal", writes: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newTheatre(t).group("Anna", "Bob", "Cara")
			sc.p.plan = []string{"anna", "bob", "cara"}
			c.set(sc)
			ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"})
			got := ev.names()
			if _, behind, planned := strings.Cut(got, "speaking_plan "); planned && !strings.HasPrefix(c.names, "speaking_plan") {
				got = behind
			} else if planned {
				got = "speaking_plan " + behind
			}
			if got != c.names {
				t.Errorf("events\n%s, want\n%s", got, c.names)
			}
			if ev.count(pipeline.SpeakingPlan) != 1 || ev.count(pipeline.UserMessageCreated) != 1 {
				t.Errorf("%s", ev.names())
			}
			if got := sc.text(); got != c.text {
				t.Errorf("the scene is\n%s\nwant\n%s", got, c.text)
			}
			if leaf := sc.leaf(); leaf.Incomplete != c.last {
				t.Errorf("the last message is incomplete by %q, want %q", leaf.Incomplete, c.last)
			}
			if n := len(sc.p.of("writer")); n != c.writes {
				t.Errorf("%d calls of the Writer, want %d", n, c.writes)
			}
			if c.stage != "" {
				p := last[pipeline.ProblemData](t, ev, pipeline.Failed)
				if p.Stage != c.stage || p.Kind != c.kind || p.Headline == "" || p.Sentence == "" {
					t.Errorf("the problem is %+v", p)
				}
			}
			// The next exchange goes on as if nothing had been.
			sc.p.parts = nil
			if full, ok := sc.s.Store.(fullDisk); ok {
				sc.s.Store = full.Store
			}
			before := len(sc.path())
			sc.send("And now?")
			if got := len(sc.path()); got != before+1+len(sc.p.plan) {
				t.Errorf("the next exchange stored %d messages", got-before)
			}
		})
	}
}

// fullDisk is a store that takes nothing any more.
type fullDisk struct{ scene.Store }

func (fullDisk) Update(context.Context, func(scene.Tx) error) error {
	return fault.New(fault.Storage, "the disk is full")
}

// S10: a Director that fails is told as a warning, and the round goes on.
func TestDirectorWarns(t *testing.T) {
	for name, part := range map[string]func(asked) llmtest.Answer{
		"refused":  fails(llm.Rejected),
		"no plan":  func(asked) llmtest.Answer { return llmtest.Say("I think Anna should speak.") },
		"nothing":  func(asked) llmtest.Answer { return llmtest.Say("") },
		"thinking": func(asked) llmtest.Answer { return thinking("Anna? Bob?", "") },
	} {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.p.play("direct_scene", part)
		ev := sc.send("Hello?")
		if p := last[pipeline.ProblemData](t, ev, pipeline.Warning); p.Stage != "director pass" || ev.count(pipeline.Warning) != 1 || ev.count(pipeline.SpeakerDone) != 1 {
			t.Errorf("%s: %s %+v", name, ev.names(), p)
		}
	}
}

// S7, H11: a stop in each phase ends the exchange once, keeps what is worth
// it once, and nobody else speaks.
func TestStop(t *testing.T) {
	stalls := func(pass, text string) func(*scened) []func(pipeline.Event) {
		return func(sc *scened) []func(pipeline.Event) {
			sc.p.play(pass, func(a asked) llmtest.Answer {
				answer := llmtest.Stall(text, nil)
				sc.stopping.Go(sc.stop)
				return answer
			})
			return nil
		}
	}
	on := func(name string, nth int) func(*scened) []func(pipeline.Event) {
		return func(sc *scened) []func(pipeline.Event) {
			return []func(pipeline.Event){at(name, nth, func(pipeline.Event) { sc.stop() })}
		}
	}
	draft := "Well, oh no. And oh no."
	for name, c := range map[string]struct {
		set        func(*scened) []func(pipeline.Event)
		text       string // behind the user's message
		incomplete string
		kinds      string // of the last events
	}{
		"at the start":            {set: on("user_message_created", 1), kinds: "speaking_plan done"},
		"in the Director":         {set: stalls("direct_scene", ""), kinds: "speaking_plan done"},
		"at the plan":             {set: on("speaking_plan", 1), kinds: "speaking_plan done"},
		"before the first token":  {set: on("step_start", 1), kinds: "speaker_failed done"},
		"in a silent Writer":      {set: stalls("writer", ""), kinds: "speaker_failed done"},
		"at the first token":      {set: on("token", 1), text: "Anna: Well,", incomplete: "interrupted", kinds: "speaker_done done"},
		"in a Writer":             {set: on("token", 2), text: "Anna: Well, oh", incomplete: "interrupted", kinds: "speaker_done done"},
		"behind the Writer":       {set: on("writer_done", 1), text: "Anna: " + draft, kinds: "speaker_done done"},
		"in the Editor":           {set: stalls("editor_apply_patch", ""), text: "Anna: " + draft, kinds: "speaker_done done"},
		"in post-processing":      {set: stalls("apply_find_replace", ""), text: "Anna: " + draft, kinds: "speaker_done done"},
		"in feedback":             {set: stalls("give_feedback", ""), text: "Anna: " + draft, kinds: "speaker_done done"},
		"in a hook":               {set: on("phase_status", 1), text: "Anna: " + draft, kinds: "speaker_done done"},
		"between speakers":        {set: on("speaker_done", 1), text: "Anna: " + draft, kinds: "speaker_done done"},
		"at the second's start":   {set: on("speaker_start", 2), text: "Anna: " + draft, kinds: "speaker_failed done"},
		"at the end of the last":  {set: on("speaker_done", 2), text: "Anna: " + draft + "\nBob: " + draft, kinds: "speaker_done done"},
		"in the last one's end":   {set: on("writer_done", 2), text: "Anna: " + draft + "\nBob: " + draft, kinds: "speaker_done done"},
		"in the steps behind all": {set: stalls(sheetTool, ""), text: "Anna: " + draft + "\nBob: " + draft, kinds: "step_start done"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := kept(t, "Anna", "Bob")
			sc.r.Hooks = []pipeline.Hook{&hook{}}
			for _, f := range []scene.Fragment{{ID: "gist", Type: "feedback"}, {ID: "tidy", Type: "post_processing"}} {
				f.Label, f.Enabled = f.ID, true
				must(sc.s.CreateFragment(t.Context(), f))(t)
			}
			must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"oh no"}}))(t)
			sc.p.says("writer", draft)
			ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"}, c.set(sc)...)
			sc.stopping.Wait()
			if got := ev.status(t); got != "stopped" {
				t.Errorf("it ended %s", got)
			}
			if got := ev.names(); !strings.HasSuffix(got, c.kinds) || ev.count(pipeline.SpeakingPlan) != 1 || ev.count(pipeline.Warning) != 0 {
				t.Errorf("events\n%s\nend not with %s", got, c.kinds)
			}
			if got := strings.TrimPrefix(strings.TrimPrefix(sc.text(), "User: Hello?"), "\n"); got != c.text {
				t.Errorf("the scene is\n%s\nwant\n%s", got, c.text)
			}
			if leaf := sc.leaf(); leaf.Incomplete != c.incomplete {
				t.Errorf("the last message is incomplete by %q, want %q", leaf.Incomplete, c.incomplete)
			}
			if got := sc.proposals(); got != "" {
				t.Errorf("proposed behind a stop: %s", got)
			}
			asked := len(sc.p.asked)
			sc.p.parts = nil
			sc.send("And now?")
			if len(sc.p.asked) == asked {
				t.Error("nobody answers after a stop")
			}
		})
	}
}

// A stop counts also while a call waits to be made again, and a server that
// refuses calls that come too soon gets them again (H10).
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := newTheatre(t).group("Anna", "Bob")
		var before time.Time
		refusals := 0
		sc.p.play("writer", func(a asked) llmtest.Answer {
			soon := time.Since(before) < 50*time.Millisecond
			before = time.Now()
			if soon {
				refusals++
				return llmtest.Break("", &llm.Error{Kind: llm.RateLimited, Message: "too soon"})
			}
			return llmtest.Say(a.speaker + " speaks.")
		})
		ev := sc.send("Hello?")
		if refusals == 0 || sc.text() != "User: Hello?\nAnna: Anna speaks.\nBob: Bob speaks." {
			t.Errorf("after %d refusals the scene is\n%s", refusals, sc.text())
		}
		if p := last[pipeline.PhaseData](t, ev, pipeline.PhaseStatus); p.Channel != "writer" || !strings.Contains(p.Label, "retrying") {
			t.Errorf("the wait is told as %+v", p)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.p.play("writer", fails(llm.Overloaded))
		began := time.Now()
		ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"}, at(pipeline.PhaseStatus, 2, func(pipeline.Event) { sc.stop() }))
		if ev.status(t) != "stopped" || len(sc.p.of("writer")) != 2 || time.Since(began) > time.Second || len(sc.path()) != 1 {
			t.Errorf("%s after %d calls and %s", ev.names(), len(sc.p.of("writer")), time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.p.play("direct_scene", fails(llm.Unreachable))
		ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"})
		if ev.status(t) != "failed" || len(sc.p.asked) != 4 {
			t.Errorf("%s after %d calls", ev.names(), len(sc.p.asked))
		}
	})
}

// hook is a workflow's.
type hook struct {
	name string
	do   func(context.Context, pipeline.Finished) (pipeline.Changes, error)
	seen []pipeline.Finished
}

func (h *hook) Name() string { return "w" + h.name }

func (h *hook) Reply(ctx context.Context, f pipeline.Finished) (pipeline.Changes, error) {
	h.seen = append(h.seen, f)
	if h.do == nil {
		return pipeline.Changes{}, nil
	}
	return h.do(ctx, f)
}

func replaces(text string) *hook {
	return &hook{do: func(context.Context, pipeline.Finished) (pipeline.Changes, error) {
		return pipeline.Changes{Text: &text}, nil
	}}
}

// REF 4.10: hooks see the speaker and its card, replace the draft once, attach
// files and slots; what fails is a warning and changes nothing.
func TestHooks(t *testing.T) {
	for name, c := range map[string]struct {
		hooks    []*hook
		text     string
		draft    string // writer_draft
		warnings int
		files    int
		slots    string
	}{
		"none":              {text: "Draft."},
		"one that replaces": {hooks: []*hook{replaces("Anna: Better.")}, text: "Better.", draft: "Draft."},
		"only the first":    {hooks: []*hook{replaces("Better."), replaces("Best.")}, text: "Better.", draft: "Draft."},
		"with the same":     {hooks: []*hook{replaces("Draft."), replaces("Best.")}, text: "Best.", draft: "Draft."},
		"with nothing":      {hooks: []*hook{replaces(" \n"), replaces("{{// x}}"), replaces("Best.")}, text: "Best.", draft: "Draft."},
		"with a label":      {hooks: []*hook{replaces("Anna:")}, text: "Draft.", draft: ""},
		"failing": {hooks: []*hook{{do: func(context.Context, pipeline.Finished) (pipeline.Changes, error) {
			return pipeline.Changes{Text: new("Bad."), Slots: scene.Slots(`{"x":1}`)}, errors.New("no")
		}}, replaces("Better.")}, text: "Better.", draft: "Draft.", warnings: 1},
		"panicking": {hooks: []*hook{{do: func(context.Context, pipeline.Finished) (pipeline.Changes, error) { panic("no") }}}, text: "Draft.", warnings: 1},
		"with files and slots": {hooks: []*hook{
			{do: func(context.Context, pipeline.Finished) (pipeline.Changes, error) {
				return pipeline.Changes{Slots: scene.Slots(`{"a":1,"b":1}`), Uploads: []scene.NewUpload{{MIME: "image/png", Filename: "a.png", Data: []byte("x")}}}, nil
			}},
			{do: func(context.Context, pipeline.Finished) (pipeline.Changes, error) {
				return pipeline.Changes{Slots: scene.Slots(`{"b":2}`)}, nil
			}},
		}, text: "Draft.", files: 1, slots: `{"a":1,"b":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newTheatre(t).group("Anna", "Bob")
			sc.p.plan = []string{"anna"}
			sc.p.says("writer", "Draft.")
			for i, h := range c.hooks {
				h.name = fmt.Sprint(i)
				sc.r.Hooks = append(sc.r.Hooks, h)
			}
			ev := sc.send("Hello?")
			leaf := sc.leaf()
			if leaf.Content != c.text || last[pipeline.SpeakerDoneData](t, ev, pipeline.SpeakerDone).Content != c.text {
				t.Errorf("stored %q, want %q", leaf.Content, c.text)
			}
			if got := leaf.WriterDraft; (got == nil) != (c.draft == "") || got != nil && *got != c.draft {
				t.Errorf("the draft that is kept is %v, want %q", got, c.draft)
			}
			if ev.count(pipeline.Warning) != c.warnings || (ev.count(pipeline.WriterRewrite) == 1) != (c.text != "Draft.") {
				t.Errorf("%s", ev.names())
			}
			var slots any
			_ = json.Unmarshal(leaf.Slots, &slots)
			var want any
			_ = json.Unmarshal([]byte(c.slots), &want)
			if diff := cmp.Diff(want, slots); diff != "" || len(leaf.Uploads) != c.files {
				t.Errorf("%d files, slots (-want +got)\n%s", len(leaf.Uploads), diff)
			}
			for _, h := range c.hooks {
				if len(h.seen) != 1 || h.seen[0].Member.Name != "Anna" || h.seen[0].Card.Name != "Anna" || h.seen[0].Conversation.ID != sc.id {
					t.Errorf("a hook saw %+v", h.seen)
				}
			}
		})
	}
}

// S8: what runs behind the replies gives way to the next request, which finds
// the replies there; the exchange itself was completed.
func TestStepsGiveWay(t *testing.T) {
	sc := kept(t, "Anna", "Bob")
	reached := make(chan struct{})
	var once sync.Once
	sc.p.play(sheetTool, func(a asked) llmtest.Answer {
		answer := llmtest.Stall("", nil)
		if a.nth > 1 {
			answer = give(a, `{"changed":false,"sheet":"","summary":""}`)
		}
		once.Do(func() { close(reached) })
		return answer
	})
	var first events
	var done sync.WaitGroup
	x := must(sc.begin(pipeline.Ask{Kind: pipeline.Send, Content: "One"}))(t)
	done.Go(func() { x.Run(func(e pipeline.Event) { first = append(first, e) }) })
	<-reached
	second := sc.send("Two")
	done.Wait()
	checkEvents(t, first)
	if first.status(t) != "completed" || first.count(pipeline.Warning) != 0 || first.count(pipeline.SpeakerDone) != 2 {
		t.Errorf("the first ended %s: %s", first.status(t), first.names())
	}
	if got := len(sc.path()); got != 6 || second.count(pipeline.SpeakerDone) != 2 {
		t.Errorf("%d messages are stored", got)
	}
}

// S4: while the cast speaks nobody else may ask.
func TestBusy(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "One"}, func(e pipeline.Event) {
		if e.Name == pipeline.Done {
			return
		}
		if _, err := sc.begin(pipeline.Ask{Kind: pipeline.Send, Content: "Two"}); fault.CodeOf(err) != fault.Busy {
			t.Errorf("at %s a second exchange is answered with %v", e.Name, err)
		}
	})
}

// S8: the steps run behind the replies that succeeded, also when a later one
// failed, but not when none did; their failure is a warning.
func TestStepsAfterFailures(t *testing.T) {
	for name, c := range map[string]struct {
		bad   string
		calls int
	}{"the second fails": {"Bob", 1}, "the first fails": {"Anna", 0}} {
		sc := kept(t, "Anna", "Bob")
		sc.p.bySpeaker(c.bad, fails(llm.Rejected))
		ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"})
		if got := len(sc.p.of(sheetTool)); got != c.calls || ev.status(t) != "failed" {
			t.Errorf("%s: %d calls: %s", name, got, ev.names())
		}
	}
	sc := kept(t, "Anna", "Bob")
	sc.p.bySpeaker("Anna", func(asked) llmtest.Answer {
		return llmtest.Break("I was", &llm.Error{Kind: llm.Broken, Message: "cut"})
	})
	sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"})
	if n := len(sc.p.of(sheetTool)); n != 0 {
		t.Errorf("a part of a reply is followed by %d updates", n)
	}
	sc = kept(t, "Anna", "Bob")
	sc.p.play(sheetTool, fails(llm.Rejected))
	ev := sc.send("Hello?")
	if p := last[pipeline.ProblemData](t, ev, pipeline.Warning); ev.count(pipeline.Warning) != 1 || p.Stage != "sheet updates" || len(sc.p.of(sheetTool)) != 2 {
		t.Errorf("%s %+v", ev.names(), p)
	}
}

// S17: scenes at the same time know nothing of each other.
func TestManyScenes(t *testing.T) {
	th := newTheatre(t)
	var scenes []*scened
	for i := range 6 {
		n := scene.NewConversation{Kind: scene.Group, Title: fmt.Sprint("Scene ", i), TurnMode: scene.RoundRobin}
		for _, name := range []string{"A", "B"} {
			n.Members = append(n.Members, scene.MemberSpec{Name: fmt.Sprint(name, i)})
		}
		scenes = append(scenes, th.open(n))
	}
	var all sync.WaitGroup
	for i, sc := range scenes {
		all.Go(func() {
			for j := range 4 {
				x, err := sc.begin(pipeline.Ask{Kind: pipeline.Send, Content: fmt.Sprintf("message %d of scene %d", j, i)})
				if err != nil {
					t.Error(err)
					return
				}
				x.Run(func(e pipeline.Event) {
					if d, ok := e.Data.(pipeline.SpeakerDoneData); ok && d.Name != fmt.Sprint([]string{"A", "B"}[j%2], i) {
						t.Errorf("scene %d: %s speaks in turn %d", i, d.Name, j)
					}
				})
			}
		})
	}
	all.Wait()
	for _, a := range th.p.asked {
		scenes := strings.Count(a.whole(), "of scene "+a.speaker[1:])
		if all := strings.Count(a.whole(), "of scene "); all != scenes {
			t.Errorf("%s reads of another scene", a.speaker)
		}
	}
}
