package pipeline_test

import (
	"strings"
	"testing"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

const sheetTool = "update_character_sheet"

// kept is a group whose members' sheets are kept up to date.
func kept(t *testing.T, names ...string) *scened {
	sc := newTheatre(t).group(names...)
	sc.change(scene.ConversationChange{SheetUpdates: scene.To(true)})
	return sc
}

// proposals are the open ones as "Name: sheet", in the order they were made.
func (sc *scened) proposals() string {
	sc.Helper()
	names := map[string]string{}
	for _, m := range sc.roster() {
		names[m.ID] = m.Name
	}
	var all []string
	for _, p := range must(sc.s.Proposals(sc.Context(), sc.id, string(scene.Pending)))(sc) {
		all = append(all, names[p.MemberID]+": "+p.Sheet)
	}
	return strings.Join(all, "; ")
}

func changed(sheet string) string { return `{"changed":true,"sheet":"` + sheet + `","summary":"why"}` }

// Rows 35–39, 26: one call for each member that spoke, when opted in, on the
// shared prefix; what is changed is proposed and not applied.
func TestSheetUpdates(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob", "Cara")
	sc.p.plan = []string{"anna", "bob", "anna"}
	sc.send("Hello?")
	if got := sc.p.of(sheetTool); len(got) != 0 {
		t.Fatal("sheets are updated without being asked for")
	}
	sc.change(scene.ConversationChange{SheetUpdates: scene.To(true)})
	sc.p.forget()
	sc.p.gives(sheetTool, changed("Anna knows."), `{"changed":false,"sheet":"Bob knows.","summary":""}`)
	ev := sc.send("And now?")
	if got, want := sc.p.passes(), "direct_scene, writer Anna, writer Bob, writer Anna, update_character_sheet, update_character_sheet"; got != want {
		t.Fatalf("asked: %s; want %s", got, want)
	}
	if got, want := ev.names(), "speaker_done step_start done"; !strings.HasSuffix(got, want) {
		t.Errorf("the events end with %s, want %s", got, want)
	}
	if got := sc.proposals(); got != "Anna: Anna knows." {
		t.Errorf("proposed: %s", got)
	}
	if m := sc.member("Anna"); m.Sheet != nil {
		t.Error("a proposal is applied by itself")
	}
	path := sc.path()
	for i, name := range []string{"ANNA", "BOB"} {
		a := sc.p.of(sheetTool)[i]
		if got := has(a.tail(), "ANNA-SHEET", "BOB-SHEET", "CARA-SHEET"); got != name+"-SHEET" || has(a.body(), "ANNA-SHEET") != "" {
			t.Errorf("call %d reads the sheets %q", i, got)
		}
		if strings.Contains(a.tail(), "{{") || !strings.Contains(a.tail(), name+"-SHEET of "+[]string{"Anna", "Bob"}[i]+".") {
			t.Errorf("the sheet is not what its member reads:\n%s", a.tail())
		}
		for _, s := range path[len(path)-4:] {
			if !strings.Contains(a.tail(), ": "+s.Content) {
				t.Errorf("call %d does not read %q", i, s.Content)
			}
		}
		if strings.Contains(a.tail(), path[0].Content) {
			t.Errorf("an older round is evidence: %q in %s", path[1].Content, a.tail())
		}
		if a.body() != sc.p.of("writer")[0].body() || has(a.whole(), "## You are writing as", "ANNA-EXAMPLE", "## Your cue") != "" {
			t.Error("the call does not stand on the shared prefix alone")
		}
	}
	calls, _, err := sc.s.Calls(t.Context(), sc.id, sc.leaf().ID)
	if err != nil || len(calls) != 3 || calls[1].Pass != "sheet" {
		t.Errorf("the inspector has %d calls of the last reply: %v", len(calls), err)
	}
}

// Rows 40–45: what becomes of proposals.
func TestProposalsGoOn(t *testing.T) {
	sc := kept(t, "Anna")
	sc.p.gives(sheetTool, changed("First."), changed("Second."), changed("Third."), changed("Fourth."))
	sc.send("One")
	first := must(sc.s.Proposals(t.Context(), sc.id, string(scene.Pending)))(t)[0]
	sc.send("Two")
	second := must(sc.s.Proposals(t.Context(), sc.id, string(scene.Pending)))(t)[0]
	if second.ID != first.ID || second.Sheet != "Second." || second.Base != first.Base || !strings.Contains(second.Base, "ANNA-SHEET") {
		t.Errorf("the second exchange proposes %+v after %+v", second, first)
	}
	if a := sc.p.of(sheetTool)[1]; !strings.Contains(a.tail(), "First.") || strings.Contains(a.tail(), "ANNA-SHEET") {
		t.Errorf("the second call does not go on from the first:\n%s", a.tail())
	}
	// A hand's edit ends that.
	sc.cast(func(_ string, m *scene.MemberSpec) { m.Sheet = new("By hand.") })
	sc.send("Three")
	if a := sc.p.of(sheetTool)[2]; !strings.Contains(a.tail(), "By hand.") || strings.Contains(a.tail(), "Second.") {
		t.Errorf("a stale proposal is carried on:\n%s", a.tail())
	}
	body := sc.p.of("writer")[2].body()
	for _, p := range must(sc.s.Proposals(t.Context(), sc.id, string(scene.Pending)))(t) {
		must(sc.s.ApplyProposal(t.Context(), sc.id, p.ID))(t)
	}
	sc.send("Four")
	if w := sc.p.of("writer")[3]; w.body() != body || !strings.Contains(w.tail(), "Third.") { // row 40
		t.Error("an applied sheet changes the body, or not the tail")
	}
}

// S31: a proposal is carried on only from an exchange on the path, and not
// from the one that is written again; row 48: regenerate asks for the last
// reply of the path alone.
func TestProposalsOfBranches(t *testing.T) {
	sc := kept(t, "Anna")
	sc.p.gives(sheetTool, changed("First."))
	sc.send("One")
	reads := func(ask pipeline.Ask, answer string) string {
		sc.p.forget()
		sc.p.gives(sheetTool, changed(answer))
		sc.well(ask)
		asked := sc.p.of(sheetTool)
		if len(asked) == 0 {
			return "nothing"
		}
		return has(asked[0].tail(), "ANNA-SHEET", "First.", "Second.", "Third.", "Fourth.")
	}
	if got := reads(again(pipeline.Regenerate, sc.leaf().ID), "Second."); got != "ANNA-SHEET" {
		t.Errorf("what is written again goes on from %q", got)
	}
	if got := reads(pipeline.Ask{Kind: pipeline.Send, Content: "Two"}, "Third."); got != "Second." {
		t.Errorf("the next exchange goes on from %q", got)
	}
	if got := reads(pipeline.Ask{Kind: pipeline.ForkEdit, Message: sc.path()[0].ID, Content: "Other"}, "Fourth."); got != "ANNA-SHEET" {
		t.Errorf("another branch goes on from %q", got)
	}
	sc.send("More")
	if got := reads(again(pipeline.Regenerate, sc.path()[1].ID), "Fifth."); got != "nothing" {
		t.Errorf("a reply in the middle is followed by an update from %q", got)
	}
}

// What was written again is no evidence, nor is what it replaced.
func TestEvidenceOfARewrite(t *testing.T) {
	for _, kind := range family() {
		sc := kept(t, "Anna", "Bob")
		sc.p.says("writer", "FIRST words.", "SECOND words.", "THIRD words.")
		sc.send("Hello?")
		sc.p.forget()
		sc.p.says("writer", "THIRD words.")
		sc.well(again(kind, sc.leaf().ID))
		asked := sc.p.of(sheetTool)
		if len(asked) != 1 {
			t.Fatalf("%s: %d calls", kind, len(asked))
		}
		if got := has(asked[0].whole(), "FIRST", "SECOND", "THIRD"); got != "FIRST THIRD" || strings.Contains(asked[0].whole(), "more rain") {
			t.Errorf("%s: the evidence is %q:\n%s", kind, got, asked[0].whole())
		}
	}
}

// Row 47: the pass is the private mode's; the choice stays.
func TestSheetsInOtherModes(t *testing.T) {
	for _, mode := range []scene.ContextMode{scene.Shared, scene.Swap} {
		sc := kept(t, "Anna")
		sc.mode(scene.Director, mode)
		sc.send("Hello?")
		if c := must(sc.s.Conversation(t.Context(), sc.id))(t); !c.SheetUpdates || len(sc.p.of(sheetTool)) != 0 {
			t.Errorf("%s: %d calls, and the choice is %v", mode, len(sc.p.of(sheetTool)), c.SheetUpdates)
		}
	}
}

// Row 48, S32: the evidence of one who is picked is the round so far.
func TestEvidenceIsTheRound(t *testing.T) {
	sc := kept(t, "Anna", "Bob")
	sc.settings(`{"user_name":"Ada"}`)
	sc.p.plan = []string{"anna"}
	sc.send("Old news.")
	sc.send("Hello, {{char}}?")
	for range 9 {
		sc.speak("Anna")
	}
	sc.remove("Anna")
	sc.p.forget()
	sc.speak("Bob")
	asked := sc.p.of(sheetTool)
	if len(asked) != 1 || !strings.Contains(asked[0].tail(), "BOB-SHEET") {
		t.Fatalf("%d calls", len(asked))
	}
	_, evidence, _ := strings.Cut(asked[0].tail(), "<round>\n")
	evidence, _, _ = strings.Cut(evidence, "\n</round>")
	lines := strings.Split(evidence, "\n\n")
	if len(lines) != 9 || lines[0] != "Ada: Hello, The inn?" || !strings.HasPrefix(lines[1], "Anna: ") || !strings.HasPrefix(lines[8], "Bob: ") {
		t.Errorf("the evidence is\n%s", evidence)
	}
}

// Row 49, and REF 4.12: what is no sheet costs nothing.
func TestSheetAnswers(t *testing.T) {
	big := strings.Repeat("long ", 400)
	for name, c := range map[string]struct {
		answer  llmtest.Answer
		sheet   string
		summary string
	}{
		"a sheet":       {say(`{"changed":true,"sheet":" New. ","summary":"She knows."}`), "New.", "She knows."},
		"in text":       {llmtest.Say("Sure: ```json\n{\"changed\":true,\"sheet\":\"New.\",\"summary\":\"\"}\n```"), "New.", ""},
		"words":         {say(`{"changed":true,"sheet":"New.","summary":"` + strings.Repeat("w ", 40) + `"}`), "New.", strings.TrimSpace(strings.Repeat("w ", 25))},
		"braced words":  {say(`{"changed":true,"sheet":"New.","summary":"a {{char}}"}`), "New.", ""},
		"unchanged":     {say(`{"changed":false,"sheet":"New.","summary":""}`), "", ""},
		"no sheet":      {say(`{"changed":true,"summary":"x"}`), "", ""},
		"a blank sheet": {say(`{"changed":true,"sheet":" \n","summary":"x"}`), "", ""},
		"braces":        {say(`{"changed":true,"sheet":"{{char}} knows.","summary":"x"}`), "", ""},
		"too long":      {say(`{"changed":true,"sheet":"` + big + `","summary":"x"}`), "", ""},
		"the same":      {say(`{"changed":true,"sheet":"ANNA-SHEET  of Anna.\n\n\nPersonality:  ANNA-NATURE","summary":"x"}`), "", ""},
		"wrong types":   {say(`{"changed":"yes","sheet":["x"],"summary":1}`), "", ""},
		"cut off":       {llmtest.Say(`{"changed":true,"sheet":"Ne`), "", ""},
		"prose":         {llmtest.Say("Nothing changed."), "", ""},
		"another tool":  {llmtest.Use(llm.ToolCall{ID: "1", Name: "give_feedback", Arguments: []byte(`{"changed":true,"sheet":"New.","summary":""}`)}), "", ""},
		"by its limit":  {limited(`{"changed":true,"sheet":"New.`), "", ""},
		"nothing":       {llmtest.Say(""), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := kept(t, "Anna")
			sc.p.play(sheetTool, func(asked) llmtest.Answer { return c.answer })
			sc.send("Hello?")
			found := must(sc.s.Proposals(t.Context(), sc.id, string(scene.Pending)))(t)
			switch {
			case c.sheet == "" && len(found) != 0:
				t.Errorf("proposed: %+v", found)
			case c.sheet != "" && (len(found) != 1 || found[0].Sheet != c.sheet || found[0].Summary != c.summary):
				t.Errorf("proposed: %+v", found)
			}
			if len(sc.path()) != 2 {
				t.Error("the reply is gone")
			}
		})
	}
}

// A member with nothing about itself is not asked.
func TestEmptySheet(t *testing.T) {
	sc := kept(t, "Anna", "Bob")
	sc.cast(func(name string, m *scene.MemberSpec) {
		if name == "Anna" {
			m.Sheet = new(" ")
		}
	})
	sc.send("Hello?")
	if got := len(sc.p.of(sheetTool)); got != 1 {
		t.Errorf("%d calls for one sheet", got)
	}
}

func say(arguments string) llmtest.Answer {
	return llmtest.Use(llm.ToolCall{ID: "1", Name: sheetTool, Arguments: []byte(arguments)})
}

// limited is an answer that the server's limit of tokens ends.
func limited(text string) llmtest.Answer {
	a := llmtest.Say(text)
	a[len(a)-1].Chunk.Finish = llm.FinishLength
	return a
}
