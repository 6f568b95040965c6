package pipeline_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// Whatever is asked, planned, failed and stopped, the tree stays one: what was
// announced is stored as it was announced, in a chain, in one exchange, and is
// what is shown.
func TestAnyExchange(t *testing.T) {
	fewRuns(t)
	th := newTheatre(t)
	kinds := slices.Concat(family(), []pipeline.Kind{pipeline.Send, pipeline.Send, pipeline.Speak, pipeline.Continue, pipeline.ForkEdit})
	rapid.Check(t, func(rt *rapid.T) {
		// Draws of rapid are mostly small ones; here all are as likely.
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n := scene.NewConversation{Kind: scene.Group, Title: "x", MaxSpeakers: 4, Members: []scene.MemberSpec{{Name: "Anna"}, {Name: "Bob"}, {Name: "Cara"}}}
		n.TurnMode = []scene.TurnMode{scene.Director, scene.Director, scene.RoundRobin, scene.Manual}[r.IntN(4)]
		sc := th.open(n)
		members := sc.roster()
		th.p.play("direct_scene", func(a asked) llmtest.Answer {
			if r.IntN(10) == 0 {
				return fails(llm.Rejected)(a)
			}
			return give(a, `{"speaking_plan":`+quoted([]string{"bob", "ghost", "anna", "cara", "bob", "anna"}[r.IntN(7):])+`}`)
		})
		th.p.play("writer", func(a asked) llmtest.Answer {
			switch r.IntN(20) {
			case 0:
				return fails(llm.Rejected)(a)
			case 1:
				return llmtest.Break("I was about", &llm.Error{Kind: llm.Broken, Message: "cut"})
			case 2:
				return llmtest.Say(" ")
			case 3:
				sc.stop()
				return llmtest.Say("Never heard.")
			case 4:
				return llmtest.Say("Hi.\nBob: I am Bob.\nAnna: I am Anna.")
			}
			return llmtest.Say(a.speaker + ": Well said.")
		})
		seen := map[int64]string{}
		for i := range 2 + r.IntN(4) {
			path := sc.path()
			ask := pipeline.Ask{
				Kind:    kinds[r.IntN(len(kinds))],
				Content: "Hello?", Direction: "softer",
			}
			if i == 0 {
				ask.Kind = pipeline.Send
			}
			if len(path) > 0 {
				ask.Message = path[r.IntN(len(path))].ID
			}
			if ask.Kind == pipeline.Speak || r.IntN(4) == 0 {
				ask.Pin = new(members[r.IntN(len(members))].ID)
			}
			x, err := sc.begin(ask)
			if err != nil {
				if sc.s.Running(sc.id) || len(sc.path()) != len(path) {
					rt.Fatalf("a refusal left something behind")
				}
				continue
			}
			stopAt := 1 + r.IntN(80) // often behind the end
			var ev events
			x.Run(func(e pipeline.Event) {
				ev = append(ev, e)
				if len(ev) == stopAt {
					sc.stop()
				}
			})
			checkEvents(rt, ev)
			checkTree(rt, sc, x.ID(), ev, seen)
		}
	})
}

// fewRuns makes rapid do a fifth of the runs that it does by itself where the
// race detector watches. More can be asked for as ever, by -rapid.checks.
func fewRuns(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if !raced || checks.Value.String() != checks.DefValue {
		return
	}
	if err := checks.Value.Set("20"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
}

// checkTree compares the tree with what was announced; seen are the messages
// before, and those now.
func checkTree(rt *rapid.T, sc *scened, exchange string, ev events, seen map[int64]string) {
	path := sc.path()
	var ids []int64 // that are new
	for _, e := range ev {
		switch d := e.Data.(type) {
		case pipeline.CreatedData:
			ids = append(ids, d.ID)
			seen[d.ID] = d.Content
		case pipeline.SpeakerDoneData:
			ids = append(ids, d.MessageID)
			seen[d.MessageID] = d.Content
			if d.Incomplete && ev.status(rt) == "completed" {
				rt.Fatalf("a part of a reply completes an exchange")
			}
		}
	}
	if sc.s.Running(sc.id) || ev.count(pipeline.SpeakingPlan) != 1 {
		rt.Fatalf("claimed: %v, %s", sc.s.Running(sc.id), ev.names())
	}
	if len(ids) > len(path) {
		rt.Fatalf("%d messages were announced, and %d are shown", len(ids), len(path))
	}
	for i, s := range path {
		if i > 0 && (s.ParentID == nil || *s.ParentID != path[i-1].ID) || i == 0 && s.ParentID != nil {
			rt.Fatalf("message %d does not follow the one before", s.ID)
		}
		if s.TurnIndex != i || strings.TrimSpace(s.Content) == "" {
			rt.Fatalf("message %d of the path has turn %d and says %q", i, s.TurnIndex, s.Content)
		}
		if text, known := seen[s.ID]; !known || text != s.Content {
			rt.Fatalf("message %d says %q, announced was %q", s.ID, s.Content, text)
		}
	}
	for i, s := range path[len(path)-len(ids):] {
		if s.ID != ids[i] || s.ExchangeID == nil || *s.ExchangeID != exchange {
			rt.Fatalf("the branch ends with %d of %v, want %v of %s", s.ID, s.ExchangeID, ids, exchange)
		}
		if s.Incomplete != "" && i != len(ids)-1 {
			rt.Fatalf("somebody speaks after a part of a reply")
		}
	}
}
