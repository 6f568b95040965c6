package scene_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// patch changes the settings.
func patch(t failing, s *scene.Service, object string) scene.Settings {
	t.Helper()
	set, err := s.ChangeSettings(context.Background(), json.RawMessage(object))
	return ok(t, set, err)
}

func TestChangeSettings(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		patch string
		want  func(*scene.Settings)
	}{
		"nothing":    {`{}`, func(*scene.Settings) {}},
		"unknown":    {`{"nobody":"knows","api_key":"secret"}`, func(*scene.Settings) {}},
		"one field":  {`{"user_name":"Jean"}`, func(s *scene.Settings) { s.UserName = "Jean" }},
		"null stays": {`{"user_name":null,"enable_agent":null,"enabled_tools":null,"length_guard_max_words":null,"workflow_config":null}`, func(*scene.Settings) {}},
		"flags":      {`{"enable_agent":0,"length_guard_enabled":1,"show_editor_diff":true}`, func(s *scene.Settings) { s.EnableAgent, s.LengthGuard, s.ShowEditorDiff = false, true, true }},
		"numbers": {`{"length_guard_max_words":1,"length_guard_max_paragraphs":99,"attachment_cache_budget_bytes":52428800}`, func(s *scene.Settings) {
			s.LengthGuardMaxWords, s.LengthGuardMaxParagraphs, s.AttachmentCacheBudget = 1, 99, 50<<20
		}},
		"one tool":     {`{"enabled_tools":{"direct_scene":false}}`, func(s *scene.Settings) { s.EnabledTools["direct_scene"] = false }},
		"odd tools":    {`{"enabled_tools":{"rm":true,"editor_apply_patch":0}}`, func(s *scene.Settings) { s.EnabledTools["editor_apply_patch"] = false }},
		"key removed":  {`{"enabled_tools":{"direct_scene":null}}`, func(s *scene.Settings) { delete(s.EnabledTools, "direct_scene") }},
		"passes":       {`{"reasoning_enabled_passes":{"writer":1}}`, func(s *scene.Settings) { s.ReasoningEnabledPasses["writer"] = true }},
		"any map":      {`{"inspector_open_states":{"lore <b>":true}}`, func(s *scene.Settings) { s.InspectorOpenStates["lore <b>"] = true }},
		"raw":          {`{"workflow_config":{"tts":{"speed": 1.50}}}`, func(s *scene.Settings) { s.WorkflowConfig = json.RawMessage(`{"tts":{"speed":1.50}}`) }},
		"empty id":     {`{"active_persona_id":"","agent_endpoint_id":null}`, func(*scene.Settings) {}},
		"empty object": {`{"enabled_tools":{}}`, func(*scene.Settings) {}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			want := scene.DefaultSettings()
			c.want(&want)
			if diff := cmp.Diff(want, patch(t, s, c.patch)); diff != "" {
				t.Errorf("answered (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(want, must(s.Settings(ctx))); diff != "" {
				t.Errorf("stored (-want +got)\n%s", diff)
			}
		})
	}
}

// Every field that goes out can come in, and what came in goes out: a client
// may send back all that it got.
func TestSettingsRoundTrip(t *testing.T) {
	s := newService(t)
	before := patch(t, s, `{"workflow_config":{"a":{"b":1}},"show_editor_diff":true}`)
	all, err := json.Marshal(before)
	ok(t, 0, err)
	if diff := cmp.Diff(before, patch(t, s, string(all))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A value that does not fit is named, and nothing else of its patch applies.
func TestChangeSettingsRefuses(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	for field, values := range map[string][]string{
		"user_name":                     {`1`, `{}`, `true`},
		"enable_agent":                  {`"true"`, `2`, `[]`},
		"enabled_tools":                 {`[]`, `"x"`, `{"direct_scene":"yes"}`, `true`},
		"workflow_config":               {`[]`, `"x"`},
		"length_guard_max_words":        {`0`, `-5`, `1.5`, `"9"`, `1e99`},
		"length_guard_max_paragraphs":   {`0`},
		"attachment_cache_budget_bytes": {`52428799`, `-1`, `99999999999999999999`},
		"active_persona_id":             {`7`, `{}`},
	} {
		for _, v := range values {
			_, err := s.ChangeSettings(ctx, json.RawMessage(`{"system_prompt":"lost","`+field+`":`+v+`}`))
			misfit(t, err, field)
		}
	}
	for _, text := range []string{
		``, `null`, `[]`, `"x"`, `{"user_name":`, `{"active_persona_id":"nobody"}`, `{"active_endpoint_id":"none"}`, `{"agent_endpoint_id":"none"}`,
	} {
		_, err := s.ChangeSettings(ctx, json.RawMessage(text))
		refuse(t, err, fault.Invalid)
	}
	if diff := cmp.Diff(scene.DefaultSettings(), must(s.Settings(ctx))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSettingsNameWhatExists(t *testing.T) {
	ctx := context.Background()
	s := standing(t)
	p, e := must(s.CreatePersona(ctx, scene.Persona{Name: "Me"})), must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://localhost:8080/v1"}))
	set := patch(t, s, `{"active_persona_id":"`+p.ID+`","active_endpoint_id":"`+e.ID+`","agent_endpoint_id":"env:openai"}`)
	if *set.ActivePersonaID != p.ID || *set.ActiveEndpointID != e.ID || *set.AgentEndpointID != "env:openai" {
		t.Errorf("got %+v", set)
	}
	// The environment changes between starts; other settings can be changed still.
	later := serviceOn(s.Store)
	if set := patch(t, later, `{"user_name":"Jean"}`); set.AgentEndpointID == nil {
		t.Error("an endpoint that is away was forgotten")
	}
	if set := patch(t, later, `{"agent_endpoint_id":null}`); set.AgentEndpointID != nil {
		t.Error("null did not clear")
	}
}
