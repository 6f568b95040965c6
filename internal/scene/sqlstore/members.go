package sqlstore

import "jp/internal/scene"

type members struct{ table[scene.Member] }

var _ scene.Members = members{}

func memberShape() shape[scene.Member] {
	return shape[scene.Member]{"group_members", "member", func(m *scene.Member) []column {
		return []column{
			{name: "id", field: &m.ID},
			{name: "conversation_id", field: &m.ConversationID},
			{name: "speaker_key", field: &m.Key},
			{name: "character_card_id", field: &m.CardID},
			{name: "display_name", field: &m.Name},
			{name: "public_profile_override", field: &m.PublicProfile},
			{name: "card_sheet_override", field: &m.Sheet},
			{name: "member_kind", field: &m.Kind},
			{name: "sort_order", field: &m.Order},
			{name: "muted", field: &m.Muted},
			{name: "active", field: &m.Active},
			{name: "model", field: &m.Model},
			{name: "workflow_state", field: verbatim{&m.Slots}},
		}
	}, nil}
}

// Roster implements scene.Members.
func (m members) Roster(conversation string) ([]scene.Member, error) {
	return m.list("WHERE conversation_id = $1 ORDER BY sort_order, id", conversation)
}
