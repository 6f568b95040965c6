package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// summary sums the conversation up.
func (sc *scened) summary(keep int, custom string) events {
	sc.Helper()
	s := must(sc.r.BeginSummary(sc.Context(), sc.id, keep, custom))(sc)
	var ev events
	s.Run(sc.Context(), func(e pipeline.Event) { ev = append(ev, e) })
	return ev
}

// Rows 14, 15, 28, 34: what a summary reads, by mode. It goes on from what
// every call of the scene begins with, pictures too (S27).
func TestSummary(t *testing.T) {
	for mode, want := range map[scene.ContextMode]string{
		scene.Private: "", scene.Swap: "",
		scene.Shared: "ANNA-SHEET ANNA-NATURE ANNA-EXAMPLE BOB-SHEET BOB-NATURE BOB-EXAMPLE", // the shared body, of course
	} {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.mode(scene.Director, mode)
		picture := []scene.NewUpload{{MIME: "image/png", Filename: "sea.png", Data: []byte("\x89PNG")}}
		sc.well(pipeline.Ask{Kind: pipeline.Send, Content: "Look, {{char}}!", Uploads: picture})
		sc.send("And now?")
		sc.change(scene.ConversationChange{Title: scene.To("The renamed inn"), PostHistory: scene.To("")})
		sc.p.forget()
		sc.send("Well?")
		writer := sc.p.of("writer")[0]
		ev := sc.summary(2, "Mind the {{char}}.")
		if got := ev.names(); got != "token done" || ev.status(t) != "completed" {
			t.Errorf("events %s", got)
		}
		a := sc.p.of("summary")[0]
		if got := has(a.whole(), cards()...); got != want {
			t.Errorf("%s: a summary reads the cards %q, want %q", mode, got, want)
		}
		if got := has(a.whole(), "Anna: Anna says", "Bob: Bob says", "Look, The renamed inn!", "Moreover: Mind the The renamed inn."); strings.Count(got, ":") != 3 || !strings.Contains(got, "Look") {
			t.Errorf("%s: a summary reads %q:\n%s", mode, got, a.whole())
		}
		if mode != scene.Swap && a.body() != writer.body() {
			t.Errorf("%s: the body is not the scene's", mode)
		}
		for i, m := range a.Messages[:len(a.Messages)-1] {
			w := writer.Messages[i]
			if i < len(writer.Messages)-1 && (!strings.HasPrefix(m.Text, w.Text) || !cmp.Equal(m.Images, w.Images) || m.Role != w.Role) {
				t.Errorf("%s: message %d is %+v, and %+v for the Writer", mode, i, m, w)
			}
		}
		if len(a.Tools) != len(writer.Tools) {
			t.Errorf("%s: other tools are shipped", mode)
		}
		for _, keep := range []int{0, 1, 3, 10} {
			if _, err := sc.r.BeginSummary(t.Context(), sc.id, keep, ""); fault.CodeOf(err) != fault.Invalid {
				t.Errorf("%d messages are kept: %v", keep, err)
			}
		}
		sc.p.play("summary", fails("rejected"))
		if ev := sc.summary(2, ""); ev.names() != "error done" || ev.status(t) != "failed" {
			t.Errorf("a summary that fails: %s", ev.names())
		}
		sc.p.gives("summary", `{"x":1}`)
		if ev := sc.summary(2, ""); ev.names() != "error done" || ev.status(t) != "failed" {
			t.Errorf("a call instead of a summary: %s", ev.names())
		}
	}
}

// Rows 14, 27: sizes by mode; what differs between speakers counts once, by
// the largest of those who may speak.
func TestContextSize(t *testing.T) {
	for mode, keys := range map[scene.ContextMode]string{
		scene.Private: "cast_public largest_speaker_tail",
		scene.Shared:  "cast_dossiers largest_speaker_tail",
		scene.Swap:    "cast_public largest_active_card largest_speaker_tail",
	} {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.mode(scene.Manual, mode)
		sheet := strings.Repeat("long ", 300)
		sc.cast(func(name string, m *scene.MemberSpec) {
			if name == "Bob" {
				m.Sheet = &sheet
			}
		})
		size := must(sc.r.ContextSize(t.Context(), sc.id))(t)
		parts := map[string]int{}
		var got []string
		for _, p := range size.Parts {
			parts[p.Key] = p.Chars
			if strings.HasPrefix(p.Key, "cast_") || strings.HasPrefix(p.Key, "largest_") {
				got = append(got, p.Key)
			}
		}
		if strings.Join(got, " ") != keys || !size.Maximum {
			t.Errorf("%s: the keys are %v", mode, got)
		}
		where := map[scene.ContextMode]string{scene.Private: "largest_speaker_tail", scene.Shared: "cast_dossiers", scene.Swap: "largest_active_card"}[mode]
		if n := parts[where]; n < len(sheet)-1 || n > 2*len(sheet) {
			t.Errorf("%s: %s is %d characters", mode, where, n)
		}
		sc.mute("Anna", "Bob")
		for _, p := range must(sc.r.ContextSize(t.Context(), sc.id))(t).Parts {
			if strings.HasPrefix(p.Key, "largest_") && p.Chars != 0 {
				t.Errorf("%s: %s counts muted members", mode, p.Key)
			}
		}
		if len(sc.p.asked) != 0 {
			t.Error("measuring asks a model")
		}
	}
}

const profileTool = "draft_public_profile"

// Rows 58–61, 63–65, 67: a draft is made of the one card and names.
func TestProfileDrafts(t *testing.T) {
	for _, mode := range []scene.ContextMode{scene.Private, scene.Shared, scene.Swap} {
		sc := newTheatre(t).group("Anna", "Bob")
		sc.mode(scene.Manual, mode)
		outside := sc.card("Cara")
		sc.speak("Bob")
		sc.p.gives(profileTool, `{"appearance":" Tall,\n grey ","role":"Keeper of the inn"}`)
		for name, c := range map[string]struct {
			draft pipeline.ProfileDraft
			cast  string
		}{
			"by the roster":    {pipeline.ProfileDraft{CardID: sc.member("Anna").CardID}, "Also in the scene: Bob."},
			"by names":         {pipeline.ProfileDraft{CardID: sc.member("Anna").CardID, Cast: []string{" Zoe ", "", "Abe", "Zoe"}}, "Also in the scene: Zoe, Abe, Zoe."},
			"alone":            {pipeline.ProfileDraft{CardID: sc.member("Anna").CardID, Cast: []string{}}, ""},
			"of somebody else": {pipeline.ProfileDraft{CardID: &outside, Name: "Caro"}, "Also in the scene: Anna, Bob."},
		} {
			sc.p.forget()
			sc.p.gives(profileTool, `{"appearance":" Tall,\n grey ","role":"Keeper of the inn"}`)
			got := must(sc.r.DraftSceneProfile(t.Context(), sc.id, c.draft))(t)
			if got != "Appearance: Tall, grey\nRole: Keeper of the inn" {
				t.Errorf("%s: %q", name, got)
			}
			text := sc.p.asked[0].whole()
			if strings.Contains(text, "Also in the scene") != (c.cast != "") || !strings.Contains(text, c.cast) || !strings.Contains(text, "An inn by the sea.") {
				t.Errorf("%s %s: asked with\n%s", mode, name, text)
			}
			own := "ANNA"
			if c.draft.Name != "" {
				own = "CARA"
			}
			if got := has(text, "ANNA-SHEET", "BOB-SHEET", "CARA-SHEET", "BOB-LOOK", "says line"); got != own+"-SHEET" || !strings.Contains(text, own+"-LOOK") {
				t.Errorf("%s %s: the request holds %q", mode, name, got)
			}
		}
		if m := sc.member("Anna"); m.PublicProfile != nil {
			t.Error("a draft is stored")
		}
	}
}

// Rows 62, 66, 68, 69: what cannot be drafted, and answers that are no
// profile.
func TestProfileRefusals(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	anna := sc.member("Anna").CardID
	solo := sc.theatre.open(scene.NewConversation{CardID: anna})
	for name, c := range map[string]struct {
		id    string
		draft pipeline.ProfileDraft
		code  fault.Code
	}{
		"no card":        {sc.id, pipeline.ProfileDraft{}, fault.Invalid},
		"a solo chat":    {solo.id, pipeline.ProfileDraft{CardID: anna}, fault.Conflict},
		"a missing card": {sc.id, pipeline.ProfileDraft{CardID: new("x")}, fault.NotFound},
		"no scene":       {"x", pipeline.ProfileDraft{CardID: anna}, fault.NotFound},
	} {
		if _, err := sc.r.DraftSceneProfile(t.Context(), c.id, c.draft); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(sc.p.asked) != 0 {
		t.Error("a refusal asks a model")
	}
	for name, answer := range map[string]string{
		"no fields": `{}`, "braces": `{"appearance":"{{char}}","role":"x"}`, "half": `{"appearance":"x","role":" "}`,
		"too long": `{"appearance":"` + strings.Repeat("w ", 31) + `","role":"x"}`, "wrong types": `{"appearance":["x"],"role":"x"}`,
	} {
		sc.p.forget()
		sc.p.gives(profileTool, answer)
		if got, err := sc.r.DraftSceneProfile(t.Context(), sc.id, pipeline.ProfileDraft{CardID: anna}); fault.CodeOf(err) != fault.Provider || got != "" {
			t.Errorf("%s: %q %v", name, got, err)
		}
		if got, err := sc.r.DraftPublicProfile(t.Context(), *anna); fault.CodeOf(err) != fault.Provider {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	for _, text := range []string{"I would rather not.", ""} {
		sc.p.play(profileTool, func(asked) llmtest.Answer { return llmtest.Say(text) })
		if _, err := sc.r.DraftSceneProfile(t.Context(), sc.id, pipeline.ProfileDraft{CardID: anna}); fault.CodeOf(err) != fault.Provider {
			t.Errorf("%q: %v", text, err)
		}
	}
	sc.p.forget()
	sc.p.gives(profileTool, `{"appearance":"x","role":"y"}`)
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("N%d-%s", i, strings.Repeat("é", 80)))
	}
	must(sc.r.DraftSceneProfile(t.Context(), sc.id, pipeline.ProfileDraft{CardID: anna, Cast: many}))(t)
	text := sc.p.asked[0].tail()
	if strings.Count(text, "-é") != 16 || !strings.Contains(text, "and 4 more") || strings.Contains(text, strings.Repeat("é", 63)) {
		t.Errorf("asked with\n%s", text)
	}
	if p := must(sc.r.DraftPublicProfile(t.Context(), *anna))(t); p != (scene.Profile{Appearance: "x", Role: "y"}) {
		t.Errorf("%+v", p)
	}
}

// A completion is what an answer adds, and claims nothing.
func TestAutocomplete(t *testing.T) {
	sc := newTheatre(t).group("Anna", "Bob")
	sc.send("Hello?")
	claim := must(sc.s.Claim(t.Context(), sc.id, func() {}))(t)
	defer claim.Release()
	for draft, c := range map[string]struct{ answer, want string }{
		"I walk":   {"I walk to the sea. \n", " to the sea."},
		"I walk ":  {" to the sea.", "to the sea."},
		"I stroll": {" to the sea.", " to the sea."},
	} {
		sc.p.says("autocomplete", c.answer)
		if got := must(sc.r.Autocomplete(t.Context(), sc.id, draft))(t); got != c.want {
			t.Errorf("%q goes on with %q, want %q", draft, got, c.want)
		}
	}
	a := sc.p.of("autocomplete")
	if last := a[len(a)-1]; has(last.whole(), cards()...) != "" || last.body() != sc.p.of("writer")[0].body() || !slices.EqualFunc(last.Messages[:1], sc.p.of("writer")[1].Messages[:1], func(x, y llm.Message) bool { return x.Text == y.Text }) {
		t.Error("a completion does not go on from the scene")
	}
	for name, nothing := range map[string]func(){
		"white space": func() { sc.p.says("autocomplete", " ") },
		"a call":      func() { sc.p.gives("autocomplete", `{"x":1}`) },
		"the draft":   func() { sc.p.says("autocomplete", "I.\n") },
	} {
		nothing()
		if got, err := sc.r.Autocomplete(t.Context(), sc.id, "I."); fault.CodeOf(err) != fault.Provider {
			t.Errorf("%s is the completion %q: %v", name, got, err)
		}
	}
}
