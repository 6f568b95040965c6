package pipeline_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

func same(text string) string { return text }

// parlour is a group with moods and with fragments of every type.
func parlour() scene.Snapshot {
	return scene.Snapshot{
		Conversation: scene.Conversation{ID: "c", Kind: scene.Group, Title: "Parlour", TurnMode: scene.Director, MaxSpeakers: 3},
		Settings:     scene.DefaultSettings(),
		Members:      troupe(),
		Moods: []scene.Mood{
			{ID: "calm", Label: "Calm", Description: "when nobody is\nin a hurry", Prompt: "Let the pauses speak to {{user}}.", NegativePrompt: "The quiet is over.", Enabled: true},
			{ID: "stormy", Label: "Stormy", Prompt: "{{random::Thunder::Hail}} over {{char}}.", NegativePrompt: "The sky clears.", Enabled: true, Cooldown: 3},
		},
		Fragments: []scene.Fragment{
			{ID: "pacing", Label: "Pacing", Description: "How fast, for \"{{user}}\"?", Type: "string", Required: true, Enabled: true, Heading: "Tempo of {{char}}"},
			{ID: "beats", Label: "Beats", Description: "What happens & <where>", Type: "array", Enabled: true, Order: 1, Cooldown: 2},
			{ID: "tone", Label: "Tone", Type: "feedback", Enabled: true, Order: 2},
			{ID: "tidy", Label: "Tidy", Description: "Tidy up.", Type: "post_processing", Enabled: true, Order: 3},
			{ID: "place", Label: "Place", Type: "state", Enabled: true, Order: 4},
			{ID: "fork", Label: "Fork", Type: "decision", Enabled: true, Order: 5},
		},
	}
}

func TestTools(t *testing.T) {
	solo := scene.Snapshot{Conversation: scene.Conversation{Kind: scene.Solo}}
	plain := parlour()
	plain.Fragments = nil
	golden(t, "testdata/tools.txtar", map[string]string{
		"solo":                    tooling(pipeline.Tools(solo, same)),
		"group":                   tooling(pipeline.Tools(plain, same)),
		"group, with fragments":   tooling(pipeline.Tools(parlour(), strings.ToUpper)),
		"how to answer by tool":   demands(pipeline.ByTool),
		"how to answer with JSON": demands(pipeline.BySchema),
	})
}

func tooling(tools []llm.Tool) string {
	var b strings.Builder
	for _, t := range tools {
		b.WriteString(t.Name + ": " + t.Description + "\n" + string(t.Schema) + "\n")
	}
	return b.String()
}

func demands(f pipeline.Forcing) (all string) {
	for _, t := range pipeline.Tools(parlour(), same) {
		all += pipeline.Demand(pipeline.Lane{Forcing: f}, t) + "\n\n"
	}
	return strings.TrimSuffix(all, "\n")
}

// Every schema is one, and fits strict modes: an object without other fields,
// all of them required.
func TestSchemas(t *testing.T) {
	var names []string
	for _, tool := range pipeline.Tools(parlour(), same) {
		names = append(names, tool.Name)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.Schema))
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("tool.json", v); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Compile("tool.json"); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
		strict(t, tool.Name, v)
	}
	want := []string{"direct_scene", "editor_apply_patch", "editor_rewrite", "apply_find_replace", "give_feedback", "update_character_sheet"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func strict(t *testing.T, at string, schema any) {
	o, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if properties, ok := o["properties"].(map[string]any); ok {
		var required []string
		for _, r := range o["required"].([]any) {
			required = append(required, r.(string))
		}
		slices.Sort(required)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(properties)), required); diff != "" || o["additionalProperties"] != false {
			t.Errorf("%s is open (-properties +required)\n%s", at, diff)
		}
		for name, p := range properties {
			strict(t, at+"."+name, p)
		}
	}
	strict(t, at+"[]", o["items"])
}

// Nothing but the fragments changes the tools, so that they can stand before
// everything else in a cache.
func TestToolsStay(t *testing.T) {
	want := tooling(pipeline.Tools(parlour(), same))
	for name, change := range map[string]func(*scene.Snapshot){
		"muted": func(s *scene.Snapshot) { s.Members[0].Muted = true },
		"left":  func(s *scene.Snapshot) { s.Members = s.Members[1:] },
		"mode": func(s *scene.Snapshot) {
			s.Conversation.TurnMode, s.Conversation.ContextMode = scene.Manual, scene.Shared
		},
		"most":         func(s *scene.Snapshot) { s.Conversation.MaxSpeakers = 8 },
		"sheets":       func(s *scene.Snapshot) { s.Conversation.SheetUpdates = true },
		"title":        func(s *scene.Snapshot) { s.Conversation.Title = "Attic" },
		"moods":        func(s *scene.Snapshot) { s.Moods = nil },
		"cooldowns":    func(s *scene.Snapshot) { s.Director.Cooldowns = map[string]int{"pacing": 2} },
		"agent":        func(s *scene.Snapshot) { s.Settings.EnableAgent, s.Settings.EnabledTools = false, nil },
		"one by one":   func(s *scene.Snapshot) { s.Settings.DirectorIndividual = true },
		"idle ones":    func(s *scene.Snapshot) { s.Fragments = s.Fragments[:6] },
		"phrase bank":  func(s *scene.Snapshot) { s.Phrases = []scene.Phrase{{ID: "x"}} },
		"length guard": func(s *scene.Snapshot) { s.Settings.LengthGuard = true },
	} {
		s := parlour()
		change(&s)
		if diff := cmp.Diff(want, tooling(pipeline.Tools(s, same))); diff != "" {
			t.Errorf("%s changes the tools (-want +got)\n%s", name, diff)
		}
	}
}

// Forcing leaves all that stands before the trailing message as the Writer
// sends it.
func TestForce(t *testing.T) {
	tools := pipeline.Tools(parlour(), same)
	req := llm.Request{Model: "m", System: []string{"s"}, Messages: []llm.Message{{Role: llm.RoleUser, Text: "t"}}, Schema: json.RawMessage(`{}`)}
	type shape struct {
		Tools  int
		Choice llm.ToolChoice
		Schema string
	}
	of := func(r llm.Request) shape { return shape{len(r.Tools), r.ToolChoice, string(r.Schema)} }
	byTool, bySchema := pipeline.Lane{Forcing: pipeline.ByTool}, pipeline.Lane{Forcing: pipeline.BySchema}
	for name, c := range map[string]struct {
		got  llm.Request
		want shape
	}{
		"prose":            {pipeline.Ship(byTool, tools, req), shape{6, llm.ToolChoice{Mode: llm.ToolNone}, ""}},
		"prose, no tools":  {pipeline.Ship(byTool, nil, req), shape{}},
		"prose by schema":  {pipeline.Ship(bySchema, tools, req), shape{}},
		"forced":           {pipeline.Force(byTool, tools, req, "editor_rewrite"), shape{6, llm.ToolChoice{Mode: llm.ToolNamed, Name: "editor_rewrite"}, ""}},
		"forced by schema": {pipeline.Force(bySchema, tools, req, "editor_rewrite"), shape{0, llm.ToolChoice{}, string(tools[2].Schema)}},
	} {
		if diff := cmp.Diff(c.want, of(c.got)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if diff := cmp.Diff([]any{req.Model, req.System, req.Messages}, []any{c.got.Model, c.got.System, c.got.Messages}); diff != "" {
			t.Errorf("%s changes what is sent (-want +got)\n%s", name, diff)
		}
	}
}
