package httpapi

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/scene/pipeline"
)

// payloads are what events carry; nil is text or nothing.
var payloads = map[string]any{
	pipeline.UserMessageCreated: pipeline.CreatedData{}, pipeline.PhaseStatus: pipeline.PhaseData{},
	pipeline.StepStart: pipeline.StepData{}, pipeline.DirectorStart: nil, pipeline.Reasoning: pipeline.ReasoningData{},
	pipeline.DirectorDone: pipeline.DirectorData{}, pipeline.SpeakingPlan: pipeline.PlanData{},
	pipeline.SpeakerStart: pipeline.SpeakerData{}, pipeline.Token: nil, pipeline.WriterDone: pipeline.WriterDoneData{},
	pipeline.DraftUpdate: pipeline.DraftData{}, pipeline.WriterRewrite: pipeline.RewriteData{},
	pipeline.EditorDone: pipeline.EditorDoneData{}, pipeline.Feedback: pipeline.FeedbackData{},
	pipeline.SpeakerDone: pipeline.SpeakerDoneData{}, pipeline.SpeakerFailed: pipeline.SpeakerFailedData{},
	pipeline.Warning: pipeline.ProblemData{}, pipeline.Failed: pipeline.ProblemData{}, pipeline.Done: pipeline.DoneData{},
	eventResync: place{},
}

// TestEventsAreOneSet holds the server's events, their description and the
// page's types to each other: the same names, the same fields.
func TestEventsAreOneSet(t *testing.T) {
	want := map[string][]string{}
	for _, name := range append(pipeline.Names(), eventResync) {
		data, ok := payloads[name]
		if !ok {
			t.Errorf("it is not known here what %s carries", name)
		}
		want[name] = fieldsOf(data)
	}
	names := append(pipeline.Names(), eventResync)
	if n := len(slices.Compact(slices.Sorted(slices.Values(names)))); n != len(payloads) || n != len(names) {
		t.Errorf("%d names, %d payloads", len(names), len(payloads))
	}
	typed := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): (null|string|Placed)(?: & \{ (.*) \})?;$`).FindAllStringSubmatch(section(t, "../../web/src/api/events.ts", "export interface Events {", "}\n"), -1) {
		typed[m[1]] = found(`(\w+)\??: `, m[3])
	}
	if diff := cmp.Diff(want, typed); diff != "" {
		t.Errorf("web/src/api/events.ts (-server +page):\n%s", diff)
	}
	described := section(t, "../../docs/sse.md", "## Events\n", "\n`stage`")
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (.*) \\| (.*)\\|$").FindAllStringSubmatch(described, -1) {
		rows = append(rows, m[1])
		for _, field := range want[m[1]] {
			if !strings.Contains(m[3], "`"+field+"`") {
				t.Errorf("docs/sse.md does not tell of %s of %s", field, m[1])
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(rows))); diff != "" {
		t.Errorf("docs/sse.md (-server +description):\n%s", diff)
	}
}

// fieldsOf are the names of a payload's fields, without those that all have.
func fieldsOf(data any) (names []string) {
	if data == nil || data == any(place{}) {
		return nil
	}
	for f := range reflect.TypeOf(data).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// found are all matches of a group.
func found(pattern, text string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// section is what stands in a file between two texts.
func section(t *testing.T, file, from, to string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), from)
	inside, _, closed := strings.Cut(after, to)
	if !ok || !closed {
		t.Fatalf("%s has no %q … %q", file, from, to)
	}
	return inside
}
