package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// preparer is a hook that adds to the system body.
type preparer struct {
	hook
	block string
	err   error
	asked int // how often
}

func (p *preparer) Prepare(_ context.Context, s scene.Snapshot) (string, error) {
	p.asked++
	if p.block == "panic" {
		panic(p.block)
	}
	return p.block, p.err
}

// Hooks prepare an exchange once. What they add ends the system body of every
// call, also of those beside exchanges, so that all of them begin alike.
func TestPreparedOnce(t *testing.T) {
	for _, forcing := range []pipeline.Forcing{pipeline.ByTool, pipeline.BySchema} {
		th := newTheatre(t)
		th.lanes.forcing = forcing
		sc := th.group("Anna", "Bob")
		sc.p.plan = []string{"anna", "bob"}
		must(sc.s.ChangeConversation(t.Context(), sc.id, scene.ConversationChange{SheetUpdates: scene.To(true)}, nil))(t)
		good, blank := &preparer{block: "WEATHER in {{char}}"}, &preparer{hook: hook{name: "2"}, block: " "}
		bad, worse := &preparer{hook: hook{name: "3"}, block: "NEVER", err: errors.New("no")}, &preparer{hook: hook{name: "4"}, block: "panic"}
		sc.r.Hooks = []pipeline.Hook{good, &hook{name: "plain"}, blank, bad, worse}
		ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello."})
		if got := sc.p.passes(); got != "direct_scene, writer Anna, writer Bob, update_character_sheet, update_character_sheet" {
			t.Fatalf("asked %s", got)
		}
		for _, p := range []*preparer{good, blank, bad, worse} {
			if p.asked != 1 {
				t.Errorf("%s was asked %d times", p.Name(), p.asked)
			}
		}
		if ev.status(t) != "completed" || ev.count(pipeline.Warning) != 2 || len(sc.path()) != 3 {
			t.Errorf("%v", ev)
		}
		must(sc.r.BeginSummary(t.Context(), sc.id, 2, ""))(t).Run(t.Context(), func(pipeline.Event) {})
		for _, a := range sc.p.asked {
			if a.body() != sc.p.asked[0].body() || !strings.HasSuffix(a.body(), "\n\nWEATHER in The inn") {
				t.Errorf("the body of %s ends in %q", a.pass, a.body()[max(0, len(a.body())-60):])
			}
		}
		if first := ev[1]; first.Name != pipeline.PhaseStatus || first.Data.(pipeline.PhaseData).Channel != "workflow:w" {
			t.Errorf("the exchange begins with %v", first)
		}
	}
}
