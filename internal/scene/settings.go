package scene

import (
	"encoding/json"
	"slices"
)

// Settings are those of the whole installation, and what a partial update of
// them may name. The JSON names are those of the wire and of the store.
type Settings struct {
	SharedSystemPrompt string `json:"shared_system_prompt" doc:"At the beginning of every call of the Writer"`
	SystemPrompt       string `json:"system_prompt" doc:"Behind the shared one, in every call of this model"`
	UserName           string `json:"user_name" doc:"Who speaks when no persona does"`
	UserDescription    string `json:"user_description" doc:"What models are told about that person"`

	EnableAgent              bool            `json:"enable_agent" doc:"Whether Director, Editor and feedback run at all"`
	EnabledTools             map[string]bool `json:"enabled_tools"` // of tools
	PreventPromptOverrides   bool            `json:"prevent_prompt_overrides" doc:"Leave a card's and a scene's instructions out"`
	DirectorIndividual       bool            `json:"director_individual_fragments" doc:"Ask the Director for one field at a time"`
	AgenticLorebook          bool            `json:"agentic_lorebook_enabled"`
	ReasoningEnabledPasses   map[string]bool `json:"reasoning_enabled_passes"` // director, writer, editor
	ReasoningPrefillPasses   map[string]bool `json:"reasoning_prefill_passes"`
	LengthGuard              bool            `json:"length_guard_enabled" doc:"Let the Editor shorten replies that are too long"`
	LengthGuardEnforce       bool            `json:"length_guard_enforce" doc:"Tell the Writer the limit beforehand"`
	LengthGuardMaxWords      int             `json:"length_guard_max_words"`
	LengthGuardMaxParagraphs int             `json:"length_guard_max_paragraphs"`
	EditorAuditToggles       map[string]bool `json:"editor_audit_toggles"`
	ShowEditorDiff           bool            `json:"show_editor_diff"`
	HideStreamingUntilBaked  bool            `json:"hide_streaming_until_baked"`
	InspectorOpenStates      map[string]bool `json:"inspector_open_states"`
	WorkflowConfig           json.RawMessage `json:"workflow_config"`
	WorkflowsGloballyEnabled bool            `json:"workflows_globally_enabled"`
	WorkflowEnabled          map[string]bool `json:"workflow_enabled"`
	LocalMLEnabled           map[string]bool `json:"local_ml_enabled"`
	AttachmentCacheBudget    int64           `json:"attachment_cache_budget_bytes"`

	ActivePersonaID  *string `json:"active_persona_id" doc:"The persona that counts where none is pinned"`
	ActiveEndpointID *string `json:"active_endpoint_id" doc:"The server that answers"`

	// Connected is set once the first endpoint is made and stays: from then on
	// no model only pretends unless it is chosen by name.
	Connected bool `json:"connected" doc:"An endpoint was made once; from then on nothing only rehearses"`

	AgentSameAsWriter       bool    `json:"agent_same_as_writer" doc:"Let the Writer's model do the agent's work"`
	AgentEndpointID         *string `json:"agent_endpoint_id" doc:"The server of the agent's lane when it is one of its own"`
	AgentSharedSystemPrompt string  `json:"agent_shared_system_prompt"`
}

// tools are the names that EnabledTools may hold.
func tools() []string { return []string{"direct_scene", "editor_apply_patch"} }

// leastCacheBudget is the floor of AttachmentCacheBudget, in bytes.
const leastCacheBudget = 50 << 20

// DefaultSettings are those of a fresh installation.
func DefaultSettings() Settings {
	return Settings{
		UserName:                 "User",
		EnableAgent:              true,
		EnabledTools:             map[string]bool{"direct_scene": true, "editor_apply_patch": true},
		ReasoningEnabledPasses:   map[string]bool{"director": false, "writer": false, "editor": false},
		ReasoningPrefillPasses:   map[string]bool{},
		LengthGuardMaxWords:      240,
		LengthGuardMaxParagraphs: 4,
		EditorAuditToggles:       map[string]bool{},
		InspectorOpenStates:      map[string]bool{},
		WorkflowConfig:           json.RawMessage("{}"),
		WorkflowsGloballyEnabled: true,
		WorkflowEnabled:          map[string]bool{},
		LocalMLEnabled:           map[string]bool{},
		AttachmentCacheBudget:    500 << 20,
		AgentSameAsWriter:        true,
	}
}

// Rehearses tells whether no model was ever connected, so that the embedded one
// answers. An endpoint that is gone is an error, never a rehearsal. A server
// whose key is in the environment is no connection until a model of it is
// named.
func (s Settings) Rehearses(endpoints []Endpoint) bool {
	named := slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.WriterConfig != nil })
	return !s.Connected && !named && s.ActiveEndpointID == nil
}
