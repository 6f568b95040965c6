package sqlstore

import (
	"jp/internal/lib/fault"
	"jp/internal/scene"
)

type (
	worlds  struct{ table[scene.World] }
	entries struct{ table[scene.Entry] }
	choices struct{ *session }
)

var (
	_ scene.Worlds  = worlds{}
	_ scene.Entries = entries{}
	_ scene.Choices = choices{}
)

func worldShape() shape[scene.World] {
	return shape[scene.World]{"worlds", "world", func(w *scene.World) []column {
		return []column{
			{name: "id", field: &w.ID},
			{name: "name", field: &w.Name},
			{name: "is_global", field: &w.Global},
			{name: "dynamic_enabled", field: &w.Dynamic},
			{name: "recursive", field: &w.Recursive},
			{name: "content_revision", field: &w.ContentRevision},
			{name: "content_hash", field: &w.ContentHash},
			{name: "extras", field: verbatim{&w.Extras}},
			{name: "created_at", field: moment{&w.CreatedAt}},
			{name: "updated_at", field: moment{&w.UpdatedAt}},
		}
	}, nil}
}

func entryShape() shape[scene.Entry] {
	return shape[scene.Entry]{"lorebook_entries", "entry", func(e *scene.Entry) []column {
		return []column{
			{name: "id", field: &e.ID},
			{name: "world_id", field: &e.WorldID},
			{name: "name", field: &e.Name},
			{name: "content", field: &e.Content},
			{name: "keywords", field: list{&e.Keys}},
			{name: "secondary_keys", field: list{&e.SecondaryKeys}},
			{name: "selective", field: &e.Selective},
			{name: "case_insensitive", field: &e.CaseInsensitive},
			{name: "match_whole_words", field: &e.WholeWords},
			{name: "use_regex", field: &e.Regex},
			{name: "constant", field: &e.Constant},
			{name: "at_depth", field: &e.AtDepth},
			{name: "priority", field: &e.Priority},
			{name: "enabled", field: &e.Enabled},
			{name: "sort_order", field: &e.Order},
			{name: "entry_revision", field: &e.Revision},
			{name: "extras", field: verbatim{&e.Extras}},
			{name: "created_at", field: moment{&e.CreatedAt}},
			{name: "updated_at", field: moment{&e.UpdatedAt}},
		}
	}, nil}
}

// ByHash implements scene.Worlds. Of several the oldest; a world made by hand
// has no hash to be found by.
func (w worlds) ByHash(hash string) (scene.World, error) {
	found, err := w.list("WHERE content_hash = $1 AND content_hash <> '' ORDER BY seq LIMIT 1", hash)
	if err != nil || len(found) == 0 {
		if err == nil {
			err = fault.New(fault.NotFound, "no world was made from this book")
		}
		return scene.World{}, err
	}
	return found[0], nil
}

// Of implements scene.Entries.
func (e entries) Of(worlds ...string) ([]scene.Entry, error) {
	if len(worlds) == 0 {
		return nil, nil
	}
	args := make([]any, len(worlds))
	for i, w := range worlds {
		args[i] = w
	}
	return e.list("WHERE world_id IN ("+placeholders(1, len(worlds))+") ORDER BY world_id, sort_order, seq", args...)
}

// InsertAll implements scene.Entries.
func (e entries) InsertAll(rows []scene.Entry) error {
	for _, row := range rows {
		if err := e.Insert(row); err != nil {
			return err
		}
	}
	return nil
}

// Of implements scene.Choices.
func (c choices) Of(conversation string) ([]scene.Choice, error) {
	var out []scene.Choice
	err := c.query("choice", "SELECT world_id, enabled FROM conversation_worlds WHERE conversation_id = $1 ORDER BY world_id",
		[]any{conversation}, func(scan func(...any) error) error {
			row := scene.Choice{ConversationID: conversation}
			err := scan(&row.WorldID, &row.Enabled)
			out = append(out, row)
			return err
		})
	return out, err
}

// Put implements scene.Choices.
func (c choices) Put(row scene.Choice) error {
	_, err := c.exec("choice", `INSERT INTO conversation_worlds (conversation_id, world_id, enabled) VALUES ($1, $2, $3)
		ON CONFLICT (conversation_id, world_id) DO UPDATE SET enabled = excluded.enabled`,
		row.ConversationID, row.WorldID, row.Enabled)
	return err
}

// Delete implements scene.Choices.
func (c choices) Delete(conversation, world string) error {
	_, err := c.exec("choice", "DELETE FROM conversation_worlds WHERE conversation_id = $1 AND world_id = $2", conversation, world)
	return err
}
