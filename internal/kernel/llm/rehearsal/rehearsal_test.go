package rehearsal_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/kernel/llm/rehearsal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	llmtest.Conformance(t, func(_ *testing.T, b llmtest.Behaviour) llm.Model {
		if b == llmtest.Answers || b == llmtest.Calls {
			return rehearsal.New("dev")
		}
		return nil
	})
}

// said is what the speaker answers.
func said(t interface {
	Helper()
	Fatal(...any)
}, name string, req llm.Request) string {
	t.Helper()
	var out strings.Builder
	for c, err := range rehearsal.New(name).Stream(context.Background(), req) {
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(c.Text)
	}
	return out.String()
}

// TestPanel plays a panel: every speaker hears the earlier ones, as a
// projection would show them. The golden file is the play.
func TestPanel(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			arc, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			type line struct{ who, text string }
			var heard []line
			for i := range arc.Files {
				part := &arc.Files[i]
				who, human := strings.CutPrefix(part.Name, "human ")
				if human {
					heard = append(heard, line{who, strings.TrimSpace(string(part.Data))})
					continue
				}
				name, brief, _ := strings.Cut(part.Name, ":")
				req := llm.Request{System: []string{strings.TrimSpace(brief)}}
				others := map[string]bool{}
				for _, l := range heard {
					others[l.who] = others[l.who] || l.who != name
				}
				delete(others, name)
				for _, l := range heard {
					m := llm.Message{Role: llm.RoleUser, Text: l.text}
					if l.who == name {
						m.Role = llm.RoleAssistant
					} else if len(others) > 1 {
						m.Text = "[" + l.who + "]: " + l.text
					}
					req.Messages = append(req.Messages, m)
				}
				got := said(t, name, req)
				heard = append(heard, line{name, got})
				if *update {
					part.Data = []byte(got + "\n")
				} else if diff := cmp.Diff(string(part.Data), got+"\n"); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(arc), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

// TestMarked: no reply can be taken for a real one, and the first says why.
func TestMarked(t *testing.T) {
	first := llm.Request{Messages: []llm.Message{user("hello there")}}
	if got := said(t, "dev", first); !strings.Contains(got, "embedded rehearsal model plays dev") {
		t.Errorf("first reply: %s", got)
	}
	later := llm.Request{Messages: []llm.Message{user("hello there"), {Role: llm.RoleAssistant, Text: "hi"}, user("and now?")}}
	if got := said(t, "dev", later); !strings.HasSuffix(got, "(rehearsal)") || strings.Contains(got, "embedded") {
		t.Errorf("later reply: %s", got)
	}
}

func TestReply(t *testing.T) {
	tests := []struct {
		name string
		req  llm.Request
		has  []string
	}{
		{"whom it heard last", llm.Request{Messages: []llm.Message{user("[jean]: What about naming?"), user("[architect]: Split the package.")}}, []string{"rchitect", "“Split the package”", "jean"}},
		{"you, without labels", llm.Request{Messages: []llm.Message{user("Split the package, please.")}}, []string{"ou ", "“Split the package, please”"}},
		{"what is attached", llm.Request{Messages: []llm.Message{user("Read it.")}, Documents: []llm.Document{{Source: "notes/plan.md", Text: "x"}}}, []string{"`notes/plan.md`"}},
		{"a tool's result", llm.Request{Messages: []llm.Message{user("Count."), {Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "count"}}}, {Role: llm.RoleTool, ToolName: "count", Text: "forty-two files"}}}, []string{"count", "“forty-two files”"}},
		{"nobody", llm.Request{}, []string{"rehearsal"}},
		{"pictures only", llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Images: []llm.Image{{}}}}}, []string{"rehearsal"}},
		{"a sentence that quotes nobody", llm.Request{Messages: []llm.Message{user("You said “no”. I disagree. (rehearsal)")}}, []string{"“I disagree”"}},
		{"only quotes", llm.Request{Messages: []llm.Message{user("“no”")}}, []string{"“no”"}},
		{"braces are text", llm.Request{Messages: []llm.Message{user("what of {name} and {quote}?")}}, []string{"“what of {name} and {quote}?”"}},
		{"control characters", llm.Request{Messages: []llm.Message{user("clear \x1b[2J the\u202e screen")}}, []string{"“clear [2J the screen”"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := said(t, "dev", tt.req)
			for _, want := range tt.has {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in: %s", want, got)
				}
			}
		})
	}
}

// TestVoices: the same words to different speakers get different answers, the
// same speaker says the same again.
func TestVoices(t *testing.T) {
	req := llm.Request{Messages: []llm.Message{user("How should configuration errors be handled at start-up?")}}
	all := map[string]string{}
	for _, name := range []string{"dev", "architect", "reviewer", "triager", "writer", "po", "Élodie", "助手"} {
		got := said(t, name, req)
		if got != said(t, name, req) {
			t.Errorf("%s said it differently the second time", name)
		}
		spoken, _, _ := strings.Cut(got, "\n\n(")
		if other, has := all[spoken]; has {
			t.Errorf("%s and %s say the same: %s", name, other, spoken)
		}
		all[spoken] = name
	}
}

func TestSchemaAnswer(t *testing.T) {
	got := said(t, "dev", llm.Request{
		Messages: []llm.Message{user("Name this talk. Briefly.")},
		Schema:   json.RawMessage(`{"type":"object","properties":{"titles":{"type":"array","minItems":1,"items":{"type":"string"}}},"required":["titles"]}`),
	})
	if want := `{"titles":["Name this talk"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTools(t *testing.T) {
	req := llm.Request{
		Messages: []llm.Message{user("Go."), {Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "one"}}}},
		Tools:    []llm.Tool{{Name: "one"}, {Name: "two", Schema: json.RawMessage(`{"type":"object","required":["a long name of a field"],"properties":{"a long name of a field":{"type":"integer","minimum":3}}}`)}},
	}
	for _, tt := range []struct {
		choice llm.ToolChoice
		want   string
		finish llm.Finish
	}{
		{llm.ToolChoice{}, "", llm.FinishStop},
		{llm.ToolChoice{Mode: llm.ToolNone}, "", llm.FinishStop},
		{llm.ToolChoice{Mode: llm.ToolRequired}, "call_2 one {}", llm.FinishToolCalls},
		{llm.ToolChoice{Mode: llm.ToolNamed, Name: "two"}, `call_2 two {"a long name of a field":3}`, llm.FinishToolCalls},
	} {
		req.ToolChoice = tt.choice
		got := ""
		for c, err := range rehearsal.New("dev").Stream(t.Context(), req) {
			switch {
			case err != nil:
				t.Fatal(err)
			case c.Tool != nil && c.Tool.ID != "":
				got += c.Tool.ID + " " + c.Tool.Name + " " + c.Tool.Arguments
			case c.Tool != nil:
				got += c.Tool.Arguments
			case c.Finish != "" && c.Finish != tt.finish:
				t.Errorf("%v: finish %s", tt.choice, c.Finish)
			}
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.choice, got, tt.want)
		}
	}
	req.ToolChoice = llm.ToolChoice{Mode: llm.ToolNamed, Name: "three"}
	for _, err := range rehearsal.New("dev").Stream(t.Context(), req) {
		if err == nil {
			t.Error("a tool that is not offered was called")
		}
	}
}

// TestAnything: no name and no text makes it panic, fall silent or leave a
// placeholder of its own.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"+++ b/x\n+added line here\n", "[a]: b", "[]: x", "[a\n]: b", "]: ", "“", "...", "\n\n"})).Draw(t, "text")
		name := rapid.String().Draw(t, "name")
		got := said(t, name, llm.Request{System: []string{text}, Messages: []llm.Message{user(text), user("[x]: " + text)}})
		if !strings.Contains(got, "(rehearsal") {
			t.Fatalf("not marked: %q", got)
		}
		for _, p := range []string{"{who}", "{file}", "{line}", "{word}", "{others}", "{tool}", "{brief}"} {
			if strings.Contains(got, p) && !strings.Contains(text+name, p) {
				t.Fatalf("placeholder %s in %q", p, got)
			}
		}
	})
}
