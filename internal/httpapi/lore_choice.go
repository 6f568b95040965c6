package httpapi

import (
	"context"
	"net/http"
)

// WorldIDs are the Worlds that are on in a conversation.
type WorldIDs struct {
	IDs []string `json:"world_ids"`
}

// WorldSwitch turns a World on or off in a conversation.
type WorldSwitch struct {
	Enabled Flag `json:"enabled"`
}

func (a *api) loreChoices() {
	route(a, http.MethodGet, "/conversations/{cid}/worlds", "list-conversation-worlds", "List the Worlds that are on", func(ctx context.Context, in *ConversationPath) (*body[WorldIDs], error) {
		ids, err := a.Scenes.WorldIDs(ctx, in.ID)
		return &body[WorldIDs]{WorldIDs{ids}}, err
	})
	route(a, http.MethodPut, "/conversations/{cid}/worlds/{world_id}", "set-conversation-world", "Turn a World on or off here", a.setWorld)
}

type setWorld struct {
	ConversationPath
	World string `path:"world_id"`
	Body  WorldSwitch
}

func (a *api) setWorld(ctx context.Context, in *setWorld) (*body[WorldIDs], error) {
	ids, err := a.Scenes.SetWorld(ctx, in.ID, in.World, bool(in.Body.Enabled))
	return &body[WorldIDs]{WorldIDs{ids}}, err
}
