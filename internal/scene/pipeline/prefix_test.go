package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// tape is the network below the wire: it keeps every body as it was sent and
// lets the player answer.
type tape struct {
	player *player
	mu     sync.Mutex
	sent   []sent
}

// sent is a body, and what of it the law is about.
type sent struct {
	pass, speaker string
	fields        map[string]json.RawMessage // all but messages and what is sampled or forced
	system        string
	rest          string // the messages behind the system body, the trailing one without
	trailing      string
}

// RoundTrip implements http.RoundTripper.
func (tp *tape) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	var head struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ToolChoice json.RawMessage `json:"tool_choice"`
		Format     struct {
			Schema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, err
	}
	s := sent{fields: fields}
	// What a template or a cache reads before the trailing message: everything
	// but how the answer is forced and sampled.
	for _, name := range []string{"messages", "tool_choice", "response_format", "temperature", "max_tokens", "max_completion_tokens"} {
		delete(fields, name)
	}
	var req llm.Request
	for i, m := range head.Messages {
		var text string
		if json.Unmarshal(m.Content, &text) != nil {
			text = string(m.Content)
		}
		switch {
		case i == 0 && m.Role == "system":
			s.system = text
		case i == len(head.Messages)-1:
			s.trailing = text
		default:
			s.rest += "\x00" + m.Role + "\x00" + text
		}
	}
	req.Messages, req.Schema = []llm.Message{{Text: s.trailing}}, head.Format.Schema.Schema
	var choice struct{ Function struct{ Name string } }
	if json.Unmarshal(head.ToolChoice, &choice) == nil {
		req.ToolChoice = llm.ToolChoice{Mode: llm.ToolNamed, Name: choice.Function.Name}
	}
	s.pass, s.speaker = passOf(req)
	tp.mu.Lock()
	tp.sent = append(tp.sent, s)
	tp.mu.Unlock()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(streamOf(tp.player.answer(req)))),
	}, nil
}

// streamOf writes an answer as a server does.
func streamOf(a llmtest.Answer) []byte {
	var b bytes.Buffer
	for _, step := range a {
		switch c := step.Chunk; {
		case c.Finish != "":
			b.WriteString(llmtest.Finish(string(c.Finish)))
		case c.Tool != nil:
			b.WriteString(llmtest.Delta(map[string]any{"tool_calls": []any{map[string]any{
				"index": c.Tool.Index, "id": c.Tool.ID, "type": "function",
				"function": map[string]any{"name": c.Tool.Name, "arguments": c.Tool.Arguments},
			}}}))
		default:
			b.WriteString(llmtest.Delta(map[string]any{"content": c.Text}))
		}
	}
	b.WriteString(llmtest.Done)
	return b.Bytes()
}

// wired lets the theatre's models speak over the wire of a provider.
func (th *theatre) wired(provider string, forcing pipeline.Forcing) *tape {
	tp := &tape{player: th.p}
	dialect, _ := chat.DialectOf(provider)
	th.lanes.model = chat.New(chat.Config{Provider: provider, BaseURL: "http://localhost:1/v1", Dialect: dialect, Transport: tp})
	th.lanes.forcing = forcing
	return tp
}

// long sets a scene up in which every pass has something to do.
func long(t *testing.T) *scened {
	sc := newTheatre(t).group("Anna", "Bob", "Cara")
	sc.clock.step = 7 * time.Minute
	sc.settings(`{"shared_system_prompt":"Write well. It is {{time}} on {{date}}.","user_name":"Ada"}`)
	sc.change(scene.ConversationChange{Scenario: scene.To("It was {{time}} when {{char}} opened."), SheetUpdates: scene.To(true), MaxSpeakers: scene.To(2)})
	for _, f := range []scene.Fragment{
		{ID: "pace", Type: "string", Description: "The pace for {{cast}} at {{time}}", Cooldown: 2},
		{ID: "gist", Type: "feedback", Description: "What {{user}} should know at {{time}}"},
		{ID: "tidy", Type: "post_processing", Description: "No echo at {{time}}"},
	} {
		f.Enabled, f.Label = true, f.ID
		must(sc.s.CreateFragment(t.Context(), f))(t)
	}
	must(sc.s.CreateMood(t.Context(), scene.Mood{ID: "calm", Label: "Calm", Description: "when {{user}} is tired", Prompt: "Be {{random::quiet::still}}.", Enabled: true}))(t)
	must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"hung in the air"}}))(t)
	w := must(sc.s.CreateWorld(t.Context(), "Coast"))(t)
	for _, e := range []scene.Entry{
		{Name: "sea", Content: "The sea is {{random::grey::green}} at {{time}}.", Constant: true},
		{Name: "storm", Content: "Storms come at {{time}}.", Keys: []string{"storm"}},
		{Name: "deep", Content: "Below, {{roll::1d6}} whales.", Constant: true, AtDepth: true},
	} {
		e.Enabled = true
		must(sc.s.CreateEntry(t.Context(), w.ID, e))(t)
	}
	must(sc.s.SetWorld(t.Context(), sc.id, w.ID, true))(t)
	sc.p.play("writer", func(a asked) llmtest.Answer {
		return llmtest.Say(fmt.Sprintf("It hung in the air. Then it hung in the air again. Line %d at {{time}}.", a.nth))
	})
	sc.p.play("update_character_sheet", func(a asked) llmtest.Answer {
		return give(a, fmt.Sprintf(`{"changed":true,"sheet":"New sheet %d","summary":"s"}`, a.nth))
	})
	sc.p.play("direct_scene", func(a asked) llmtest.Answer {
		plans := []string{`["anna","bob"]`, `["bob — now"]`, `["cara","anna"]`}
		return give(a, fmt.Sprintf(`{"pace":"slow %d","moods":["calm"],"speaking_plan":%s}`, a.nth, plans[a.nth%3]))
	})
	sc.p.gives("give_feedback", `{"gist":"well"}`)
	return sc
}

// S27, P1: within one exchange all calls begin with the same bytes, and from
// one exchange to the next the body and the history stay, whatever a clock, lore,
// moods, mutes, sheets and edits do.
func TestPrefixLaw(t *testing.T) {
	for _, mode := range []scene.ContextMode{scene.Private, scene.Shared, scene.Swap} {
		for provider, forcing := range map[string]pipeline.Forcing{"openai": pipeline.ByTool, "llamacpp": pipeline.BySchema} {
			if raced && (mode == scene.Shared) == (forcing == pipeline.ByTool) {
				continue // each mode once, each way of forcing too
			}
			t.Run(string(mode)+" "+provider, func(t *testing.T) {
				sc := long(t)
				sc.mode(scene.Director, mode)
				tp := sc.wired(provider, forcing)
				before := law{mode: mode, tools: forcing == pipeline.ByTool}
				exchanges := 20
				if raced {
					exchanges = 8
				}
				for i := range exchanges {
					switch i % 5 {
					case 1:
						sc.mute("Cara")
					case 2:
						sc.mute()
					case 3:
						before.edited(sc, t)
					case 4:
						if mode == scene.Private {
							before.applied(sc, t)
						}
					}
					if i == exchanges/2 {
						sc.settings(`{"length_guard_enabled":true,"length_guard_enforce":true,"length_guard_max_words":5}`)
					}
					tp.sent = nil
					text := fmt.Sprintf("Message %d at {{time}}.", i)
					if i%4 == 0 {
						text += " A storm!"
					}
					sc.send(text)
					if i > 3 && i%6 == 0 {
						s := must(sc.r.BeginSummary(t.Context(), sc.id, 4, ""))(t)
						s.Run(t.Context(), func(pipeline.Event) {})
					}
					before.holds(t, tp.sent)
				}
				want := []string{"direct_scene", "writer", "editor_apply_patch", "editor_rewrite", "give_feedback", "apply_find_replace", "summary"}
				if mode == scene.Private {
					want = append(want, "update_character_sheet")
				}
				for _, pass := range want {
					if before.passes[pass] == 0 {
						t.Errorf("no call of %s", pass)
					}
				}
			})
		}
	}
}

// law is what is known of the calls so far.
type law struct {
	mode    scene.ContextMode
	tools   bool
	fields  map[string]json.RawMessage // of every call
	bodies  map[string]string          // by speaker; in private and shared by none
	history string                     // older than the last request
	passes  map[string]int
}

// holds compares the calls of one exchange with each other and with those
// before.
func (l *law) holds(t *testing.T, calls []sent) {
	t.Helper()
	if l.bodies == nil {
		l.bodies, l.fields, l.passes = map[string]string{}, calls[0].fields, map[string]int{}
	}
	var history, speaker, writer string
	for _, c := range calls {
		l.passes[c.pass]++
		if got, want := fmt.Sprint(names(c.fields)), fmt.Sprint(names(l.fields)); got != want {
			t.Fatalf("%s sends %s, want %s", c.pass, got, want)
		}
		for name, raw := range c.fields {
			if !bytes.Equal(raw, l.fields[name]) {
				t.Fatalf("%s: %s differs:\n%s\nbefore\n%s", c.pass, name, raw, l.fields[name])
			}
		}
		if _, sent := c.fields["tools"]; sent != l.tools {
			t.Fatalf("%s ships tools: %v", c.pass, sent)
		}
		switch c.pass {
		case "writer":
			speaker = c.speaker
			writer = c.rest + "\x00user\x00" + c.trailing
		case "direct_scene", "update_character_sheet", "summary":
			speaker = ""
		default: // of the editor and feedback: they extend the Writer's exact call
			if !strings.HasPrefix(c.rest, writer) {
				t.Fatalf("%s does not extend the Writer's call:\n%q\nis not the start of\n%q", c.pass, writer, c.rest)
			}
		}
		l.body(t, c, speaker)
		if c.pass == "direct_scene" {
			history = c.rest
			if !strings.HasPrefix(history, l.history) {
				t.Fatalf("the history changed:\n%q\nis not the start of\n%q", l.history, history)
			}
		}
		if c.pass != "summary" && !strings.HasPrefix(c.rest, history) {
			t.Fatalf("%s does not begin with the history:\n%q\nis not the start of\n%q", c.pass, history, c.rest)
		}
		if c.pass == "summary" && !strings.HasPrefix(history, c.rest) {
			t.Fatalf("the summary does not begin as the exchange does:\n%q\nis not the start of\n%q", c.rest, history)
		}
	}
	l.history = history
}

// body compares the system bodies.
func (l *law) body(t *testing.T, c sent, speaker string) {
	t.Helper()
	if l.mode != scene.Swap {
		speaker = ""
	}
	if old, known := l.bodies[speaker]; known && old != c.system {
		t.Fatalf("the body of %s for %q changed:\n%q\nwas\n%q", c.pass, speaker, c.system, old)
	}
	l.bodies[speaker] = c.system
	if speaker == "" {
		return
	}
	// In swap all is the same but the active card.
	base := l.bodies[""]
	head, tail, found := strings.Cut(c.system, "\n\n## Character: "+speaker)
	if !found || !strings.HasPrefix(base, head+"\n\n") || !strings.HasSuffix(tail, strings.TrimPrefix(base, head)) {
		t.Fatalf("the body of %s is not the neutral one and a card:\n%q\n%q", speaker, c.system, base)
	}
}

func names(fields map[string]json.RawMessage) (all []string) {
	for name := range fields {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// edited edits an old message, of which only the edited bytes may differ.
func (l *law) edited(sc *scened, t *testing.T) {
	old := sc.path()[2]
	text := "edited: " + old.Content
	if err := sc.s.EditMessage(t.Context(), sc.id, old.ID, text); err != nil {
		t.Fatal(err)
	}
	if changed := strings.Replace(l.history, old.Content, text, 1); l.history == "" || changed != l.history {
		l.history = changed
		return
	}
	t.Fatal("the message is not in the history")
}

// applied applies every proposal.
func (l *law) applied(sc *scened, t *testing.T) {
	for _, p := range must(sc.s.Proposals(t.Context(), sc.id, string(scene.Pending)))(t) {
		must(sc.s.ApplyProposal(t.Context(), sc.id, p.ID))(t)
	}
}
