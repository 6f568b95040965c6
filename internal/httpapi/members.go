package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"jp/internal/scene"
)

// Member is one of a group's cast, or of its former cast.
type Member struct {
	ID             string           `json:"id"`
	ConversationID string           `json:"conversation_id"`
	Key            string           `json:"speaker_key" doc:"A short handle, kept in forks"`
	CardID         *string          `json:"character_card_id"`
	Name           string           `json:"display_name"`
	PublicProfile  *string          `json:"public_profile_override" doc:"What the others see; null is the card's, an empty text a real one"`
	Sheet          *string          `json:"card_sheet_override" doc:"What the member reads about itself; null is the card's, an empty text a real one"`
	Kind           scene.MemberKind `json:"member_kind" enum:"character,narrator"`
	Order          int              `json:"sort_order"`
	Muted          Flag             `json:"muted" doc:"In the scene, but does not speak"`
	Active         Flag             `json:"active" doc:"0 is a former member, kept for the name of its messages"`
	Model          *string          `json:"model" doc:"A model config; null is the scene's"`
	WorkflowState  json.RawMessage  `json:"workflow_state"`
}

func member(m scene.Member) Member {
	return Member{
		ID: m.ID, ConversationID: m.ConversationID, Key: m.Key, CardID: m.CardID, Name: m.Name,
		PublicProfile: m.PublicProfile, Sheet: m.Sheet, Kind: m.Kind, Order: m.Order,
		Muted: Flag(m.Muted), Active: Flag(m.Active), Model: m.Model, WorkflowState: m.Slots,
	}
}

// MemberSpec is one of a whole roster to be saved. Both overrides are always
// written: what is left out is cleared. A model that is left out stays.
type MemberSpec struct {
	ID            string                 `json:"id,omitempty" doc:"Of an active member, to keep it; anything else makes a new one"`
	Key           string                 `json:"speaker_key,omitempty" doc:"A short handle, kept in forks"`
	CardID        *string                `json:"character_card_id,omitempty" nullable:"true"`
	Name          string                 `json:"display_name,omitempty"`
	PublicProfile *string                `json:"public_profile_override,omitempty" nullable:"true" doc:"What the rest of the cast sees; null is the card's, empty is nothing"`
	Sheet         *string                `json:"card_sheet_override,omitempty" nullable:"true" doc:"What the member reads about itself; null is the card's, empty is nothing"`
	Kind          Enum[scene.MemberKind] `json:"member_kind,omitzero" enum:"character,narrator"`
	Muted         Flag                   `json:"muted,omitempty" doc:"In the scene, but does not speak"`
	Model         Opt[string]            `json:"model,omitzero" doc:"A model config of the member's own; null is the scene's"`
}

func specs(list []MemberSpec) []scene.MemberSpec {
	out := make([]scene.MemberSpec, len(list))
	for i, s := range list {
		out[i] = scene.MemberSpec{
			ID: s.ID, Key: s.Key, CardID: s.CardID, Name: s.Name,
			PublicProfile: s.PublicProfile, Sheet: s.Sheet,
			Kind: s.Kind.V, Muted: bool(s.Muted), Model: clearable(s.Model),
		}
	}
	return out
}

// roster is a list of members with its revision as the ETag.
type roster struct {
	ETag string `header:"ETag"`
	Body []Member
}

func rosterOf(list []scene.Member, revision int64) *roster {
	rows := make([]Member, len(list))
	for i, m := range list {
		rows[i] = member(m)
	}
	return &roster{ETag: etag(revision), Body: rows}
}

func (a *api) members() {
	route(a, http.MethodGet, "/conversations/{cid}/members", "list-members", "List the cast in roster order", a.listMembers)
	route(a, http.MethodPut, "/conversations/{cid}/members", "set-members", "Replace the whole roster", a.setMembers, limit(chatLimit))
}

type listMembers struct {
	ConversationPath
	All bool `query:"include_inactive" doc:"Former members, too"`
}

func (a *api) listMembers(ctx context.Context, in *listMembers) (*roster, error) {
	list, revision, err := a.Scenes.Members(ctx, in.ID, in.All)
	return rosterOf(list, revision), err
}

type setMembers struct {
	ConversationPath
	IfMatch
	Body struct {
		Members []MemberSpec `json:"members"`
	}
}

func (a *api) setMembers(ctx context.Context, in *setMembers) (*roster, error) {
	seen, err := in.revision()
	if err != nil {
		return nil, err
	}
	list, revision, err := a.Scenes.SetMembers(ctx, in.ID, specs(in.Body.Members), seen)
	return rosterOf(list, revision), err
}
