package pipeline_test

import (
	"strings"
	"testing"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// has tells which of the marks stand in a text.
func has(text string, marks ...string) string {
	var found []string
	for _, m := range marks {
		if strings.Contains(text, m) {
			found = append(found, m)
		}
	}
	return strings.Join(found, " ")
}

// cards are the marks of what is only in cards.
func cards() []string {
	return []string{"ANNA-SHEET", "ANNA-NATURE", "ANNA-EXAMPLE", "BOB-SHEET", "BOB-NATURE", "BOB-EXAMPLE"}
}

// Rows 20–23, 26, 28: what of the cards each call reads, by mode.
func TestModes(t *testing.T) {
	const anna, bob = "ANNA-SHEET ANNA-NATURE ANNA-EXAMPLE", "BOB-SHEET BOB-NATURE BOB-EXAMPLE"
	for mode, c := range map[scene.ContextMode]struct {
		neutral                            string // in the bodies of calls that are nobody's
		annaBody, annaTail, bobBody, bobAt string
		profiles                           bool
	}{
		scene.Private: {"", "", anna, "", bob, true},
		scene.Shared:  {anna + " " + bob, anna + " " + bob, "", anna + " " + bob, "", false},
		scene.Swap:    {"", anna, "", bob, "", true},
	} {
		t.Run(string(mode), func(t *testing.T) {
			sc := newTheatre(t).group("Anna", "Bob")
			sc.mode(scene.Director, mode)
			must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"hung in the air"}}))(t)
			sc.p.says("writer", "It hung in the air. And it hung in the air.")
			sc.send("Hello?")
			must(sc.r.BeginSummary(t.Context(), sc.id, 2, ""))(t).Run(t.Context(), func(pipeline.Event) {})
			if got, want := sc.p.passes(), "direct_scene, writer Anna, editor_apply_patch, writer Bob, editor_apply_patch, summary"; got != want {
				t.Fatalf("asked: %s; want %s", got, want)
			}
			bodies := []string{c.neutral, c.annaBody, c.annaBody, c.bobBody, c.bobBody, c.neutral}
			for i, a := range sc.p.asked {
				if got := has(a.body(), cards()...); got != bodies[i] {
					t.Errorf("the body of %s %s holds %q, want %q", a.pass, a.speaker, got, bodies[i])
				}
				if got := has(a.body(), "ANNA-LOOK", "BOB-ROLE"); (got == "ANNA-LOOK BOB-ROLE") != c.profiles {
					t.Errorf("the body of %s holds the profiles %q", a.pass, got)
				}
				if got := has(a.whole(), "ANNA-SYSTEM", "ANNA-SCENARIO", "BOB-SYSTEM"); got != "" {
					t.Errorf("%s reads %s, which no card may say here", a.pass, got)
				}
				if mode != scene.Swap && a.body() != sc.p.asked[0].body() {
					t.Errorf("the body of %s %s is not that of the others", a.pass, a.speaker)
				}
				if !strings.Contains(a.body(), "SCENE-POST") || strings.Contains(a.body(), "ANNA-POST") {
					t.Errorf("the instructions in the body of %s are not the scene's", a.pass)
				}
			}
			for i, tail := range map[int]string{1: c.annaTail, 3: c.bobAt} {
				w := sc.p.asked[i]
				if got := has(w.tail(), cards()...); got != tail {
					t.Errorf("the tail of %s holds %q, want %q", w.speaker, got, tail)
				}
				if got := has(w.tail(), "the transcript wins", "Write only the next reply of "+w.speaker, strings.ToUpper(w.speaker)+"-POST"); strings.Contains(got, "wins") != (mode == scene.Private) || !strings.Contains(got, "Write only") || !strings.Contains(got, "-POST") {
					t.Errorf("the tail of %s says %q:\n%s", w.speaker, got, w.tail())
				}
			}
			for _, i := range []int{2, 4} { // row 23
				editor, writer := sc.p.asked[i], sc.p.asked[i-1]
				for j, m := range writer.Messages {
					if editor.Messages[j].Text != m.Text || editor.Messages[j].Role != m.Role {
						t.Errorf("message %d of the Editor is not the Writer's", j)
					}
				}
				if n := len(writer.Messages); len(editor.Messages) != n+2 || editor.Messages[n].Text != "It hung in the air. And it hung in the air." {
					t.Errorf("the Editor does not go on from the draft")
				}
			}
		})
	}
}

// Rows 29–32: a sheet of the scene's own takes the card's place, in the tail
// or in the body.
func TestSheetOverrides(t *testing.T) {
	for mode, inBody := range map[scene.ContextMode]bool{scene.Private: false, scene.Shared: true, scene.Swap: true} {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.mode(scene.Manual, mode)
		sc.speak("Anna")
		sc.cast(func(name string, m *scene.MemberSpec) {
			if name == "Anna" {
				m.Sheet = new("OWN-SHEET")
			}
		})
		sc.speak("Anna")
		sc.cast(func(name string, m *scene.MemberSpec) {
			if name == "Anna" {
				m.Sheet = new("")
			}
		})
		sc.speak("Anna")
		w := sc.p.of("writer")
		if same := w[0].body() == w[1].body() && w[1].body() == w[2].body(); same == inBody {
			t.Errorf("%s: the body stays: %v", mode, same)
		}
		for i, want := range []string{"ANNA-SHEET", "OWN-SHEET", ""} {
			where := w[i].tail()
			if inBody {
				where = w[i].body()
			}
			if got := has(where, "ANNA-SHEET", "ANNA-NATURE", "OWN-SHEET"); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("%s: sheet %d is %q, want %q", mode, i, got, want)
			}
		}
	}
}

// twoLanes gives the agent a server and models of its own.
func (th *theatre) twoLanes() {
	th.Helper()
	e := must(th.s.CreateEndpoint(th.Context(), scene.Endpoint{URL: "http://localhost:2/v1"}))(th)
	th.named(*e.WriterConfig, "other pen")
	th.named(*e.AgentConfig, "other mind")
	th.settings(`{"agent_same_as_writer":false,"agent_endpoint_id":"` + e.ID + `","shared_system_prompt":"WRITER-PROMPT","agent_shared_system_prompt":"AGENT-PROMPT"}`)
}

// Rows 24, 25, S14: two lanes have prompts of their own and the same cast.
func TestTwoLanes(t *testing.T) {
	for _, mode := range []scene.ContextMode{scene.Private, scene.Shared, scene.Swap} {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.twoLanes()
		sc.mode(scene.Director, mode)
		must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"hung in the air"}}))(t)
		sc.p.says("writer", "It hung in the air. And it hung in the air.")
		sc.send("Hello?")
		bodies := map[string]string{}
		for _, a := range sc.p.asked {
			model, prompt := "other mind", "AGENT-PROMPT"
			if a.pass == "writer" {
				model, prompt = "pen", "WRITER-PROMPT"
			}
			if a.Model != model || !strings.HasPrefix(a.body(), prompt+"\n\n") || has(a.whole(), "AGENT-PROMPT", "WRITER-PROMPT") != prompt {
				t.Errorf("%s: %s is asked of %s with %q", mode, a.pass, a.Model, a.body()[:20])
			}
			if (len(a.Tools) > 0) != (a.pass != "writer") {
				t.Errorf("%s: %s ships %d tools", mode, a.pass, len(a.Tools))
			}
			if old, known := bodies[model]; known && mode != scene.Swap && old != a.body() {
				t.Errorf("%s: the body of %s changes within its lane", mode, a.pass)
			}
			bodies[model] = a.body()
		}
		calls, _, err := sc.s.Calls(t.Context(), sc.id, sc.leaf().ID) // S17: the parts are those of the call's own body
		if err != nil || len(calls) != 2 {
			t.Fatalf("%d calls, %v", len(calls), err)
		}
		for i, prompt := range []string{"WRITER-PROMPT", "AGENT-PROMPT"} {
			if first := calls[i].Sections[0]; first.Key != "system_prompt" || first.Chars != len(prompt) {
				t.Errorf("%s: the %s's body begins with %+v", mode, calls[i].Pass, first)
			}
		}
		for i, name := range []string{"ANNA", "BOB"} { // the cast is the same in both
			writer, editor := sc.p.of("writer")[i], sc.p.of("editor_apply_patch")[i]
			if w, e := strings.TrimPrefix(writer.body(), "WRITER-PROMPT"), strings.TrimPrefix(editor.body(), "AGENT-PROMPT"); w != e {
				t.Errorf("%s: Writer and Editor read another cast:\n%s\n%s", mode, w, e)
			}
			if got := has(editor.body(), "ANNA-SHEET", "BOB-SHEET"); mode == scene.Swap && got != name+"-SHEET" {
				t.Errorf("swap: the Editor of %s reads %q", name, got)
			}
			for j, m := range writer.Messages {
				if editor.Messages[j].Text != m.Text {
					t.Errorf("%s: the Editor's message %d is not the Writer's", mode, j)
				}
			}
		}
	}
}

// S14: a member's own model writes its replies, and nothing else.
func TestOwnModel(t *testing.T) {
	th := newTheatre(t)
	sc := th.group("Anna", "Bob", "Cara")
	e := must(th.s.CreateEndpoint(t.Context(), scene.Endpoint{URL: "http://localhost:3/v1"}))(t)
	th.named(*e.WriterConfig, "bobs pen")
	th.named(*e.AgentConfig, "caras pen")
	th.lanes.broken = map[string]error{"caras pen": errBroken}
	sc.cast(func(name string, m *scene.MemberSpec) {
		switch name {
		case "Bob":
			m.Model = scene.To(e.WriterConfig)
		case "Cara": // what is muted needs no model
			m.Model, m.Muted = scene.To(e.AgentConfig), true
		}
	})
	must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"hung in the air"}}))(t)
	sc.p.says("writer", "It hung in the air. And it hung in the air.")
	sc.p.plan = []string{"anna", "bob"}
	sc.send("Hello?")
	var got []string
	for _, a := range sc.p.asked {
		got = append(got, a.pass+" by "+a.Model)
	}
	if got, want := strings.Join(got, ", "), "direct_scene by pen, writer by pen, editor_apply_patch by pen, writer by bobs pen, editor_apply_patch by pen"; got != want {
		t.Errorf("asked: %s; want %s", got, want)
	}
	if a, b := sc.p.of("writer")[0], sc.p.of("writer")[1]; a.body() != b.body() || len(b.Tools) > 0 || len(a.Tools) == 0 {
		t.Error("the lane of Bob's model reads another body, or tools that nobody calls")
	}
	sc.mute()
	if ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Cara?"}); ev.status(t) != "failed" || ev.count(pipeline.SpeakingPlan) != 1 || len(sc.p.of("direct_scene")) != 1 {
		t.Errorf("a model that cannot be opened is asked: %s", ev.names())
	}
}

// S15, V3: a call ends with a user's message that says something, whoever
// spoke last.
func TestCallsEndWithAUser(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.speak("Anna")
	sc.speak("Anna")
	sc.speak("Bob")
	sc.send("Hello?")
	sc.well(pipeline.Ask{Kind: pipeline.SuperRegenerate, Message: sc.leaf().ID})
	for _, a := range sc.p.asked {
		last := a.Messages[len(a.Messages)-1]
		if last.Role != "user" || strings.TrimSpace(last.Text) == "" {
			t.Errorf("%s ends with %s %q", a.pass, last.Role, last.Text)
		}
	}
}

// P4, P5: labels in replies, and S16's cut.
func TestLabels(t *testing.T) {
	for name, c := range map[string]struct {
		said, kept string
		cut        *scene.Cut
		off        bool // cut_impersonation
	}{
		"doubled":              {said: "Anna: Anna: hello", kept: "hello"},
		"bold, doubled":        {said: "**Anna:** Anna: hello", kept: "hello"},
		"a foreign one first":  {said: "Bob: I object", kept: "Bob: I object", cut: &scene.Cut{Label: "Bob"}},
		"two foreign ones":     {said: "Bob: I object\nAda: Why?", kept: "Bob: I object", cut: &scene.Cut{Label: "Ada", Removed: "Ada:"}},
		"first, turned off":    {said: "Bob: I object", kept: "Bob: I object", off: true},
		"a foreign one later":  {said: "I smile.\nBob: I object.\nAnna: Well.", kept: "I smile.", cut: &scene.Cut{Label: "Bob", Removed: "Bob:"}},
		"the person's":         {said: "I smile.\n\nAda: Hello!", kept: "I smile.", cut: &scene.Cut{Label: "Ada", Removed: "Ada:"}},
		"of one who left":      {said: "I smile.\nCara: Hello!", kept: "I smile.", cut: &scene.Cut{Label: "Cara", Removed: "Cara:"}},
		"in code":              {said: "I write:\n```\nBob: x\n```\nDone.", kept: "I write:\n```\nBob: x\n```\nDone."},
		"in prose":             {said: "Alice: no member.\nAnna smiled.", kept: "Alice: no member.\nAnna smiled."},
		"turned off":           {said: "I smile.\nBob: I object.", kept: "I smile.\nBob: I object.", off: true},
		"a sign that is not ":  {said: "**Anna** walked in.", kept: "**Anna** walked in."},
		"macros":               {said: "It is {{random::one}}.", kept: "It is one."},
		"another after itself": {said: "Anna: Hi.\nAnna: Hi again.", kept: "Hi.\nAnna: Hi again."},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newTheatre(t).group("Anna", "Bob", "Cara")
			sc.settings(`{"user_name":"Ada"}`)
			sc.remove("Cara")
			sc.change(scene.ConversationChange{CutImpersonation: scene.To(!c.off)})
			sc.p.says("writer", c.said)
			sc.p.plan = []string{"anna"}
			ev := sc.send("Hello?")
			leaf, done := sc.leaf(), last[pipeline.SpeakerDoneData](t, ev, pipeline.SpeakerDone)
			if leaf.Content != c.kept || done.Content != c.kept || leaf.Incomplete != "" || *leaf.SpeakerID != sc.member("Anna").ID {
				t.Errorf("stored %q, want %q", leaf.Content, c.kept)
			}
			if (leaf.Cut == nil) != (c.cut == nil) || c.cut != nil && (leaf.Cut.Label != c.cut.Label || !strings.HasPrefix(leaf.Cut.Removed, c.cut.Removed) || (leaf.Cut.Removed == "") != (c.cut.Removed == "")) {
				t.Errorf("cut %+v, want %+v", leaf.Cut, c.cut)
			}
			var shown strings.Builder
			for _, e := range ev {
				if e.Name == pipeline.Token {
					shown.WriteString(e.Data.(string))
				}
			}
			if got := strings.TrimSpace(shown.String()); got != c.kept && !strings.Contains(c.said, "{{") {
				t.Errorf("shown %q, want %q", got, c.kept)
			}
		})
	}
}

// S16: the call ends at the cut, and the next speaker goes on.
func TestCutEndsTheCall(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	never := make(chan struct{})
	sc.p.play("writer", func(a asked) llmtest.Answer {
		if a.speaker == "Anna" {
			return llmtest.Stall("I smile.\nBob: I object and I go on and on ", never)
		}
		return llmtest.Say("Really?")
	})
	sc.send("Hello?") // hangs if the call does not end
	if got, want := sc.text(), "User: Hello?\nAnna: I smile.\nBob: Really?"; got != want {
		t.Errorf("the scene is\n%s\nwant\n%s", got, want)
	}
}

// S16: a narrator speaks for whom it likes.
func TestNarrator(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	if _, _, err := sc.s.SetMembers(t.Context(), sc.id, []scene.MemberSpec{
		{ID: sc.member("Anna").ID, CardID: sc.member("Anna").CardID, Name: "Anna"}, {Name: "Voice", Kind: scene.Narrator},
	}, nil); err != nil {
		t.Fatal(err)
	}
	sc.p.says("writer", "Rain falls.\nAnna: \"At last!\"")
	sc.speak("Voice")
	if leaf := sc.leaf(); leaf.Content != "Rain falls.\nAnna: \"At last!\"" || leaf.Cut != nil {
		t.Errorf("the narrator said %q", leaf.Content)
	}
}

// P12: who left is named in the history, and nowhere else; who is no member of
// the scene cannot be picked (S17).
func TestFormerMembers(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.speak("Bob")
	bob := sc.member("Bob")
	sc.remove("Bob")
	sc.p.plan = []string{"anna"}
	sc.send("What does everyone think?")
	for _, a := range sc.p.asked[1:] {
		if !strings.Contains(a.Messages[0].Text, "Bob: ") || strings.Contains(a.body(), "Bob") {
			t.Errorf("%s reads\n%s", a.pass, a.whole())
		}
	}
	for _, pin := range []string{bob.ID, "nobody"} {
		before := len(sc.path())
		if _, err := sc.begin(pipeline.Ask{Kind: pipeline.Send, Content: "Bob?", Pin: &pin}); err == nil || len(sc.path()) != before || sc.s.Running(sc.id) {
			t.Errorf("%s can be picked", pin)
		}
	}
}

// S29: what a model cannot hold is not sent, and the way out is told.
func TestWindow(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	sc.lanes.window = 4300 // 4,096 are for the answer
	ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: strings.Repeat("word ", 2000)})
	p := last[pipeline.ProblemData](t, ev, pipeline.Failed)
	if len(sc.p.asked) != 0 || !strings.Contains(p.Sentence, "compress") || ev.count(pipeline.SpeakingPlan) != 1 || len(sc.path()) != 1 {
		t.Errorf("%d calls, %+v", len(sc.p.asked), p)
	}

	sc = newTheatre(t).group("Anna") // only the server knows
	sc.p.bySpeaker("Anna", fails(llm.Overfull))
	ev = sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello."})
	p = last[pipeline.ProblemData](t, ev, pipeline.Failed)
	if f := last[pipeline.SpeakerFailedData](t, ev, pipeline.SpeakerFailed); !strings.Contains(p.Sentence, "compress") || !strings.Contains(f.Detail, "compress") || !strings.Contains(p.Headline, "too long") {
		t.Errorf("%+v, %+v", p, f)
	}
}

// A summary that the model cannot hold is not helped by being told to compress.
func TestWindowOfASummary(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	for range 3 {
		sc.run(pipeline.Ask{Kind: pipeline.Send, Content: strings.Repeat("word ", 200)})
	}
	sc.lanes.window = 4300
	var ev events
	must(sc.r.BeginSummary(t.Context(), sc.id, 2, ""))(t).Run(t.Context(), func(e pipeline.Event) { ev = append(ev, e) })
	if p := last[pipeline.ProblemData](t, ev, pipeline.Failed); !strings.Contains(p.Sentence, "by hand") || strings.Contains(p.Sentence, "compress") {
		t.Errorf("%+v", p)
	}
}
