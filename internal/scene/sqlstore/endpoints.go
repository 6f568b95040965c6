package sqlstore

import "jp/internal/scene"

type models struct{ table[scene.ModelConfig] }

var _ scene.Models = models{}

func endpointShape() shape[scene.Endpoint] {
	return shape[scene.Endpoint]{"endpoints", "endpoint", func(e *scene.Endpoint) []column {
		return []column{
			{name: "id", field: &e.ID},
			{name: "url", field: &e.URL},
			{name: "api_key", field: &e.Key},
			{name: "completion_mode", field: &e.Mode},
			{name: "proxy", field: &e.Proxy},
			{name: "provider", field: &e.Provider},
			{name: "active_model_config_id", field: &e.WriterConfig},
			{name: "agent_active_model_config_id", field: &e.AgentConfig},
		}
	}, func(e *scene.Endpoint) { e.Source = scene.SourceDatabase }}
}

func modelShape() shape[scene.ModelConfig] {
	return shape[scene.ModelConfig]{"model_configs", "model config", func(m *scene.ModelConfig) []column {
		return []column{
			{name: "id", field: &m.ID},
			{name: "endpoint_id", field: &m.EndpointID},
			{name: "role", field: &m.Lane},
			{name: "model_name", field: &m.Model},
			{name: "system_prompt", field: &m.SystemPrompt},
			{name: "temperature", field: &m.Temperature},
			{name: "min_p", field: &m.MinP},
			{name: "top_k", field: &m.TopK},
			{name: "top_p", field: &m.TopP},
			{name: "repetition_penalty", field: &m.RepetitionPenalty},
			{name: "max_tokens", field: &m.MaxTokens},
			{name: "context_size", field: &m.ContextSize},
			{name: "reasoning_effort", field: &m.ReasoningEffort},
			{name: "reasoning_param", field: &m.ReasoningParam},
			{name: "reasoning_value", field: &m.ReasoningValue},
			{name: "extra_headers", field: &m.ExtraHeaders},
			{name: "extra_body", field: &m.ExtraBody},
		}
	}, nil}
}

// Of implements scene.Models.
func (m models) Of(endpoint string) ([]scene.ModelConfig, error) {
	return m.list("WHERE endpoint_id = $1 ORDER BY seq", endpoint)
}
