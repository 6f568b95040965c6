package sqlstore

import (
	"cmp"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

type cards struct{ table[scene.Card] }

var _ scene.Cards = cards{}

func cardShape() shape[scene.Card] {
	return shape[scene.Card]{"character_cards", "card", func(c *scene.Card) []column {
		return []column{
			{name: "id", field: &c.ID},
			{name: "name", field: &c.Name},
			{name: "description", field: &c.Description},
			{name: "personality", field: &c.Personality},
			{name: "scenario", field: &c.Scenario},
			{name: "first_mes", field: &c.FirstMessage},
			{name: "mes_example", field: &c.Examples},
			{name: "creator_notes", field: &c.CreatorNotes},
			{name: "system_prompt", field: &c.SystemPrompt},
			{name: "post_history_instructions", field: &c.PostHistory},
			{name: "tags", field: list{&c.Tags}},
			{name: "creator", field: &c.Creator},
			{name: "character_version", field: &c.Version},
			{name: "alternate_greetings", field: list{&c.Greetings}},
			{name: "source_format", field: &c.Format},
			{name: "world_id", field: &c.WorldID},
			{name: "persona_lock_id", field: &c.PersonaLock},
			{name: "extensions", field: verbatim{&c.Extensions}},
			{name: "workflow_state", field: verbatim{&c.Slots}},
			{name: "created_at", field: moment{&c.CreatedAt}},
			{name: "updated_at", field: moment{&c.UpdatedAt}},
		}
	}, nil}
}

func briefShape() shape[scene.CardBrief] {
	return shape[scene.CardBrief]{"character_cards", "card", func(c *scene.CardBrief) []column {
		return []column{
			{name: "id", field: &c.ID},
			{name: "name", field: &c.Name},
			{name: "creator_notes", field: &c.CreatorNotes},
			{name: "tags", field: list{&c.Tags}},
			{name: "creator", field: &c.Creator},
			{name: "source_format", field: &c.Format},
			{name: "world_id", field: &c.WorldID},
			{name: "persona_lock_id", field: &c.PersonaLock},
			{name: "chars", field: &c.Chars},
			{name: "has_avatar", field: &c.HasAvatar},
			{name: "created_at", field: moment{&c.CreatedAt}},
			{name: "updated_at", field: moment{&c.UpdatedAt}},
		}
	}, nil}
}

// Briefs implements scene.Cards. Names are sorted here, since engines disagree
// on how.
func (c cards) Briefs() ([]scene.CardBrief, error) {
	all, err := briefShape().list(c.session, `FROM (
		SELECT character_cards.*, length(description) + length(personality) + length(mes_example) AS chars,
			EXISTS (SELECT 1 FROM character_avatars WHERE card_id = character_cards.id) AS has_avatar
		FROM character_cards
	) character_cards`)
	slices.SortFunc(all, func(a, b scene.CardBrief) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// Avatar implements scene.Cards.
func (c cards) Avatar(card string) (a scene.Avatar, err error) {
	found := false
	err = c.query("picture", "SELECT mime, data FROM character_avatars WHERE card_id = $1", []any{card},
		func(scan func(...any) error) error {
			found = true
			return scan(&a.MIME, &a.Data)
		})
	if err == nil && !found {
		err = fault.New(fault.NotFound, "there is no picture of the card %q", card)
	}
	return a, err
}

// SetAvatar implements scene.Cards.
func (c cards) SetAvatar(card string, a scene.Avatar) error {
	_, err := c.exec("picture", `INSERT INTO character_avatars (card_id, mime, data) VALUES ($1, $2, $3)
		ON CONFLICT (card_id) DO UPDATE SET mime = excluded.mime, data = excluded.data`, card, a.MIME, blob(a.Data))
	return err
}
