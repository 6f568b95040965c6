package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// REF 4.9: the Editor mends what the audits find, at most three times, and
// only while it gets better.
func TestEditorRounds(t *testing.T) {
	const draft = "It hung around, she said. Then it hung around again. And it hung around."
	patch := func(ids ...int) string {
		var all []string
		for _, id := range ids {
			all = append(all, fmt.Sprintf(`{"id":%d,"replace":"Rain %d fell."}`, id, id))
		}
		return `{"patches":[` + strings.Join(all, ",") + `]}`
	}
	for name, c := range map[string]struct {
		answers []string
		more    string // of the draft
		rounds  int
		updates int
		left    int // phrases
	}{
		"all at once":         {answers: []string{patch(1, 2, 3)}, rounds: 1, updates: 1, left: 0},
		"one is let pass":     {answers: []string{patch(1, 2)}, rounds: 1, updates: 1, left: 1},
		"one after the other": {answers: []string{patch(1), patch(1)}, rounds: 2, updates: 2, left: 1},
		"nothing":             {answers: []string{patch()}, rounds: 1, left: 3},
		"what is no better":   {answers: []string{`{"patches":[{"id":1,"replace":"It hung around, it hung around."}]}`}, rounds: 1, left: 3},
		"what is not there":   {answers: []string{`{"patches":[{"id":9,"replace":"x"}]}`}, rounds: 1, left: 3},
		"three times at most": {answers: []string{patch(1)}, more: " Up there it hung around. Down here it hung around.", rounds: 3, updates: 3, left: 2},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newTheatre(t).group("Anna")
			sc.settings(`{"editor_audit_toggles":{"repetitive_openers":false,"repetitive_templates":false,"phrase_repetition":false,"structural_repetition":false}}`)
			must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"hung around"}}))(t)
			sc.p.says("writer", draft+c.more)
			sc.p.gives("editor_apply_patch", c.answers...)
			ev := sc.send("Hello?")
			if got := len(sc.p.of("editor_apply_patch")); got != c.rounds {
				t.Errorf("%d rounds, want %d", got, c.rounds)
			}
			leaf := sc.leaf()
			if got := strings.Count(leaf.Content, "hung around"); got != c.left || ev.count(pipeline.DraftUpdate) != c.updates {
				t.Errorf("%d of the phrases are left in %q after %d updates", got, leaf.Content, ev.count(pipeline.DraftUpdate))
			}
			if c.updates > 0 {
				if got := last[pipeline.RewriteData](t, ev, pipeline.WriterRewrite).RefinedText; got != leaf.Content {
					t.Errorf("the rewrite is told as %q, stored is %q", got, leaf.Content)
				}
			}
			if done := last[pipeline.EditorDoneData](t, ev, pipeline.EditorDone); len(done.ToolCalls) != c.rounds || !last[pipeline.WriterDoneData](t, ev, pipeline.WriterDone).EditorWillRun {
				t.Errorf("editor_done %+v", done)
			}
			logs := must(sc.s.Logs(t.Context(), sc.id))(t)
			if got := strings.Count(string(logs[0].ToolCalls), "editor_apply_patch"); got != c.rounds {
				t.Errorf("the log holds %s", logs[0].ToolCalls)
			}
		})
	}
}

// One finding alone is no reason, nor is an empty phrase bank.
func TestEditorIsSpared(t *testing.T) {
	for name, set := range map[string]func(*scened){
		"one finding": func(sc *scened) { sc.p.says("writer", "Oh no, she said.") },
		"no bank": func(sc *scened) {
			for _, p := range must(sc.s.Phrases(sc.Context()))(sc) {
				if err := sc.s.DeletePhrase(sc.Context(), p.ID); err != nil {
					sc.Fatal(err)
				}
			}
		},
		"turned off": func(sc *scened) { sc.settings(`{"enabled_tools":{"editor_apply_patch":false}}`) },
		"no agent":   func(sc *scened) { sc.settings(`{"enable_agent":false}`) },
		"short as asked": func(sc *scened) {
			sc.settings(`{"enabled_tools":{"editor_apply_patch":false},"length_guard_enabled":true}`)
		},
	} {
		sc := newTheatre(t).group("Anna")
		must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"oh no"}}))(t)
		sc.p.says("writer", "Oh no, she said. Then, oh no.")
		set(sc)
		sc.send("Hello?")
		if got := sc.p.passes(); strings.Contains(got, "editor") {
			t.Errorf("%s: asked: %s", name, got)
		}
	}
}

// The length guard has a long draft written again, and nudges when enforced.
func TestLengthGuard(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	sc.settings(`{"length_guard_enabled":true,"length_guard_enforce":true,"length_guard_max_words":4,"length_guard_max_paragraphs":1}`)
	sc.p.says("writer", "This draft is far too long for anybody.")
	sc.p.gives("editor_rewrite", `{"rewritten_text":"Anna: This is still too long."}`, `{"rewritten_text":"**Anna:** Short enough."}`)
	sc.send("Hello?")
	if got := sc.leaf().Content; got != "This draft is far too long for anybody." && got != "Short enough." {
		t.Errorf("stored %q", got)
	}
	if a := sc.p.of("editor_rewrite"); len(a) == 0 || !strings.Contains(a[0].tail(), "at most 4 words in at most 1 paragraphs") {
		t.Errorf("asked: %s", sc.p.passes())
	}
	if w := sc.p.of("writer")[0]; !strings.Contains(w.tail(), "at most 4 words") {
		t.Errorf("the Writer is not told:\n%s", w.tail())
	}
	sc = newTheatre(t).group("Anna")
	sc.settings(`{"length_guard_enabled":true,"length_guard_max_words":4}`)
	sc.p.says("writer", "This draft is far too long for anybody.")
	sc.p.gives("editor_rewrite", `{"rewritten_text":"**Anna:** Short enough."}`)
	sc.send("Hello?")
	if got := sc.leaf().Content; got != "Short enough." || strings.Contains(sc.p.of("writer")[0].tail(), "at most") {
		t.Errorf("stored %q", got)
	}
}

// Post-processing goes on from what the Editor left, one rule after the other;
// feedback is for the person's eyes alone.
func TestPolish(t *testing.T) {
	sc := newTheatre(t).group("Anna")
	for i, f := range []scene.Fragment{
		{ID: "second", Label: "Second", Type: "post_processing", Description: "No cats in {{char}}."},
		{ID: "first", Label: "First", Type: "post_processing", Description: "No dogs."},
		{ID: "gist", Label: "Gist", Type: "feedback", Description: "The gist for {{user}}"},
	} {
		f.Enabled, f.Order = true, []int{2, 1, 3}[i]
		must(sc.s.CreateFragment(t.Context(), f))(t)
	}
	sc.p.says("writer", "A dog runs.")
	sc.p.gives("apply_find_replace", `{"edits":[{"search":"dog","replace":"cat"}]}`, `{"edits":[{"search":"cat","replace":"bird"},{"search":"dog","replace":"x"}]}`)
	sc.p.gives("give_feedback", `{"gist":"SECRET-GIST"}`)
	ev := sc.send("Hello?")
	edits := sc.p.of("apply_find_replace")
	if len(edits) != 2 || !strings.Contains(edits[0].tail(), "No dogs.") || !strings.Contains(edits[1].tail(), "No cats in The inn.") || edits[1].Messages[len(edits[1].Messages)-2].Text != "A cat runs." {
		t.Fatalf("asked: %s", sc.p.passes())
	}
	if got := sc.leaf().Content; got != "A bird runs." || ev.count(pipeline.DraftUpdate) != 2 {
		t.Errorf("stored %q: %s", got, ev.names())
	}
	if got := last[pipeline.FeedbackData](t, ev, pipeline.Feedback).Values["gist"]; got != "SECRET-GIST" {
		t.Errorf("the feedback is %q", got)
	}
	if log := must(sc.s.Logs(t.Context(), sc.id))(t)[0]; !strings.Contains(string(log.Feedback), "SECRET-GIST") {
		t.Errorf("the log holds %s", log.Feedback)
	}
	sc.send("And?")
	for _, a := range sc.p.asked {
		if strings.Contains(a.whole(), "SECRET-GIST") {
			t.Errorf("%s reads the feedback", a.pass)
		}
	}
	sc.p.play("give_feedback", func(a asked) llmtest.Answer { return llmtest.Say("I would rather not.") })
	if ev := sc.send("And now?"); ev.count(pipeline.Feedback) != 0 {
		t.Errorf("%s", ev.names())
	}
	sc.p.play("give_feedback", fails("rejected"))
	if ev := sc.send("And now?"); ev.count(pipeline.Warning) != 1 || ev.count(pipeline.SpeakerDone) != 1 {
		t.Errorf("%s", ev.names())
	}
}
