package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"jp/internal/scene"
)

// Prompt is what models were sent for a reply, and why that.
type Prompt struct {
	Calls []Call          `json:"calls" doc:"In order; none when the reply is older than the last 20 exchanges"`
	Lore  json.RawMessage `json:"lore" doc:"The lore that fired, and why; null for none"`
	Plan  json.RawMessage `json:"plan" doc:"The speaking plan; null outside of groups"`
}

// Call is one call of a model.
type Call struct {
	Pass     string              `json:"pass" doc:"director, writer, editor, feedback, sheet …"`
	Model    string              `json:"model"`
	Messages []scene.CallMessage `json:"messages"`
	Sections []scene.CallSection `json:"sections"`
	Usage    scene.CallUsage     `json:"usage" doc:"Tokens; 0 is unknown"`
	Timing   scene.CallTiming    `json:"timing"`
}

func (a *api) prompts() {
	route(a, http.MethodGet, "/conversations/{cid}/messages/{mid}/prompt", "get-prompt", "Read what models were sent for a reply", a.prompt)
}

func (a *api) prompt(ctx context.Context, in *MessagePath) (*body[Prompt], error) {
	calls, log, err := a.Scenes.Calls(ctx, in.ID, in.Message)
	if err != nil {
		return nil, err
	}
	var p Prompt
	for _, c := range calls {
		p.Calls = append(p.Calls, Call(c))
	}
	if log != nil {
		p.Lore, p.Plan = log.Lore, log.Plan
	}
	return &body[Prompt]{p}, nil
}
