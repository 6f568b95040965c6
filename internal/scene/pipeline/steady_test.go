package pipeline_test

import (
	"strings"
	"testing"

	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// world makes a World that counts in the scene; each key fires LORE-KEY.
func (sc *scened) world(keys ...string) (world string, entries map[string]string) {
	sc.Helper()
	w := must(sc.s.CreateWorld(sc.Context(), "Coast"))(sc)
	entries = map[string]string{}
	for i, key := range keys {
		e := scene.Entry{Name: key, Content: "LORE-" + strings.ToUpper(key) + " is known here.", Keys: []string{key}, Order: i, Enabled: true}
		entries[key] = must(sc.s.CreateEntry(sc.Context(), w.ID, e))(sc).ID
	}
	must(sc.s.SetWorld(sc.Context(), sc.id, w.ID, true))(sc)
	return w.ID, entries
}

// persona makes one that is active from now on.
func (th *theatre) persona(name string) string {
	th.Helper()
	p := must(th.s.CreatePersona(th.Context(), scene.Persona{Name: name}))(th)
	th.settings(`{"active_persona_id":"` + p.ID + `"}`)
	return p.ID
}

// Later speakers have what the ones before them said in their history, each
// once and in order, and nothing of what is to come.
func TestLaterSpeakersRead(t *testing.T) {
	for _, mode := range []scene.ContextMode{scene.Private, scene.Shared, scene.Swap} {
		sc := newTheatre(t).group("Anna", "Bob", "Cara")
		sc.mode(scene.Director, mode)
		sc.p.says("writer", "The lamp is lit.", "The door is shut.", "The sea is loud.")
		sc.send("What is it like?")
		lines := []string{"What is it like?", "Anna: The lamp is lit.", "Bob: The door is shut."}
		for i, a := range sc.p.of("writer") {
			var read []string
			for _, m := range a.Messages[:len(a.Messages)-1] {
				for _, line := range lines {
					if strings.Contains(m.Text, line) {
						read = append(read, line)
					}
				}
			}
			want := lines[:i+1]
			if i == 0 {
				want = nil // it is told in the trailing message
			}
			if got, want := strings.Join(read, "\n"), strings.Join(want, "\n"); got != want {
				t.Errorf("%s: the history of %s is\n%s\nwant\n%s", mode, a.speaker, got, want)
			}
			if strings.Contains(a.tail(), "The lamp is lit.") {
				t.Errorf("%s: the tail of %s repeats the history", mode, a.speaker)
			}
		}
	}
}

// Lore is chosen once: all speakers have what the message fired, and what a
// reply holds fires in the next exchange only.
func TestLoreOfAnExchange(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.world("whale", "rain")
	sc.p.says("writer", "I smell rain.", "So it comes.", "Hm.")
	sc.send("A whale!")
	sc.send("Well?")
	for i, want := range []string{"LORE-WHALE", "LORE-WHALE", "LORE-WHALE LORE-RAIN", "LORE-WHALE LORE-RAIN"} {
		a := sc.p.of("writer")[i]
		if got := has(a.tail(), "LORE-WHALE", "LORE-RAIN"); got != want {
			t.Errorf("call %d, %s reads %q, want %q", i+1, a.speaker, got, want)
		}
	}
}

// The conversation's lore budget counts in its exchanges, for every call.
func TestLoreBudget(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.world("whale", "rain")
	one := scene.Tokens("LORE-WHALE is known here.")
	for name, c := range map[string]struct {
		budget *int
		want   string
	}{"none": {nil, "LORE-WHALE LORE-RAIN"}, "of one entry": {&one, "LORE-WHALE"}, "of nothing": {new(0), ""}} {
		sc.change(scene.ConversationChange{LoreBudget: scene.To(c.budget)})
		sc.p.forget()
		sc.send("A whale in the rain!")
		for _, a := range sc.p.asked {
			if got := has(a.tail(), "LORE-WHALE", "LORE-RAIN"); got != c.want {
				t.Errorf("budget %s: %s %s reads %q, want %q", name, a.pass, a.speaker, got, c.want)
			}
		}
		logs := must(sc.s.Logs(t.Context(), sc.id))(t)
		_, dropped, _ := strings.Cut(string(logs[len(logs)-1].Lore), `"dropped"`)
		if got := strings.Contains(dropped, "rain"); got != (c.budget != nil) {
			t.Errorf("budget %s: dropped is %s", name, dropped)
		}
	}
}

// S4: what changes while an exchange runs is for the next one.
func TestSnapshotStays(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	world, entries := sc.world("whale")
	sc.persona("Robin")
	changed := false
	sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "A whale!"}, func(e pipeline.Event) {
		if e.Name != pipeline.SpeakerDone || changed {
			return
		}
		changed = true
		must(sc.s.ChangeCard(t.Context(), *sc.member("Bob").CardID, scene.CardChange{Description: scene.To("NEW-SHEET")}, nil))(t)
		must(sc.s.ChangeCard(t.Context(), *sc.member("Anna").CardID, scene.CardChange{Name: scene.To("Annabel")}, nil))(t)
		must(sc.s.ChangeEntry(t.Context(), world, entries["whale"], scene.EntryChange{Content: scene.To("NEW-LORE")}))(t)
		sc.change(scene.ConversationChange{Scenario: scene.To("NEW-SCENARIO"), PersonaLock: scene.To(new(sc.persona("Fox")))})
		sc.settings(`{"shared_system_prompt":"NEW-PROMPT"}`)
		sc.cast(func(name string, m *scene.MemberSpec) { m.Muted, m.PublicProfile = name == "Bob", new("NEW-LOOK") })
		sc.mode(scene.Manual, scene.Shared)
	})
	news := []string{"NEW-SHEET", "NEW-LORE", "NEW-SCENARIO", "Fox", "NEW-PROMPT"}
	if got, want := sc.p.passes(), "direct_scene, writer Anna, writer Bob"; got != want || !changed {
		t.Fatalf("asked: %s; want %s", got, want)
	}
	bob := sc.p.asked[2]
	if got := has(bob.whole(), append(news, "NEW-LOOK")...); got != "" {
		t.Errorf("the second speaker reads %s", got)
	}
	if bob.body() != sc.p.asked[1].body() || has(bob.tail(), "BOB-SHEET", "LORE-WHALE") != "BOB-SHEET LORE-WHALE" {
		t.Errorf("the second speaker reads another scene:\n%s", bob.whole())
	}
	sc.p.forget()
	sc.mute()
	sc.speak("Bob")
	if got, want := has(sc.p.asked[0].whole(), news...), strings.Join(news, " "); got != want {
		t.Errorf("the next exchange reads %q, want %q", got, want)
	}
}

// S4: what is asked beside an exchange neither waits for it nor stops it.
func TestNothingBesideClaims(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.send("Hello?")
	sc.p.gives(profileTool, `{"appearance":"Tall","role":"Keeper"}`)
	sc.p.says("autocomplete", "go.")
	anna := sc.member("Anna").CardID
	n := 0
	ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "And now?"}, func(e pipeline.Event) {
		if e.Name != pipeline.SpeakerStart && e.Name != pipeline.SpeakerDone {
			return
		}
		n++
		must(sc.r.DraftSceneProfile(t.Context(), sc.id, pipeline.ProfileDraft{CardID: anna}))(t)
		must(sc.r.DraftPublicProfile(t.Context(), *anna))(t)
		must(sc.r.Autocomplete(t.Context(), sc.id, "I"))(t)
		must(sc.r.ContextSize(t.Context(), sc.id))(t)
		var beside events
		must(sc.r.BeginSummary(t.Context(), sc.id, 2, ""))(t).Run(t.Context(), func(e pipeline.Event) { beside = append(beside, e) })
		if got := beside.status(t); got != "completed" || !sc.s.Running(sc.id) {
			t.Errorf("a summary is %s, the exchange runs: %v", got, sc.s.Running(sc.id))
		}
	})
	if got := ev.status(t); n != 4 || got != "completed" || ev.count(pipeline.SpeakerDone) != 2 {
		t.Errorf("%s after %d looks: %s", got, n, ev.names())
	}
}

// S23: a person's message keeps the name it was said under, and the first one
// makes the persona the conversation's own.
func TestAuthors(t *testing.T) {
	for name, th := range map[string]*scened{"group": newTheatre(t).group("Anna"), "solo": soloOf(newTheatre(t))} {
		robin := th.persona("Robin")
		th.send("Hello?")
		fox := th.persona("Fox")
		if c := must(th.s.Conversation(t.Context(), th.id))(t); c.PersonaLock == nil || *c.PersonaLock != robin {
			t.Fatalf("%s: the first message pins the persona %v", name, c.PersonaLock)
		}
		th.send("Still there?")
		th.change(scene.ConversationChange{PersonaLock: scene.To(&fox)})
		first := th.path()[0]
		th.well(pipeline.Ask{Kind: pipeline.ForkEdit, Message: th.path()[2].ID, Content: "Still here?"})
		path := th.path()
		if path[0].Author != "Robin" || path[2].Author != "Fox" || path[0].ID != first.ID {
			t.Errorf("%s: the authors are %q and %q", name, path[0].Author, path[2].Author)
		}
		old := must(th.s.PathTo(t.Context(), th.id, path[2].ID-2))(t)
		if m := old[len(old)-1]; m.Content != "Still there?" || m.Author != "Robin" {
			t.Errorf("%s: %q is of %q", name, m.Content, m.Author)
		}
	}
}

func soloOf(th *theatre) *scened {
	card := th.card("Anna")
	return th.open(scene.NewConversation{CardID: &card})
}

// The scene's limit counts, whatever the Director answers.
func TestPlanLimit(t *testing.T) {
	for _, steps := range []string{"false", "true"} {
		sc := newTheatre(t).group("Anna", "Bob", "Cara")
		sc.settings(`{"director_individual_fragments":` + steps + `}`)
		sc.change(scene.ConversationChange{MaxSpeakers: scene.To(2)})
		sc.p.gives("direct_scene", `{"speaking_plan":["cara","anna","bob","cara"]}`)
		ev := sc.send("Hello?")
		if got := len(last[pipeline.PlanData](t, ev, pipeline.SpeakingPlan).Plan); got != 2 || sc.p.passes() != "direct_scene, writer Cara, writer Anna" {
			t.Errorf("%d are planned: %s", got, sc.p.passes())
		}
	}
}

// Pitfall S2: the only one who is not muted answers in every mode, whatever is
// planned.
func TestTheOnlyOneLeft(t *testing.T) {
	for _, c := range []struct {
		mode   scene.TurnMode
		answer string // of the Director
	}{
		{scene.Manual, ""}, {scene.RoundRobin, ""}, {scene.Director, `{"speaking_plan":["bob"]}`},
		{scene.Director, `{"speaking_plan":["anna","cara"]}`}, {scene.Director, `{}`}, {scene.Director, "I do not know."},
	} {
		sc := newTheatre(t).group("Anna", "Bob", "Cara")
		sc.mode(c.mode, scene.Private)
		sc.mute("Anna", "Cara")
		sc.p.play("direct_scene", func(a asked) llmtest.Answer {
			if strings.HasPrefix(c.answer, "{") {
				return give(a, c.answer)
			}
			return llmtest.Say(c.answer)
		})
		ask := pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"}
		if c.mode == scene.Manual {
			ask.Pin = new(sc.member("Bob").ID)
		}
		ev := sc.well(ask)
		if got := sc.text(); got != "User: Hello?\nBob: Bob says line 1." {
			t.Errorf("%s, after %q, the scene is\n%s\n%s", c.mode, c.answer, got, ev.names())
		}
	}
}
