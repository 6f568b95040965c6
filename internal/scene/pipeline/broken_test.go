package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// box is a server of llmtest without a network, so that what waits for it
// waits in a test's own time.
type box struct {
	respond func(llmtest.Call) llmtest.Response
	mu      sync.Mutex
	n       int
}

// RoundTrip implements http.RoundTripper.
func (b *box) RoundTrip(r *http.Request) (*http.Response, error) {
	var call llmtest.Call
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.n++
	call.N, call.Nth = b.n, b.n
	b.mu.Unlock()
	resp := b.respond(call)
	if resp.Drop {
		return nil, reset()
	}
	out := &http.Response{StatusCode: resp.Status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r}
	if out.StatusCode == 0 {
		out.StatusCode = http.StatusOK
	}
	for name, value := range resp.Header {
		out.Header.Set(name, value)
	}
	out.Body = &played{ctx: r.Context(), frames: resp.Frames, end: resp.End}
	return out, nil
}

func reset() error { return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET} }

// played is a body, frame by frame.
type played struct {
	ctx    context.Context
	frames []llmtest.Frame
	end    llmtest.End
	rest   string
}

func (p *played) Read(b []byte) (int, error) {
	for p.rest == "" {
		if len(p.frames) == 0 {
			return 0, map[llmtest.End]error{llmtest.EndWell: io.EOF, llmtest.EndCut: io.ErrUnexpectedEOF, llmtest.EndReset: reset()}[p.end]
		}
		if p.frames[0].Hold {
			<-p.ctx.Done()
			return 0, p.ctx.Err()
		}
		p.rest, p.frames = p.frames[0].Text, p.frames[1:]
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (*played) Close() error { return nil }

// boxed puts a model of the box behind a name.
func (th *theatre) boxed(name string, respond func(llmtest.Call) llmtest.Response) {
	dialect, _ := chat.DialectOf("openai")
	if th.lanes.models == nil {
		th.lanes.models = map[string]llm.Model{}
	}
	th.lanes.models[name] = chat.New(chat.Config{Provider: "box", BaseURL: "http://localhost:1/v1", Dialect: dialect, Transport: &box{respond: respond}})
}

// content is an event with a piece of text.
func content(v any) string { return llmtest.Delta(map[string]any{"content": v}) }

// call is an event with a tool call.
func call(name, arguments string) string {
	return llmtest.Delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": 0, "id": "c1", "type": "function", "function": map[string]any{"name": name, "arguments": arguments},
	}}})
}

// oddities are answers that servers really give, beside those of llmtest.
func oddities() map[string]llmtest.Response {
	stop := llmtest.Finish("stop")
	return map[string]llmtest.Response{
		"no choices":            llmtest.Raw(llmtest.Data(map[string]any{"choices": []any{}}), llmtest.Done),
		"an empty body":         llmtest.Raw(""),
		"the end alone":         llmtest.Raw(llmtest.Done),
		"a finish alone":        llmtest.Raw(stop, llmtest.Done),
		"text without finish":   llmtest.Raw(content("I was"), llmtest.Done),
		"text that just ends":   llmtest.Raw(content("I was")),
		"finish without end":    llmtest.Raw(content("Well said."), stop),
		"null content":          llmtest.Raw(content(nil), stop, llmtest.Done),
		"content as a number":   llmtest.Raw(content(7), stop, llmtest.Done),
		"a thought alone":       llmtest.Raw(llmtest.Delta(map[string]any{"reasoning_content": "hm"}), stop, llmtest.Done),
		"a thought that breaks": llmtest.Raw(llmtest.Delta(map[string]any{"reasoning_content": "hm"})),
		"tags that never close": llmtest.Reply("<think>I wonder"),
		"thought tags":          llmtest.Reply("<think>Bob: no</think>Well said."),
		"a label alone":         llmtest.Reply("**Anna:**\n"),
		"a doubled label":       llmtest.Reply("Anna: Anna: Well said."),
		"blanks":                llmtest.Reply(" \n\t "),
		"a comment alone":       llmtest.Reply("{{// nothing}}"),
		"a call":                llmtest.Raw(call("direct_scene", `{}`), llmtest.Finish("tool_calls"), llmtest.Done),
		"a call of nothing":     llmtest.Raw(call("", `{"a":`), llmtest.Finish("tool_calls"), llmtest.Done),
		"text and a call":       llmtest.Raw(content("Well said."), call("direct_scene", `{"moods":["x"]}`), llmtest.Finish("tool_calls"), llmtest.Done),
		"huge":                  llmtest.Raw(content(strings.Repeat("so ", 1<<19)), stop, llmtest.Done),
		"an error object":       llmtest.Raw(llmtest.Data(map[string]any{"error": map[string]any{"message": "no such thing"}}), llmtest.Done),
		"an error text":         llmtest.Raw(llmtest.Data(map[string]any{"error": "no such thing"})),
		"an error after text":   llmtest.Raw(content("I was"), llmtest.Data(map[string]any{"error": map[string]any{"message": "out of memory"}}), llmtest.Done),
		"an error as an event":  llmtest.Raw("event: error\ndata: {\"message\":\"no such thing\"}\n\n"),
		"half an event":         llmtest.Raw(content("I was"), "data: {\"choices\":[{\"delta\":{\"cont"),
		"broken letters":        llmtest.Raw("data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfeWell\"}}]}\n\n", stop, llmtest.Done),
		"two finishes":          llmtest.Raw(content("Well said."), stop, stop, llmtest.Done),
		"text after the finish": llmtest.Raw(content("Well said."), stop, content(" More."), llmtest.Done),
		"a list for an answer":  llmtest.Raw("[]").WithHeader("Content-Type", "application/json"),
		"an empty object":       llmtest.Raw("{}").WithHeader("Content-Type", "application/json"),
		"a redirect":            {Status: 302, Header: map[string]string{"Location": "http://elsewhere.test/"}},
		"no content":            {Status: 204},
		"418":                   llmtest.Fail(418, "I am a teapot"),
		"a page of 502":         llmtest.Response{Status: 502, Frames: []llmtest.Frame{{Text: "<html>Bad gateway</html>"}}}.WithHeader("Content-Type", "text/html"),
	}
}

// broken are all the answers: those of llmtest by name, and the oddities. The
// race detector gets some of them.
func broken(each func(name string, respond func(llmtest.Call) llmtest.Response)) {
	all := map[string]func(llmtest.Call) llmtest.Response{}
	for _, name := range []string{
		"think", "think-tags", "json", "keepalive", "no-done", "length", "refused", "empty", "blank", "escape", "cut", "eof", "reset",
		"refuse", "error-in-200", "error-later", "garbage", "html", "401", "403", "404", "429", "500", "503", "429-twice", "500-twice", "hang", "hang-later",
	} {
		all[name] = func(c llmtest.Call) llmtest.Response {
			c.Model = name
			return llmtest.Scenario(c)
		}
	}
	for name, r := range oddities() {
		all[name] = func(llmtest.Call) llmtest.Response { return r }
	}
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if !raced || i%4 == 0 {
			each(name, all[name])
		}
	}
}

// Whatever a server answers the Writer, an exchange ends once; what is called
// completed is whole, what was shown is kept, and the scene goes on.
func TestBrokenWriter(t *testing.T) {
	whole := map[string]bool{}
	for _, name := range []string{
		"think", "think-tags", "json", "keepalive", "no-done", "length", "escape", "429-twice", "500-twice", "text without finish", "finish without end",
		"thought tags", "a doubled label", "text and a call", "broken letters", "two finishes", "text after the finish",
	} {
		whole[name] = true
	}
	broken(func(name string, respond func(llmtest.Call) llmtest.Response) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := newTheatre(t).group("Anna", "Bob")
				sc.twoLanes()
				sc.boxed("pen", respond)
				ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"})
				checkKept(t, sc, ev, 2)
				if got := ev.status(t) == "completed"; got != whole[name] {
					t.Errorf("it ended %s:\n%s\n%+v", ev.status(t), sc.text(), ev[len(ev)-2].Data)
				}
				if path := sc.path(); len(path) > 1 && ev.status(t) == "failed" && path[1].Incomplete != "error" {
					t.Errorf("a part is stored as whole: %q", path[1].Content)
				}
				delete(sc.lanes.models, "pen")
				before := len(sc.path())
				sc.send("And now?")
				if len(sc.path()) != before+3 {
					t.Errorf("the next exchange made of it\n%s", sc.text())
				}
				for _, a := range sc.p.of("writer") {
					for _, m := range a.Messages {
						if strings.TrimSpace(m.Text) == "" { // V5
							t.Errorf("a message of nothing is sent for ever after: %+v", a.Messages)
						}
					}
				}
			})
		})
	})
}

// checkKept holds what is true however an exchange of members ended.
func checkKept(t *testing.T, sc *scened, ev events, planned int) {
	t.Helper()
	var kept []int64
	shown := ""
	for _, e := range ev {
		switch d := e.Data.(type) {
		case pipeline.SpeakerData:
			shown = ""
		case pipeline.SpeakerDoneData:
			kept = append(kept, d.MessageID)
		case pipeline.SpeakerFailedData:
			if strings.TrimSpace(strings.ReplaceAll(shown, "{{// nothing}}", "")) != "" {
				t.Errorf("what was shown is lost: %q", shown)
			}
		case string:
			shown += d
		}
	}
	replies := sc.path()[1:]
	if len(replies) != len(kept) {
		t.Errorf("%d replies are stored and %d were announced", len(replies), len(kept))
	}
	for i, s := range replies {
		if s.ID != kept[i] || strings.TrimSpace(s.Content) == "" {
			t.Errorf("reply %d is %d %q, announced was %d", i, s.ID, s.Content, kept[i])
		}
	}
	if status := ev.status(t); status == "completed" && len(kept) != planned || ev.count(pipeline.SpeakingPlan) != 1 {
		t.Errorf("%s with %d of %d replies: %s", status, len(kept), planned, ev.names())
	}
}

// Whatever a server answers the agent, no reply is lost: the Director gives
// way to the round or fails before anybody spoke, and the Editor leaves the
// draft as it is.
func TestBrokenAgent(t *testing.T) {
	broken(func(name string, respond func(llmtest.Call) llmtest.Response) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := kept(t, "Anna", "Bob")
				must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"oh no"}}))(t)
				for _, f := range []scene.Fragment{{ID: "gist", Type: "feedback"}, {ID: "tidy", Type: "post_processing"}} {
					f.Label, f.Enabled = f.ID, true
					must(sc.s.CreateFragment(t.Context(), f))(t)
				}
				sc.p.says("writer", "Well, oh no. And oh no.")
				sc.twoLanes()
				sc.boxed("other mind", respond)
				ev := sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Hello?"})
				checkKept(t, sc, ev, 1)
				if ev.status(t) == "completed" && ev.count(pipeline.Warning) == 0 && name != "a call" && name != "text and a call" {
					t.Errorf("nothing is told of it: %s", ev.names())
				}
				for _, s := range sc.path()[1:] {
					if s.Content != "Well, oh no. And oh no." || s.Incomplete != "" {
						t.Errorf("the draft became %q %s", s.Content, s.Incomplete)
					}
				}
				if got := sc.proposals(); got != "" {
					t.Errorf("proposed: %s", got)
				}
				sc.settings(`{"enabled_tools":{"direct_scene":false}}`)
				sc.mode(scene.RoundRobin, scene.Private)
				ev = sc.run(pipeline.Ask{Kind: pipeline.Send, Content: "Again?"})
				if ev.count(pipeline.SpeakerDone) != 1 || sc.leaf().Content != "Well, oh no. And oh no." {
					t.Errorf("the draft is lost to the Editor: %s", ev.names())
				}
			})
		})
	})
}

// Answers of the right form with the wrong things in it change nothing that
// they must not.
func TestWrongArguments(t *testing.T) {
	draft := "Well, oh no. And oh no."
	for i, c := range []struct{ tool, arguments, text string }{
		{"editor_apply_patch", `{"patches":"none"}`, draft},
		{"editor_apply_patch", `{"patches":[{"id":"one","replace":7}]}`, draft},
		{"editor_apply_patch", `{"patches":[{"id":99,"replace":"x"}]}`, draft},
		{"editor_apply_patch", `{"patches":[{"id":1,"replace":""},{"id":2,"replace":""}]}`, "And oh no."}, // something has to stay
		{"editor_apply_patch", `{"patches":[{"id":1,"replace":"Dear me."}]}`, "Dear me. And oh no."},
		{"editor_apply_patch", `{"patches":null}`, draft},
		{"editor_apply_patch", `{}`, draft},
		{"editor_rewrite", `{"rewritten_text":" "}`, draft},
		{"editor_rewrite", `{"rewritten_text":"Anna:"}`, draft},
		{"editor_rewrite", `{"rewritten_text":["x"]}`, draft},
		{"editor_rewrite", `{"rewritten_text":"**Anna:** Dear me."}`, "Dear me."},
		{"apply_find_replace", `{"edits":[{"search":"oh no","replace":"x"}]}`, draft}, // not unique
		{"apply_find_replace", `{"edits":[{"search":"And oh no","replace":"And dear me"}]}`, "Well, oh no. And dear me."},
		{"apply_find_replace", `{"edits":[{"search":"Well, oh no. And oh no.","replace":""}]}`, draft},
		{"apply_find_replace", `{"edits":[{"search":"","replace":"x"}]}`, draft},
		{"give_feedback", `{"gist":["x"]}`, draft},
	} {
		t.Run(fmt.Sprint(i, " ", c.tool), func(t *testing.T) {
			sc := newTheatre(t).group("Anna")
			must(sc.s.CreatePhrase(t.Context(), scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{"oh no"}}))(t)
			switch c.tool {
			case "editor_rewrite":
				sc.settings(`{"length_guard_enabled":true,"length_guard_max_words":3}`)
			case "apply_find_replace":
				must(sc.s.CreateFragment(t.Context(), scene.Fragment{ID: "tidy", Label: "Tidy", Type: "post_processing", Enabled: true}))(t)
			case "give_feedback":
				must(sc.s.CreateFragment(t.Context(), scene.Fragment{ID: "gist", Label: "Gist", Type: "feedback", Enabled: true}))(t)
			}
			sc.p.says("writer", draft)
			sc.p.gives(c.tool, c.arguments)
			ev := sc.send("Hello?")
			if len(sc.p.of(c.tool)) == 0 {
				t.Fatalf("asked: %s", sc.p.passes())
			}
			if got := sc.leaf().Content; got != c.text {
				t.Errorf("stored %q, want %q", got, c.text)
			}
			if (ev.count(pipeline.WriterRewrite) == 1) != (c.text != draft) {
				t.Errorf("%s", ev.names())
			}
		})
	}
}
