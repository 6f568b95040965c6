package projection_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/projection"
)

var ids = []string{"dev", "architect", "reviewer"}

// history draws a conversation in which every text names its kind and place,
// so that a property can say where a text came from.
func history(t *rapid.T) []projection.Line {
	n := rapid.IntRange(0, 25).Draw(t, "lines")
	lines := make([]projection.Line, n)
	for i := range lines {
		l := projection.Line{
			Kind: rapid.SampledFrom([]projection.Kind{projection.Request, projection.Text, projection.Reasoning,
				projection.ToolCall, projection.ToolResult, projection.Note}).Draw(t, "kind"),
			Speaker:  rapid.SampledFrom(ids).Draw(t, "speaker"),
			Answers:  rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "answers"),
			Provider: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "provider"),
		}
		prefix := rapid.SampledFrom([]string{"", "[dev]: ", "[jean]:\n", "\n", "x\n [Architect]: "}).Draw(t, "prefix")
		l.Text = fmt.Sprintf("%s%s#%d", prefix, l.Kind, i)
		switch l.Kind {
		case projection.Request:
			l.Human, l.ID, l.Answers = true, rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "id"), ""
			l.Speaker = rapid.SampledFrom([]string{"", "jean", "[jean]", "dev", "marie"}).Draw(t, "author")
			if rapid.IntRange(0, 9).Draw(t, "limited") == 0 {
				l.Only = []string{rapid.SampledFrom(ids).Draw(t, "only")}
			}
		case projection.Text, projection.Reasoning:
			l.Incomplete = rapid.Bool().Draw(t, "incomplete")
		case projection.ToolCall:
			l.Text = ""
			l.Call = llm.ToolCall{ID: rapid.SampledFrom([]string{"c1", "c2"}).Draw(t, "call"), Name: "ls",
				Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}
		case projection.ToolResult:
			l.Call = llm.ToolCall{ID: rapid.SampledFrom([]string{"c1", "c2"}).Draw(t, "call"), Name: "ls"}
		}
		lines[i] = l
	}
	return lines
}

func seat(id string) projection.Seat {
	return projection.Seat{Speaker: id, Provider: "a", Answering: "r2", Known: ids}
}

func TestDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := history(t)
		before := slices.Clone(lines)
		a, b := projection.Project(lines, seat("dev")), projection.Project(lines, seat("dev"))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(before, lines); diff != "" {
			t.Fatal("the lines changed", diff)
		}
	})
}

func TestFitToSend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := projection.Project(history(t), seat("dev"))
		m := v.Messages
		if len(m) == 0 || m[len(m)-1].Role == llm.RoleAssistant {
			t.Fatalf("nobody could answer %+v", m)
		}
		for i := 0; i < len(m); i++ {
			switch {
			case m[i].Role == llm.RoleTool:
				t.Fatalf("a result without its call: %+v", m[i])
			case strings.TrimSpace(m[i].Text) == "" && len(m[i].ToolCalls) == 0:
				t.Fatalf("blank message %+v", m[i])
			case m[i].Role == llm.RoleAssistant && i > 0 && m[i-1].Role == llm.RoleAssistant:
				t.Fatal("own lines did not fold")
			}
			seen := map[string]bool{}
			for range m[i].ToolCalls {
				call := m[i].ToolCalls[len(seen)]
				r := m[i+len(seen)+1]
				if r.Role != llm.RoleTool || r.ToolCall != call.ID || seen[call.ID] {
					t.Fatalf("call %s is answered by %+v", call.ID, r)
				}
				seen[call.ID] = true
			}
			i += len(seen)
		}
	})
}

// unescape takes off what labelling adds to a line's text.
func unescape(s string) string { return strings.ReplaceAll(s, `\[`, "[") }

func TestTextSurvivesAndNothingLeaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := history(t)
		v := projection.Project(lines, seat("dev"))
		var users, own []string
		for _, m := range v.Messages {
			switch m.Role {
			case llm.RoleUser:
				users = append(users, unescape(m.Text))
			case llm.RoleAssistant:
				own = append(own, m.Text)
				for _, r := range strings.Split(m.Reasoning, "\n\n") {
					if r != "" && !slices.ContainsFunc(lines, func(l projection.Line) bool {
						return l.Speaker == "dev" && l.Kind == projection.Reasoning && l.Provider == "a" && strings.Contains(l.Text, strings.TrimSpace(r))
					}) {
						t.Fatalf("reasoning %q is not dev's", r)
					}
				}
			}
		}
		all := strings.Join(append(users, own...), "\x00")
		for i, l := range lines {
			mark := fmt.Sprintf("%s#%d", l.Kind, i)
			held := slices.ContainsFunc(strings.FieldsFunc(all, func(r rune) bool { return strings.ContainsRune("\x00\n ]:[", r) }),
				func(w string) bool { return w == mark })
			switch l.Kind {
			case projection.Reasoning, projection.ToolCall, projection.ToolResult:
				if held {
					t.Fatalf("%s is shown as text", mark)
				}
			case projection.Request:
				if want := l.Only == nil || l.Only[0] == "dev"; held != want {
					t.Fatalf("%s shown: %v, want %v", mark, held, want)
				}
			case projection.Note:
				if !held {
					t.Fatalf("%s is lost", mark)
				}
			case projection.Text:
				if l.Speaker == "dev" && held && !slices.ContainsFunc(own, func(s string) bool { return strings.Contains(s, l.Text) }) {
					t.Fatalf("dev's own %q changed", l.Text)
				}
				if l.Speaker == "dev" && !l.Incomplete && !held {
					t.Fatalf("dev's own %q is lost", l.Text)
				}
			}
		}
	})
}

// Whoever asks, a text carries the same label, if any.
func TestLabelsDependOnTheAuthorOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := history(t)
		labels := map[string]string{}
		for _, id := range ids {
			v := projection.Project(lines, seat(id))
			if (len(v.Labels) > 0) != (v.Own != "") || len(v.Labels) > 0 && v.Own != id {
				t.Fatalf("labels %q, own %q", v.Labels, v.Own)
			}
			for _, m := range v.Messages {
				mark := m.Text[strings.LastIndexAny(m.Text, " \n")+1:]
				if m.Role != llm.RoleUser || v.Labels == nil || !strings.HasPrefix(mark, "request#") && !strings.HasPrefix(mark, "text#") {
					continue
				}
				label, _, ok := strings.Cut(m.Text, "]: ")
				if !ok || !slices.Contains(v.Labels, label[1:]) {
					t.Fatalf("%q carries none of %q", m.Text, v.Labels)
				}
				if was, ok := labels[mark]; ok && was != label {
					t.Fatalf("%s is by %q and by %q", mark, was, label)
				}
				labels[mark] = label
			}
		}
	})
}

func long(n int) []projection.Line {
	lines := make([]projection.Line, 0, n)
	for i := 0; len(lines) < n; i++ {
		r := fmt.Sprint("r", i)
		who := ids[i%len(ids)]
		call := llm.ToolCall{ID: "c1", Name: "ls", Arguments: json.RawMessage(`{}`)}
		lines = append(lines,
			projection.Line{Kind: projection.Request, Human: true, Speaker: "jean", ID: r, Text: "please look at [this]: it fails"},
			projection.Line{Kind: projection.Reasoning, Speaker: who, Answers: r, Provider: "a", Text: "hm"},
			projection.Line{Kind: projection.ToolCall, Speaker: who, Answers: r, Call: call},
			projection.Line{Kind: projection.ToolResult, Speaker: who, Answers: r, Call: call, Text: "ok"},
			projection.Line{Kind: projection.Text, Speaker: who, Answers: r, Text: strings.Repeat("all work and no play\n", 20)})
	}
	return lines
}

// One voice's unbroken lines, one id called for ever, one name for everybody:
// none of it may cost more than its length. Anything quadratic runs into the
// test binary's time limit.
func TestHostileHistory(t *testing.T) {
	const n = 100_000
	lines := make([]projection.Line, 0, 4*n)
	for i := range n {
		lines = append(lines, projection.Line{Kind: projection.Text, Speaker: "dev", Answers: "r1", Text: "word"},
			projection.Line{Kind: projection.ToolCall, Speaker: "dev", Answers: "r1", Call: llm.ToolCall{ID: fmt.Sprint(i)}})
	}
	for range n {
		lines = append(lines, projection.Line{Kind: projection.ToolCall, Speaker: "dev", Answers: "r1", Call: llm.ToolCall{ID: "c"}})
	}
	for i := range n {
		lines = append(lines, projection.Line{Kind: projection.ToolResult, Speaker: "dev", Answers: "r1", Call: llm.ToolCall{ID: fmt.Sprint(i)}})
	}
	for i := range n {
		lines = append(lines, projection.Line{Kind: projection.Request, Human: true, Speaker: fmt.Sprint("h", i), Text: "x"})
	}
	if v := projection.Project(lines, seat("dev")); len(v.Messages) < n {
		t.Fatal("messages are missing")
	}
}

func BenchmarkProject(b *testing.B) {
	lines := long(100_000)
	for b.Loop() {
		projection.Project(lines, seat("dev"))
	}
}
