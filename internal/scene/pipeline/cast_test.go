package pipeline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// REF 10.1 row 8: a Director, two speakers, one exchange.
func TestExchange(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.p.gives("direct_scene", `{"speaking_plan":["anna — greets","bob — answers"]}`)
	sc.p.says("writer", "**Anna:**\nGood evening.", "Bob: Evening, all.")
	ev := sc.send("Is anybody here?")
	const want = "user_message_created director_start director_done speaking_plan " +
		"speaker_start step_start token writer_done speaker_done speaker_start step_start token writer_done speaker_done done"
	if got := ev.names(); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	plan := last[pipeline.PlanData](t, ev, pipeline.SpeakingPlan).Plan
	anna, bob := sc.member("Anna"), sc.member("Bob")
	if diff := cmp.Diff([]pipeline.PlanSlot{{anna.ID, anna.CardID, "Anna", "greets"}, {bob.ID, bob.CardID, "Bob", "answers"}}, plan); diff != "" {
		t.Errorf("plan (-want +got)\n%s", diff)
	}
	if got, want := sc.text(), "User: Is anybody here?\nAnna: Good evening.\nBob: Evening, all."; got != want {
		t.Errorf("the scene is\n%s\nwant\n%s", got, want)
	}
	path := sc.path()
	for i, s := range path {
		if s.ExchangeID == nil || *s.ExchangeID != *path[0].ExchangeID || s.TurnIndex != i {
			t.Errorf("message %d has exchange %v and turn %d", i, s.ExchangeID, s.TurnIndex)
		}
		if i > 0 && (s.ParentID == nil || *s.ParentID != path[i-1].ID) {
			t.Errorf("message %d does not follow the one before", i)
		}
	}
	for i, a := range sc.p.of("writer") {
		own, other := []string{"ANNA", "BOB"}[i], []string{"BOB", "ANNA"}[i]
		for _, text := range []string{"-SHEET", "-NATURE", "-EXAMPLE", "-POST"} {
			if !strings.Contains(a.tail(), own+text) || strings.Contains(a.whole(), other+text) {
				t.Errorf("%s is not its speaker's alone:\n%s", own+text, a.whole())
			}
		}
		cue := []string{"greets", "answers"}[i]
		if !strings.Contains(a.tail(), "## Your cue\n"+cue) {
			t.Errorf("the cue %q is missing:\n%s", cue, a.tail())
		}
	}
	done := last[pipeline.SpeakerDoneData](t, ev, pipeline.SpeakerDone)
	leaf := sc.leaf()
	want2 := pipeline.SpeakerDoneData{
		MessageID: leaf.ID, ParentID: leaf.ParentID, TurnIndex: 2, MemberID: &bob.ID, CardID: bob.CardID, Name: "Bob", Content: "Evening, all.",
		Usage: &scene.CallUsage{Input: 10, Output: 3}, Timing: done.Timing,
	}
	if diff := cmp.Diff(want2, done); diff != "" || done.Timing == nil {
		t.Errorf("speaker_done (-want +got)\n%s", diff)
	}
	start := last[pipeline.SpeakerData](t, ev, pipeline.SpeakerStart)
	if diff := cmp.Diff(pipeline.SpeakerData{&bob.ID, bob.CardID, "Bob", 1, 2, "answers"}, start); diff != "" {
		t.Errorf("speaker_start (-want +got)\n%s", diff)
	}
}

// Row 9: what the person attached is shown to every speaker.
func TestPictures(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	pictures := []scene.NewUpload{{MIME: "image/png", Filename: "sea.png", Data: []byte("\x89PNG sea")}, {MIME: "text/plain", Filename: "note.txt", Data: []byte("hi")}}
	sc.well(pipeline.Ask{Kind: pipeline.Send, Content: "Look!", Uploads: pictures})
	shown := func(a asked) (n int) {
		for _, m := range a.Messages {
			n += len(m.Images)
		}
		return n
	}
	for _, a := range sc.p.asked {
		if shown(a) != 1 {
			t.Errorf("%s %s is shown %d pictures", a.pass, a.speaker, shown(a))
		}
	}
	first := sc.path()[0]
	sc.p.forget()
	sc.send("Well?")
	sc.well(pipeline.Ask{Kind: pipeline.Regenerate, Message: sc.path()[1].ID})
	sc.well(pipeline.Ask{Kind: pipeline.ForkEdit, Message: first.ID, Content: "Look here!"})
	for _, a := range sc.p.asked {
		if shown(a) != 1 {
			t.Errorf("later %s %s is shown %d pictures", a.pass, a.speaker, shown(a))
		}
	}
	if got := sc.path()[0]; len(got.Uploads) != 2 {
		t.Errorf("the message that was asked anew has %d files", len(got.Uploads))
	}
	sc.p.forget()
	sc.well(pipeline.Ask{Kind: pipeline.Send, Uploads: pictures[:1]})
	if w := sc.p.of("writer"); len(w) != 2 || shown(w[0]) != 2 {
		t.Error("a picture without a word is not shown")
	}
}

// Rows 10, 11 and S1–S3: who speaks, and that nobody has to.
func TestWhoSpeaks(t *testing.T) {
	for name, c := range map[string]struct {
		mode   scene.TurnMode
		pin    string
		muted  []string
		agent  bool
		answer string // of the Director
		plan   string
		asked  string
	}{
		"manual rests":            {mode: scene.Manual, agent: true, plan: "", asked: ""},
		"manual with a pin":       {mode: scene.Manual, agent: true, pin: "Bob", plan: "Bob", asked: "writer Bob"},
		"round robin":             {mode: scene.RoundRobin, agent: true, plan: "Anna", asked: "writer Anna"},
		"round robin past mutes":  {mode: scene.RoundRobin, agent: true, muted: []string{"Anna", "Bob"}, plan: "Cara", asked: "writer Cara"},
		"round robin with a pin":  {mode: scene.RoundRobin, agent: true, pin: "Cara", plan: "Cara", asked: "writer Cara"},
		"director with a pin":     {mode: scene.Director, agent: true, pin: "Cara", plan: "Cara", asked: "writer Cara"},
		"director":                {mode: scene.Director, agent: true, answer: `{"speaking_plan":["cara","anna"]}`, plan: "Cara Anna", asked: "direct_scene, writer Cara, writer Anna"},
		"director rests":          {mode: scene.Director, agent: true, answer: `{"speaking_plan":[]}`, plan: "", asked: "direct_scene"},
		"director says nothing":   {mode: scene.Director, agent: true, answer: `{}`, plan: "Anna", asked: "direct_scene, writer Anna"},
		"director names nobody":   {mode: scene.Director, agent: true, answer: `{"speaking_plan":["ghost"]}`, plan: "Anna", asked: "direct_scene, writer Anna"},
		"director names muted":    {mode: scene.Director, agent: true, muted: []string{"Bob"}, answer: `{"speaking_plan":["bob","cara"]}`, plan: "Cara", asked: "direct_scene, writer Cara"},
		"director thinks":         {mode: scene.Director, agent: true, answer: `{"speaking_plan":"<thinking>anna? bob?</thinking>[\"cara\"]"}`, plan: "Cara", asked: "direct_scene, writer Cara"},
		"director writes no JSON": {mode: scene.Director, agent: true, answer: "{\"speaking_plan\":[\"cara — nods\nslowly\",]}", plan: "Cara", asked: "direct_scene, writer Cara"},
		"director without agent":  {mode: scene.Director, plan: "Anna", asked: "writer Anna"},
		"all are muted":           {mode: scene.Director, agent: true, muted: []string{"Anna", "Bob", "Cara"}, plan: "", asked: ""},
		"all are muted, in turns": {mode: scene.RoundRobin, agent: true, muted: []string{"Anna", "Bob", "Cara"}, plan: "", asked: ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newTheatre(t).group("Anna", "Bob", "Cara")
			sc.mode(c.mode, scene.Private)
			sc.mute(c.muted...)
			if !c.agent {
				sc.settings(`{"enable_agent":false}`)
			}
			if c.answer != "" {
				sc.p.gives("direct_scene", c.answer)
			}
			ask := pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"}
			if c.pin != "" {
				ask.Pin = new(sc.member(c.pin).ID)
			}
			ev := sc.well(ask)
			var plan []string
			for _, s := range last[pipeline.PlanData](t, ev, pipeline.SpeakingPlan).Plan {
				plan = append(plan, s.Name)
			}
			if got := strings.Join(plan, " "); got != c.plan {
				t.Errorf("the plan is %q, want %q", got, c.plan)
			}
			if got := sc.p.passes(); got != c.asked {
				t.Errorf("asked: %s; want %s", got, c.asked)
			}
			if got := len(sc.path()); got != 1+len(plan) {
				t.Errorf("%d messages are stored for %d speakers", got, len(plan))
			}
		})
	}
}

// Row 54, 55: a Director that is asked for each field plans and rests, too.
func TestDirectorInSteps(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.settings(`{"director_individual_fragments":true}`)
	must(sc.s.CreateFragment(t.Context(), scene.Fragment{ID: "pace", Label: "Pace", Type: "string", Description: "How fast", Enabled: true}))(t)
	sc.p.gives("direct_scene", `{"pace":"slow"}`, `{"speaking_plan":["bob"]}`, `{"pace":"fast"}`, `{"speaking_plan":[]}`)
	sc.send("Hello?")
	if got := sc.p.passes(); got != "direct_scene, direct_scene, writer Bob" {
		t.Errorf("asked: %s", got)
	}
	if w := sc.p.of("writer")[0]; !strings.Contains(w.tail(), "**Scene Guidance**") || !strings.Contains(w.tail(), "Pace: slow") {
		t.Errorf("the guidance is missing:\n%s", w.tail())
	}
	sc.send("And?")
	if got := len(sc.path()); got != 3 {
		t.Errorf("a scene at rest has %d messages, want 3", got)
	}
}

// Round robin goes on from the last speaker of the branch that is answered.
func TestTurnsOfABranch(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob", "Cara")
	sc.mode(scene.RoundRobin, scene.Private)
	sc.send("One")
	first := sc.path()[0].ID
	sc.send("Two")
	second := sc.path()[2].ID
	sc.send("Three")
	if got := sc.leaf(); *got.SpeakerID != sc.member("Cara").ID {
		t.Fatalf("the third speaker is %s", *got.SpeakerID)
	}
	sc.well(pipeline.Ask{Kind: pipeline.ForkEdit, Message: second, Content: "Two, again"})
	if got := sc.leaf(); *got.SpeakerID != sc.member("Bob").ID {
		t.Error("after Anna it is not Bob's turn on the branch")
	}
	sc.well(pipeline.Ask{Kind: pipeline.ForkEdit, Message: first, Content: "One, again"})
	if got := sc.leaf(); *got.SpeakerID != sc.member("Anna").ID {
		t.Error("on a branch where nobody spoke it is not Anna's turn")
	}
}

// Row 18, S22: a solo chat by the same code, without a cast, labels and a plan.
func TestSolo(t *testing.T) {
	th := newTheatre(t)
	card := th.card("Anna")
	sc := th.open(scene.NewConversation{CardID: &card})
	th.p.says("writer", "Anna: Good evening.")
	ev := sc.send("Hello?")
	if got, want := ev.names(), "user_message_created director_done speaker_start step_start token writer_done speaker_done done"; got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	done := last[pipeline.SpeakerDoneData](t, ev, pipeline.SpeakerDone)
	if done.MemberID != nil || done.Name != "Anna" || done.Content != "Good evening." || *done.CardID != card {
		t.Errorf("speaker_done %+v", done)
	}
	sc.send("More.")
	a := sc.p.of("writer")[1]
	if text := a.whole(); strings.Contains(text, "## Cast") || strings.Contains(text, "Anna: Good") || strings.Contains(text, "## You are writing as") || !strings.Contains(a.body(), "ANNA-SHEET") {
		t.Errorf("a solo chat reads\n%s", text)
	}
	if _, err := sc.begin(pipeline.Ask{Kind: pipeline.Speak, Pin: new("x")}); err == nil {
		t.Error("somebody can be picked in a solo chat")
	}
}

// Nothing of a call to tools is a reply; what comes before the text is not in
// it.
func TestThoughts(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	sc.p.play("writer", func(asked) llmtest.Answer { return thinking("She is secretly afraid.", "Anna smiles.") })
	ev := sc.send("Hello?")
	if ev.count(pipeline.Reasoning) == 0 || sc.leaf().Content != "Anna smiles." {
		t.Errorf("%s: %s", ev.names(), sc.leaf().Content)
	}
	sc.send("Well?")
	for _, a := range sc.p.asked {
		if strings.Contains(a.whole(), "secretly") { // P10
			t.Errorf("%s reads what was thought before", a.pass)
		}
	}
	logs := must(sc.s.Logs(t.Context(), sc.id))(t)
	if logs[0].ReasoningWriter != "She is secretly afraid." {
		t.Errorf("the log says %q", logs[0].ReasoningWriter)
	}
}
