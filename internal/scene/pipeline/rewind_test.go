package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// again is one of the ways to write a reply again.
func again(kind pipeline.Kind, mid int64) pipeline.Ask {
	return pipeline.Ask{Kind: kind, Message: mid, Direction: "more rain"}
}

func family() []pipeline.Kind {
	return []pipeline.Kind{pipeline.Regenerate, pipeline.SuperRegenerate, pipeline.MagicRewrite}
}

// Row 51, S11, S12: a reply is written again beside itself, by its speaker,
// whatever the Director would plan, and those after it are not played again.
func TestRegenerate(t *testing.T) {
	for _, kind := range family() {
		t.Run(string(kind), func(t *testing.T) {
			sc := newTheatre(t).group("Anna", "Bob", "Cara")
			sc.send("Hello?")
			old := sc.path()
			sc.p.gives("direct_scene", `{"speaking_plan":[]}`)
			for i, name := range map[int]string{2: "Bob", 1: "Anna"} {
				sc.p.forget()
				sc.p.says("writer", name+": Once more.")
				ask := again(kind, old[i].ID)
				ask.Pin = new(sc.member("Cara").ID) // not read
				ev := sc.well(ask)
				if got := sc.p.passes(); got != "writer "+name {
					t.Errorf("asked: %s", got)
				}
				if got, want := ev.names(), "director_done speaking_plan speaker_start step_start token writer_done speaker_done done"; got != want {
					t.Errorf("events\n%s, want\n%s", got, want)
				}
				leaf := sc.leaf()
				if leaf.Content != "Once more." || *leaf.SpeakerID != *old[i].SpeakerID || *leaf.ParentID != *old[i].ParentID ||
					leaf.TurnIndex != old[i].TurnIndex || *leaf.ExchangeID != *old[i].ExchangeID || leaf.Branches != 2 {
					t.Errorf("the new reply is %+v", leaf)
				}
				if want := map[bool]string{true: "more rain"}[kind == pipeline.MagicRewrite]; leaf.Direction != want {
					t.Errorf("its direction is %q, want %q", leaf.Direction, want)
				}
				a := sc.p.asked[0]
				if steered := strings.Contains(a.whole(), old[i].Content); steered != (kind != pipeline.Regenerate) {
					t.Errorf("the old reply is read: %v\n%s", steered, a.whole())
				}
				if own := strings.ToUpper(name); has(a.tail(), cards()...) != own+"-SHEET "+own+"-NATURE "+own+"-EXAMPLE" {
					t.Errorf("%s is written with another card:\n%s", name, a.tail())
				}
				if said := strings.Count(a.whole(), "Hello?"); said != 1 {
					t.Errorf("what is answered is there %d times", said)
				}
			}
		})
	}
}

// S13: a direction stays with the reply that it made.
func TestDirectionStays(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	sc.send("Hello?")
	sc.well(again(pipeline.MagicRewrite, sc.leaf().ID))
	sc.well(again(pipeline.Regenerate, sc.leaf().ID))
	if leaf := sc.leaf(); leaf.Direction != "more rain" || leaf.Branches != 3 {
		t.Errorf("the third reply has the direction %q", leaf.Direction)
	}
	if w := sc.p.of("writer")[2]; !strings.Contains(w.tail(), "more rain") || strings.Contains(w.tail(), "Ada: ") {
		t.Errorf("the direction is not read again:\n%s", w.tail())
	}
	sc.well(again(pipeline.SuperRegenerate, sc.leaf().ID))
	if leaf := sc.leaf(); leaf.Direction != "" {
		t.Errorf("another start keeps the direction %q", leaf.Direction)
	}
	for _, s := range sc.path() { // a steer is nobody's message
		if strings.Contains(s.Content, "Out of character") {
			t.Errorf("stored: %s", s.Content)
		}
	}
}

// What cannot be asked is refused before anything is stored, and the
// conversation is free again.
func TestRefusals(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob", "Cara")
	sc.send("Hello?")
	path := sc.path()
	nobody := must(sc.s.Append(t.Context(), sc.id, scene.NewMessage{Role: scene.RoleAssistant, Content: "Summary"}))(t)
	sc.mute("Bob")
	sc.remove("Cara")
	for name, c := range map[string]struct {
		ask  pipeline.Ask
		code fault.Code
		says string
	}{
		"nothing":               {ask: pipeline.Ask{Kind: pipeline.Send, Content: " \n"}, code: fault.Invalid},
		"a muted pin":           {ask: pipeline.Ask{Kind: pipeline.Send, Content: "x", Pin: path[2].SpeakerID}, code: fault.Conflict, says: "Bob is muted"},
		"a removed pin":         {ask: pipeline.Ask{Kind: pipeline.Speak, Pin: path[3].SpeakerID}, code: fault.Conflict, says: "Cara has left"},
		"an unknown pin":        {ask: pipeline.Ask{Kind: pipeline.Speak, Pin: new("x")}, code: fault.NotFound},
		"nobody":                {ask: pipeline.Ask{Kind: pipeline.Speak}, code: fault.Invalid},
		"no message of theirs":  {ask: pipeline.Ask{Kind: pipeline.Continue}, code: fault.Invalid},
		"an unknown message":    {ask: again(pipeline.Regenerate, 999), code: fault.NotFound},
		"a person's message":    {ask: again(pipeline.Regenerate, path[0].ID), code: fault.Conflict},
		"a reply, asked anew":   {ask: pipeline.Ask{Kind: pipeline.ForkEdit, Message: path[1].ID, Content: "x"}, code: fault.Conflict},
		"nothing, asked anew":   {ask: pipeline.Ask{Kind: pipeline.ForkEdit, Message: path[0].ID}, code: fault.Invalid},
		"a reply of nobody":     {ask: again(pipeline.SuperRegenerate, nobody.ID), code: fault.Conflict},
		"a reply of one muted":  {ask: again(pipeline.Regenerate, path[2].ID), code: fault.Conflict, says: "Bob is muted"},
		"a reply of one gone":   {ask: again(pipeline.MagicRewrite, path[3].ID), code: fault.Conflict, says: "Cara has left the cast"},
		"no direction":          {ask: pipeline.Ask{Kind: pipeline.MagicRewrite, Message: path[1].ID}, code: fault.Invalid},
		"another conversation":  {ask: pipeline.Ask{Kind: pipeline.Regenerate, Message: path[1].ID, Conversation: "x"}, code: fault.NotFound},
		"pin of another scene":  {ask: pipeline.Ask{Kind: pipeline.Speak, Pin: new(strings.ToUpper(*path[1].SpeakerID))}, code: fault.NotFound},
		"files alone, no words": {ask: pipeline.Ask{Kind: pipeline.Send}, code: fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			sc.p.forget()
			if c.ask.Conversation == "" {
				c.ask.Conversation = sc.id
			}
			_, err := sc.r.Begin(t.Context(), c.ask)
			if fault.CodeOf(err) != c.code || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("refused with %v (%s), want %s", err, fault.CodeOf(err), c.code)
			}
			if c.says != "" && fault.HintOf(err) == "" {
				t.Error("nothing is said of what to do")
			}
			if sc.s.Running(sc.id) || len(sc.p.asked) > 0 || len(sc.path()) != len(path)+1 {
				t.Error("a refusal left something behind")
			}
		})
	}
}

// An opening answers nothing.
func TestOpening(t *testing.T) {
	th := newTheatre(t)
	card := th.card("Anna")
	sc := th.open(scene.NewConversation{Kind: scene.Group, Title: "x", FirstMessage: "Welcome.", OpeningKey: "anna", Members: []scene.MemberSpec{{CardID: &card, Name: "Anna", Key: "anna"}}})
	_, err := sc.begin(again(pipeline.Regenerate, sc.leaf().ID))
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("an opening is written again: %v", err)
	}
}

// Row 53: a message asked anew is an exchange of its own on a new branch.
func TestForkEdit(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.p.plan = []string{"anna"}
	sc.send("One")
	sc.send("Two")
	old := sc.path()
	sc.p.forget()
	ev := sc.well(pipeline.Ask{Kind: pipeline.ForkEdit, Message: old[2].ID, Content: "Two, but {{random::louder}}"})
	path := sc.path()
	if len(path) != 4 || path[2].Content != "Two, but louder" || path[2].Branches != 2 || path[2].TurnIndex != 2 || path[3].TurnIndex != 3 || *path[2].ParentID != old[1].ID {
		t.Errorf("the branch is %s", sc.text())
	}
	if *path[2].ExchangeID == *old[2].ExchangeID || *path[2].ExchangeID != *path[3].ExchangeID || *path[3].SpeakerID != sc.member("Anna").ID {
		t.Error("the new question has no exchange of its own")
	}
	if got := last[pipeline.CreatedData](t, ev, pipeline.UserMessageCreated); got.ID != path[2].ID || got.Content != path[2].Content {
		t.Errorf("user_message_created %+v", got)
	}
	for _, a := range sc.p.asked {
		if got := has(a.whole(), "One", "louder", "line 2"); got != "One louder" {
			t.Errorf("%s reads %q", a.pass, got)
		}
	}
	first := sc.path()[0]
	sc.well(pipeline.Ask{Kind: pipeline.ForkEdit, Message: first.ID, Content: "Another beginning"})
	if path := sc.path(); len(path) != 2 || path[0].ParentID != nil || path[0].Branches != 2 {
		t.Errorf("the scene begins anew with %s", sc.text())
	}
}

// A message without an answer is answered where it stands, in its exchange.
func TestContinue(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	sc.p.gives("direct_scene", `{"speaking_plan":[]}`)
	sc.send("Hello?")
	first := sc.leaf()
	sc.p.forget()
	sc.p.gives("direct_scene", `{"speaking_plan":["anna"]}`)
	ev := sc.well(pipeline.Ask{Kind: pipeline.Continue})
	leaf := sc.leaf()
	if *leaf.ParentID != first.ID || *leaf.ExchangeID != *first.ExchangeID || leaf.TurnIndex != 1 || ev.count(pipeline.UserMessageCreated) != 0 {
		t.Errorf("the reply is %+v", leaf)
	}
	if w := sc.p.of("writer")[0]; len(w.Messages) != 1 || strings.Count(w.whole(), "Hello?") != 1 {
		t.Errorf("the message is read\n%s", w.whole())
	}
}

// Row 57: what is written again is no model for itself; older replies are.
func TestReplacedReplyIsNotCompared(t *testing.T) {
	for _, kind := range family() {
		sc := newTheatre(t).group("Anna")
		must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"never there"}}))(t)
		sc.p.says("writer", "The grey heron waits. Silver rain falls slowly down.", "A copper kettle sings. Thin smoke climbs the chimney.")
		sc.send("One")
		sc.send("Two")
		sc.p.forget()
		sc.p.says("writer", "A copper kettle sings. Thin smoke climbs the chimney.")
		sc.well(again(kind, sc.leaf().ID))
		if got := sc.p.passes(); got != "direct_scene, writer Anna" && got != "writer Anna" {
			t.Errorf("%s: the reply is compared with the one it replaces: %s", kind, got)
		}
		sc.p.forget()
		sc.p.says("writer", "The grey heron waits. Silver rain falls slowly down.")
		sc.well(again(kind, sc.leaf().ID))
		if got := sc.p.passes(); !strings.Contains(got, "editor") {
			t.Errorf("%s: an older reply is said again unseen: %s", kind, got)
		}
	}
}

// REF 4.13: an exchange that answers an older message goes on from the moods
// and cooldowns of then, and the branch keeps its own.
func TestMoodsOfABranch(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	for _, id := range []string{"calm", "storm"} {
		must(sc.s.CreateMood(t.Context(), scene.Mood{ID: id, Label: id, Description: id, Prompt: "Be " + id + ".", NegativePrompt: "No more " + id + ".", Enabled: true}))(t)
	}
	must(sc.s.CreateFragment(t.Context(), scene.Fragment{ID: "pace", Label: "Pace", Type: "string", Enabled: true, Cooldown: 9}))(t)
	sc.p.gives("direct_scene", `{"moods":["calm"],"speaking_plan":["anna"]}`)
	sc.send("One")
	sc.p.gives("direct_scene", `{"moods":["storm"],"pace":"fast","speaking_plan":["anna","bob"]}`)
	sc.send("Two")
	two := sc.path()
	active := func() []string { return must(sc.s.DirectorState(t.Context(), sc.id))(t).ActiveMoods }
	told := func() string {
		d := sc.p.of("direct_scene")[0].tail()
		_, line, _ := strings.Cut(d, "Moods on so far: ")
		line, _, _ = strings.Cut(line, ".")
		if strings.Contains(d, "These rest for now") {
			line += ", resting"
		}
		return line
	}
	sc.send("Three")
	for name, c := range map[string]struct {
		ask  pipeline.Ask
		want string
	}{
		"the first reply":       {again(pipeline.Regenerate, two[1].ID), "none"},
		"the second's first":    {again(pipeline.Regenerate, two[3].ID), "calm"},
		"the second's second":   {again(pipeline.Regenerate, two[4].ID), "calm"},
		"another direction":     {again(pipeline.MagicRewrite, two[4].ID), "calm"},
		"another question":      {pipeline.Ask{Kind: pipeline.ForkEdit, Message: two[2].ID, Content: "Two!"}, "calm"},
		"another first":         {pipeline.Ask{Kind: pipeline.ForkEdit, Message: two[0].ID, Content: "One!"}, "none"},
		"going on from the end": {pipeline.Ask{Kind: pipeline.Send, Content: "Four"}, "storm, resting"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := sc.s.SwitchBranch(t.Context(), sc.id, two[4].ID); err != nil {
				t.Fatal(err)
			}
			sc.p.forget()
			sc.p.gives("direct_scene", `{"moods":["storm"],"speaking_plan":["bob"]}`)
			sc.well(c.ask)
			if got := told(); got != c.want {
				t.Errorf("the Director goes on from %q, want %q", got, c.want)
			}
			if got := active(); !slices.Equal(got, []string{"storm"}) {
				t.Errorf("the branch ends with %v", got)
			}
		})
	}
	// Exchanges without a Director leave moods as they are, also for whoever
	// comes back to them.
	if _, err := sc.s.SwitchBranch(t.Context(), sc.id, two[1].ID); err != nil {
		t.Fatal(err)
	}
	sc.settings(`{"enable_agent":false}`)
	sc.well(pipeline.Ask{Kind: pipeline.ForkEdit, Message: two[2].ID, Content: "Unled"})
	unled := sc.leaf()
	if got := active(); !slices.Equal(got, []string{"calm"}) {
		t.Errorf("without a Director the moods are %v", got)
	}
	if _, err := sc.s.SwitchBranch(t.Context(), sc.id, two[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := sc.s.SwitchBranch(t.Context(), sc.id, unled.ID); err != nil {
		t.Fatal(err)
	}
	if got := active(); !slices.Equal(got, []string{"calm"}) {
		t.Errorf("back on the branch without a Director the moods are %v", got)
	}
}

// Lore is looked for in what people and members said: the last six messages,
// the one that is answered counted, and a person's direction.
func TestScannedTexts(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	w := must(sc.s.CreateWorld(t.Context(), "Coast"))(t)
	for _, key := range []string{"whale", "rain", "opening"} { // the last is in our own words of a steer
		must(sc.s.CreateEntry(t.Context(), w.ID, scene.Entry{Name: key, Content: "LORE-" + strings.ToUpper(key), Keys: []string{key}, Enabled: true}))(t)
	}
	must(sc.s.SetWorld(t.Context(), sc.id, w.ID, true))(t)
	fired := func(ask pipeline.Ask) string {
		sc.p.forget()
		sc.well(ask)
		return has(sc.p.of("writer")[0].tail(), "LORE-WHALE", "LORE-RAIN", "LORE-OPENING")
	}
	for i, want := range []string{"LORE-WHALE", "LORE-WHALE", "LORE-WHALE", "", ""} {
		text := "Hm."
		if i == 0 {
			text = "A whale!"
		}
		if got := fired(pipeline.Ask{Kind: pipeline.Send, Content: text}); got != want {
			t.Errorf("exchange %d fires %q, want %q", i+1, got, want)
		}
	}
	for kind, want := range map[pipeline.Kind]string{pipeline.MagicRewrite: "LORE-RAIN", pipeline.SuperRegenerate: "", pipeline.Regenerate: ""} {
		reply := sc.path()[9]
		if got := fired(again(kind, reply.ID)); got != want {
			t.Errorf("%s fires %q, want %q", kind, got, want)
		}
	}
	logs := must(sc.s.Logs(t.Context(), sc.id))(t)
	if !strings.Contains(string(logs[0].Lore), "whale") || !strings.Contains(string(logs[0].Plan), "Anna") {
		t.Errorf("the log says %s of %s", logs[0].Lore, logs[0].Plan)
	}
}
