package sqlstore

import (
	"slices"
	"time"

	"jp/internal/scene"
)

type conversations struct{ table[scene.Conversation] }

var _ scene.Conversations = conversations{}

func conversationShape() shape[scene.Conversation] {
	return shape[scene.Conversation]{"conversations", "conversation", conversationColumns, knownMode}
}

func conversationColumns(c *scene.Conversation) []column {
	return []column{
		{name: "id", field: &c.ID},
		{name: "kind", field: &c.Kind},
		{name: "title", field: &c.Title},
		{name: "group_root_id", field: &c.RootID},
		{name: "character_card_id", field: &c.CardID},
		{name: "character_name", field: &c.CharacterName},
		{name: "character_scenario", field: &c.Scenario},
		{name: "post_history_instructions", field: &c.PostHistory},
		{name: "persona_lock_id", field: &c.PersonaLock},
		{name: "macro_seed", field: &c.MacroSeed},
		{name: "group_turn_mode", field: &c.TurnMode},
		{name: "group_max_speakers", field: &c.MaxSpeakers},
		{name: "group_context_mode", field: &c.ContextMode},
		{name: "group_sheet_updates", field: &c.SheetUpdates},
		{name: "cut_impersonation", field: &c.CutImpersonation},
		{name: "lore_budget", field: &c.LoreBudget},
		{name: "active_leaf_id", field: &c.ActiveLeaf},
		{name: "workflow_state", field: verbatim{&c.Slots}},
		{name: "created_at", field: moment{&c.CreatedAt}},
		{name: "updated_at", field: moment{&c.UpdatedAt}},
		{name: "last_accessed_at", field: moment{&c.AccessedAt}},
		{name: "revision", field: &c.Revision},
		{name: "members_revision", field: &c.RosterRevision},
	}
}

// knownMode reads a context mode that nobody knows as the one that shows least.
func knownMode(c *scene.Conversation) {
	if !slices.Contains([]scene.ContextMode{scene.Private, scene.Shared, scene.Swap}, c.ContextMode) {
		c.ContextMode = scene.Private
	}
}

// Family implements scene.Conversations.
func (c conversations) Family(root string) ([]scene.Conversation, error) {
	return c.list("WHERE kind = 'group' AND (id = $1 OR group_root_id = $1) ORDER BY seq", root)
}

// OfCard implements scene.Conversations.
func (c conversations) OfCard(card string) ([]scene.Conversation, error) {
	return c.list(`WHERE id IN (
		SELECT id FROM conversations WHERE character_card_id = $1 AND kind = 'solo'
		UNION ALL
		SELECT conversation_id FROM group_members WHERE character_card_id = $1 AND active = 1
	) ORDER BY seq`, card)
}

func overviewShape() shape[scene.Overview] {
	return shape[scene.Overview]{"conversations", "conversation", func(o *scene.Overview) []column {
		return append(conversationColumns(&o.Conversation),
			column{name: "message_count", field: &o.MessageCount},
			column{name: "last_message", field: excerpt{&o.LastMessage}})
	}, func(o *scene.Overview) { knownMode(&o.Conversation) }}
}

// Overviews implements scene.Conversations. The leaf knows how long its path
// is.
func (c conversations) Overviews() ([]scene.Overview, error) {
	all, err := overviewShape().list(c.session, `FROM (
		SELECT conversations.*, coalesce(leaf.depth, 0) AS message_count, (
			SELECT `+excerptSQL+` FROM messages WHERE conversation_id = conversations.id ORDER BY messages.id DESC LIMIT 1
		) AS last_message
		FROM conversations LEFT JOIN messages leaf ON leaf.id = conversations.active_leaf_id
	) conversations ORDER BY seq DESC`)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b scene.Overview) int { return activity(b).Compare(activity(a)) })
	return all, c.casts(all)
}

func activity(o scene.Overview) time.Time {
	return slices.MaxFunc([]time.Time{o.AccessedAt, o.UpdatedAt, o.CreatedAt}, time.Time.Compare)
}

// casts fills in what overviews say about members.
func (c conversations) casts(all []scene.Overview) error {
	place := make(map[string]*scene.Overview, len(all))
	for i := range all {
		place[all[i].ID] = &all[i]
	}
	return c.query("member", `SELECT member.conversation_id, member.character_card_id, member.display_name
		FROM conversations JOIN group_members member ON member.conversation_id = conversations.id
		WHERE member.active = 1 ORDER BY member.sort_order, member.id`, nil, func(scan func(...any) error) error {
		var conversation, name string
		var card *string
		if err := scan(&conversation, &card, &name); err != nil {
			return err
		}
		o := place[conversation]
		o.MemberNames = append(o.MemberNames, name)
		if card != nil {
			o.CardIDs = append(o.CardIDs, *card)
		}
		return nil
	})
}
