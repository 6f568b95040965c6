package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"jp/internal/scene"
)

func (a *api) settings() {
	route(a, http.MethodGet, "/settings", "get-settings", "Read the settings", a.getSettings)
	route(a, http.MethodPut, "/settings", "change-settings", "Change some of the settings", a.changeSettings)
}

// Settings are those that are stored, with what follows from the endpoints in
// use.
type Settings struct {
	scene.Settings
	Rehearsing bool `json:"rehearsing" doc:"No endpoint was ever configured: only the embedded rehearsal model answers"`

	URL               *string  `json:"endpoint_url"`
	KeySet            bool     `json:"api_key_set"`
	Model             *string  `json:"model_name"`
	Temperature       *float64 `json:"temperature"`
	MinP              *float64 `json:"min_p"`
	TopK              *int     `json:"top_k"`
	TopP              *float64 `json:"top_p"`
	RepetitionPenalty *float64 `json:"repetition_penalty"`
	MaxTokens         *int     `json:"max_tokens"`
	ReasoningEffort   string   `json:"reasoning_effort"`

	// Those of the agent's lane are there when it has an endpoint of its own.
	AgentURL               *string  `json:"agent_endpoint_url,omitempty"`
	AgentKeySet            *bool    `json:"agent_api_key_set,omitempty"`
	AgentModel             *string  `json:"agent_model_name,omitempty"`
	AgentTemperature       *float64 `json:"agent_temperature,omitempty"`
	AgentMinP              *float64 `json:"agent_min_p,omitempty"`
	AgentTopK              *int     `json:"agent_top_k,omitempty"`
	AgentTopP              *float64 `json:"agent_top_p,omitempty"`
	AgentRepetitionPenalty *float64 `json:"agent_repetition_penalty,omitempty"`
	AgentMaxTokens         *int     `json:"agent_max_tokens,omitempty"`
	AgentReasoningEffort   *string  `json:"agent_reasoning_effort,omitempty"`
}

func (a *api) getSettings(ctx context.Context, _ *struct{}) (*body[Settings], error) {
	s, err := a.Scenes.Settings(ctx)
	if err != nil {
		return nil, err
	}
	return a.overlaid(ctx, s)
}

// overlaid adds what the endpoints in use say.
func (a *api) overlaid(ctx context.Context, s scene.Settings) (*body[Settings], error) {
	all, err := a.Scenes.Endpoints(ctx)
	if err != nil {
		return nil, err
	}
	out := Settings{Settings: s, Rehearsing: s.Rehearses(all)}
	if e, ok := scene.InUse(all, s.ActiveEndpointID); ok {
		m, err := a.config(ctx, e, e.WriterConfig)
		if err != nil {
			return nil, err
		}
		out.URL, out.KeySet, out.Model = &e.URL, e.Key != "", &m.Model
		out.Temperature, out.MinP, out.TopK, out.TopP = m.Temperature, m.MinP, m.TopK, m.TopP
		out.RepetitionPenalty, out.MaxTokens, out.ReasoningEffort = m.RepetitionPenalty, m.MaxTokens, m.ReasoningEffort
	}
	if e, ok := scene.InUse(all, s.AgentEndpointID); ok && !s.AgentSameAsWriter {
		m, err := a.config(ctx, e, e.AgentConfig)
		if err != nil {
			return nil, err
		}
		keySet := e.Key != ""
		out.AgentURL, out.AgentKeySet, out.AgentModel = &e.URL, &keySet, &m.Model
		out.AgentTemperature, out.AgentMinP, out.AgentTopK, out.AgentTopP = m.Temperature, m.MinP, m.TopK, m.TopP
		out.AgentRepetitionPenalty, out.AgentMaxTokens, out.AgentReasoningEffort = m.RepetitionPenalty, m.MaxTokens, &m.ReasoningEffort
	}
	return &body[Settings]{out}, nil
}

// config is a model config of an endpoint, the zero one when there is none.
func (a *api) config(ctx context.Context, e scene.Endpoint, id *string) (scene.ModelConfig, error) {
	configs, err := a.Scenes.Models(ctx, e.ID)
	for _, m := range configs {
		if id != nil && m.ID == *id {
			return m, nil
		}
	}
	return scene.ModelConfig{}, err
}

// Switches are merged name by name. Null takes a name out.
type Switches map[string]json.RawMessage

// SettingsChange is a partial update. Null clears the references and leaves
// all else alone.
type SettingsChange struct {
	SharedSystemPrompt Opt[string] `json:"shared_system_prompt,omitzero"`
	SystemPrompt       Opt[string] `json:"system_prompt,omitzero"`
	UserName           Opt[string] `json:"user_name,omitzero"`
	UserDescription    Opt[string] `json:"user_description,omitzero"`

	EnableAgent              Opt[Flag]            `json:"enable_agent,omitzero"`
	EnabledTools             Opt[Switches]        `json:"enabled_tools,omitzero" doc:"Unknown names are dropped"`
	PreventPromptOverrides   Opt[Flag]            `json:"prevent_prompt_overrides,omitzero"`
	DirectorIndividual       Opt[Flag]            `json:"director_individual_fragments,omitzero"`
	AgenticLorebook          Opt[Flag]            `json:"agentic_lorebook_enabled,omitzero"`
	ReasoningEnabledPasses   Opt[Switches]        `json:"reasoning_enabled_passes,omitzero"`
	ReasoningPrefillPasses   Opt[Switches]        `json:"reasoning_prefill_passes,omitzero"`
	LengthGuard              Opt[Flag]            `json:"length_guard_enabled,omitzero"`
	LengthGuardEnforce       Opt[Flag]            `json:"length_guard_enforce,omitzero"`
	LengthGuardMaxWords      Opt[int]             `json:"length_guard_max_words,omitzero"`
	LengthGuardMaxParagraphs Opt[int]             `json:"length_guard_max_paragraphs,omitzero"`
	EditorAuditToggles       Opt[Switches]        `json:"editor_audit_toggles,omitzero"`
	ShowEditorDiff           Opt[Flag]            `json:"show_editor_diff,omitzero"`
	HideStreamingUntilBaked  Opt[Flag]            `json:"hide_streaming_until_baked,omitzero"`
	InspectorOpenStates      Opt[Switches]        `json:"inspector_open_states,omitzero"`
	WorkflowConfig           Opt[json.RawMessage] `json:"workflow_config,omitzero" doc:"An object"`
	WorkflowsGloballyEnabled Opt[Flag]            `json:"workflows_globally_enabled,omitzero"`
	WorkflowEnabled          Opt[Switches]        `json:"workflow_enabled,omitzero"`
	LocalMLEnabled           Opt[Switches]        `json:"local_ml_enabled,omitzero"`
	AttachmentCacheBudget    Opt[int64]           `json:"attachment_cache_budget_bytes,omitzero"`

	ActivePersonaID  Opt[string] `json:"active_persona_id,omitzero"`
	ActiveEndpointID Opt[string] `json:"active_endpoint_id,omitzero"`

	AgentSameAsWriter       Opt[Flag]   `json:"agent_same_as_writer,omitzero"`
	AgentEndpointID         Opt[string] `json:"agent_endpoint_id,omitzero"`
	AgentSharedSystemPrompt Opt[string] `json:"agent_shared_system_prompt,omitzero"`
}

func (a *api) changeSettings(ctx context.Context, in *struct{ Body SettingsChange }) (*body[Settings], error) {
	if err := anObject(in.Body.WorkflowConfig.V, "workflow_config"); err != nil {
		return nil, err
	}
	patch, err := json.Marshal(in.Body)
	if err != nil {
		return nil, err
	}
	s, err := a.Scenes.ChangeSettings(ctx, patch)
	if err != nil {
		return nil, err
	}
	return a.overlaid(ctx, s)
}
