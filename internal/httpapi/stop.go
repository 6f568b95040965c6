package httpapi

import (
	"context"
	"net/http"
)

// Stopped is what came of stopping an exchange.
type Stopped struct {
	OK      bool `json:"ok"`
	Active  bool `json:"active" doc:"There was one"`
	Settled bool `json:"settled" doc:"There is none any more: what it had is saved"`
}

func (a *api) stopping() {
	route(a, http.MethodPost, "/conversations/{cid}/stop", "stop", "Stop the running exchange and keep what it has", a.stop)
}

func (a *api) stop(ctx context.Context, in *ConversationPath) (*body[Stopped], error) {
	active, settled, err := a.Scenes.Stop(ctx, in.ID)
	return &body[Stopped]{Stopped{OK: true, Active: active, Settled: settled}}, err
}
