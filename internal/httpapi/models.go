package httpapi

import (
	"context"
	"net/http"

	"jp/internal/scene"
)

func (a *api) models() {
	route(a, http.MethodGet, "/endpoints/{id}/models", "list-models", "List an endpoint's model configs", a.listModels)
	route(a, http.MethodPost, "/endpoints/{id}/models", "create-model", "Add a model config", a.createModel)
	route(a, http.MethodPut, "/models/{id}", "change-model", "Change fields of a model config", a.changeModel)
	route(a, http.MethodDelete, "/models/{id}", "delete-model", "Delete a model config", a.deleteModel)
}

// Model is a model of an endpoint with its parameters; null is not sent.
type Model struct {
	ID                string   `json:"id"`
	EndpointID        string   `json:"endpoint_id"`
	Lane              string   `json:"role" enum:"writer,agent"`
	Model             string   `json:"model_name" doc:"As the server knows it"`
	SystemPrompt      string   `json:"system_prompt" doc:"Behind the shared one, in every call of this model"`
	Temperature       *float64 `json:"temperature"`
	MinP              *float64 `json:"min_p"`
	TopK              *int     `json:"top_k"`
	TopP              *float64 `json:"top_p"`
	RepetitionPenalty *float64 `json:"repetition_penalty"`
	MaxTokens         *int     `json:"max_tokens" doc:"The longest answer; null leaves it to the server"`
	ContextSize       *int     `json:"context_size"`
	ReasoningEffort   string   `json:"reasoning_effort" doc:"off, low, medium, high, or a word of the server; empty leaves it to the server"`
	ReasoningParam    string   `json:"reasoning_effort_param" doc:"A field of requests that sets the effort where the usual one does not"`
	ReasoningValue    string   `json:"reasoning_effort_value" doc:"What stands in that field"`
	ExtraHeaders      string   `json:"extra_headers" doc:"Lines of Name: value"`
	ExtraBody         string   `json:"extra_body" doc:"A JSON object"`
}

func wireModel(m scene.ModelConfig) Model {
	return Model{
		ID: m.ID, EndpointID: m.EndpointID, Lane: string(m.Lane), Model: m.Model, SystemPrompt: m.SystemPrompt,
		Temperature: m.Temperature, MinP: m.MinP, TopK: m.TopK, TopP: m.TopP, RepetitionPenalty: m.RepetitionPenalty,
		MaxTokens: m.MaxTokens, ContextSize: m.ContextSize, ReasoningEffort: m.ReasoningEffort, ReasoningParam: m.ReasoningParam,
		ReasoningValue: m.ReasoningValue, ExtraHeaders: m.ExtraHeaders, ExtraBody: m.ExtraBody,
	}
}

// ModelChange is a partial update: an absent number stays, null takes it out of
// requests.
type ModelChange struct {
	Model             Opt[string]  `json:"model_name,omitzero" doc:"As the server knows it"`
	SystemPrompt      Opt[string]  `json:"system_prompt,omitzero" doc:"Behind the shared one, in every call of this model"`
	Temperature       Opt[float64] `json:"temperature,omitzero"`
	MinP              Opt[float64] `json:"min_p,omitzero"`
	TopK              Opt[int]     `json:"top_k,omitzero"`
	TopP              Opt[float64] `json:"top_p,omitzero"`
	RepetitionPenalty Opt[float64] `json:"repetition_penalty,omitzero"`
	MaxTokens         Opt[int]     `json:"max_tokens,omitzero" doc:"The longest answer; null leaves it to the server"`
	ContextSize       Opt[int]     `json:"context_size,omitzero" doc:"Tokens that the model holds; without it the server is asked where it tells"`
	ReasoningEffort   Opt[string]  `json:"reasoning_effort,omitzero" doc:"off, low, medium, high, or a word of the server; empty leaves it to the server"`
	ReasoningParam    Opt[string]  `json:"reasoning_effort_param,omitzero" doc:"A field of requests that sets the effort where the usual one does not"`
	ReasoningValue    Opt[string]  `json:"reasoning_effort_value,omitzero" doc:"What stands in that field"`
	ExtraHeaders      Opt[string]  `json:"extra_headers,omitzero" doc:"Lines \"Name: value\", sent with every request; they can be read again, so keys belong into api_key"`
	ExtraBody         Opt[string]  `json:"extra_body,omitzero" doc:"A JSON object that is merged into every request"`
}

// NewModel is what creating a model config takes: absent numbers are the
// ordinary ones.
type NewModel struct {
	Lane Enum[scene.Lane] `json:"role,omitzero" enum:"writer,agent"`
	ModelChange
}

func (a *api) listModels(ctx context.Context, in *ByID) (*body[[]Model], error) {
	ms, err := a.Scenes.Models(ctx, in.ID)
	return results(ms, err, wireModel)
}

func (a *api) createModel(ctx context.Context, in *struct {
	ByID
	Body NewModel
}) (*body[Model], error) {
	b := in.Body
	m := scene.DefaultModel(in.ID, or(b.Lane.Opt, scene.LaneWriter))
	m.Model, m.SystemPrompt = b.Model.V, b.SystemPrompt.V
	m.Temperature = orNull(b.Temperature, m.Temperature)
	m.MinP = orNull(b.MinP, m.MinP)
	m.TopK = orNull(b.TopK, m.TopK)
	m.TopP = orNull(b.TopP, m.TopP)
	m.RepetitionPenalty = orNull(b.RepetitionPenalty, m.RepetitionPenalty)
	m.MaxTokens = orNull(b.MaxTokens, m.MaxTokens)
	m.ContextSize = orNull(b.ContextSize, m.ContextSize)
	m.ReasoningEffort, m.ReasoningParam, m.ReasoningValue = b.ReasoningEffort.V, b.ReasoningParam.V, b.ReasoningValue.V
	m.ExtraHeaders, m.ExtraBody = b.ExtraHeaders.V, b.ExtraBody.V
	made, err := a.Scenes.CreateModel(ctx, m)
	return resulting(made, err, wireModel)
}

func (a *api) changeModel(ctx context.Context, in *struct {
	ByID
	Body ModelChange
}) (*body[Model], error) {
	b := in.Body
	m, err := a.Scenes.ChangeModel(ctx, in.ID, scene.ModelChange{
		Model: value(b.Model), SystemPrompt: value(b.SystemPrompt), Temperature: clearable(b.Temperature),
		MinP: clearable(b.MinP), TopK: clearable(b.TopK), TopP: clearable(b.TopP),
		RepetitionPenalty: clearable(b.RepetitionPenalty), MaxTokens: clearable(b.MaxTokens), ContextSize: clearable(b.ContextSize),
		ReasoningEffort: value(b.ReasoningEffort), ReasoningParam: value(b.ReasoningParam),
		ReasoningValue: value(b.ReasoningValue), ExtraHeaders: value(b.ExtraHeaders), ExtraBody: value(b.ExtraBody),
	})
	return resulting(m, err, wireModel)
}

func (a *api) deleteModel(ctx context.Context, in *ByID) (*body[Done], error) {
	return done(), a.Scenes.DeleteModel(ctx, in.ID)
}
