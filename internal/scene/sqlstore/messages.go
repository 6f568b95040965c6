package sqlstore

import (
	"math"
	"slices"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

type messages struct{ *session }

var _ scene.Messages = messages{}

func messageShape() shape[scene.Message] {
	return shape[scene.Message]{"messages", "message", messageColumns, nil}
}

func messageColumns(m *scene.Message) []column {
	return []column{
		{name: "id", field: &m.ID},
		{name: "conversation_id", field: &m.ConversationID, fixed: true},
		{name: "parent_id", field: &m.ParentID, fixed: true},
		{name: "depth", field: &m.Depth, fixed: true},
		{name: "role", field: &m.Role},
		{name: "turn_index", field: &m.TurnIndex},
		{name: "speaker_member_id", field: &m.SpeakerID},
		{name: "exchange_id", field: &m.ExchangeID},
		{name: "author", field: &m.Author},
		{name: "incomplete", field: &m.Incomplete},
		{name: "direction", field: &m.Direction},
		{name: "cut", field: document{&m.Cut}},
		{name: "created_at", field: moment{&m.CreatedAt}, fixed: true},
		{name: "workflow_state", field: verbatim{&m.Slots}},
		{name: "writer_draft", field: &m.WriterDraft},
		{name: "content", field: &m.Content},
	}
}

// Get implements scene.Messages.
func (m messages) Get(conversation string, id int64) (scene.Message, error) {
	return messageShape().one(m.session, id, "id = $1 AND conversation_id = $2", id, conversation)
}

// Insert implements scene.Messages. The parent is looked up here, since its
// reference is only checked when the transaction ends.
func (m messages) Insert(row *scene.Message) error {
	row.Depth = 1
	if row.ParentID != nil {
		above, found, err := m.number("message", "SELECT depth FROM messages WHERE id = $1 AND conversation_id = $2",
			*row.ParentID, row.ConversationID)
		if err != nil {
			return err
		}
		if !found {
			return fault.New(fault.Invalid, "the conversation has no message %d to answer", *row.ParentID)
		}
		row.Depth = int(above) + 1
	}
	var err error
	row.ID, err = messageShape().number(m.session, *row)
	return err
}

// Save implements scene.Messages.
func (m messages) Save(row scene.Message) error {
	return messageShape().save(m.session, row, row.ID)
}

// path walks up from message $1, $2 messages at most. What is joined to it is
// joined by CROSS JOIN, which SQLite never turns round: the path comes first.
const path = `WITH RECURSIVE path (id, parent_id, length) AS (
	SELECT id, parent_id, 1 FROM messages WHERE id = $1
	UNION ALL
	SELECT messages.id, messages.parent_id, path.length + 1
	FROM path JOIN messages ON messages.id = path.parent_id WHERE path.length < $2
)`

// Path implements scene.Messages.
func (m messages) Path(leaf int64, limit int) ([]scene.Step, error) {
	most := int64(limit)
	if limit <= 0 {
		most = math.MaxInt64
	}
	sh := shape[scene.Step]{"messages", "message", func(s *scene.Step) []column {
		return messageColumns(&s.Message)
	}, nil}
	steps, err := sh.listWith(m.session, path, "FROM path CROSS JOIN messages WHERE messages.id = path.id", leaf, most)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, sh.missing(leaf)
	}
	slices.SortFunc(steps, func(a, b scene.Step) int { return a.Depth - b.Depth })
	at := make(map[int64]*scene.Step, len(steps))
	for i := range steps {
		steps[i].Branches = 1
		at[steps[i].ID] = &steps[i]
	}
	if err := m.branches(at, &steps[0], leaf, most); err != nil {
		return nil, err
	}
	return steps, m.uploads(at, leaf, most)
}

// branches fills in the places among siblings. Those of a root have no parent
// to be found by.
func (m messages) branches(at map[int64]*scene.Step, top *scene.Step, leaf, most int64) error {
	if top.ParentID == nil {
		roots, err := m.Siblings(top.Message)
		if err != nil {
			return err
		}
		for _, id := range roots {
			sibling(top, id)
		}
	}
	return m.query("message", path+`SELECT path.id, other.id
		FROM path CROSS JOIN messages other WHERE other.parent_id = path.parent_id AND other.id <> path.id`,
		[]any{leaf, most}, func(scan func(...any) error) error {
			var id, other int64
			if err := scan(&id, &other); err != nil {
				return err
			}
			sibling(at[id], other)
			return nil
		})
}

// sibling counts another message beside a step.
func sibling(s *scene.Step, id int64) {
	switch {
	case id < s.ID:
		s.Branches++
		s.Branch++
		if s.PrevBranch == nil || *s.PrevBranch < id {
			s.PrevBranch = &id
		}
	case id > s.ID:
		s.Branches++
		if s.NextBranch == nil || *s.NextBranch > id {
			s.NextBranch = &id
		}
	}
}

func (m messages) uploads(at map[int64]*scene.Step, leaf, most int64) error {
	found, err := uploadShape().listWith(m.session, path,
		"FROM path CROSS JOIN user_attachments WHERE message_id = path.id ORDER BY user_attachments.id", leaf, most)
	for _, u := range found {
		s := at[u.MessageID]
		s.Uploads = append(s.Uploads, u)
	}
	return err
}

// ids runs a statement that returns numbers.
func (m messages) ids(text string, args ...any) ([]int64, error) {
	var out []int64
	err := m.query("message", text, args, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		out = append(out, id)
		return err
	})
	return out, err
}

// Siblings implements scene.Messages.
func (m messages) Siblings(of scene.Message) ([]int64, error) {
	if of.ParentID == nil {
		return m.ids("SELECT id FROM messages WHERE parent_id IS NULL AND conversation_id = $1 ORDER BY id", of.ConversationID)
	}
	return m.ids("SELECT id FROM messages WHERE parent_id = $1 ORDER BY id", *of.ParentID)
}

// Deepest implements scene.Messages. A child is newer than its parent, so the
// last of the way down is the newest on it.
func (m messages) Deepest(id int64) (int64, error) {
	last, found, err := m.number("message", `WITH RECURSIVE down (id) AS (
		SELECT id FROM messages WHERE id = $1
		UNION ALL
		SELECT (SELECT max(id) FROM messages WHERE parent_id = down.id) FROM down WHERE down.id IS NOT NULL
	) SELECT id FROM down WHERE id IS NOT NULL ORDER BY id DESC LIMIT 1`, id)
	if err == nil && !found {
		err = messageShape().missing(id)
	}
	return last, err
}

// below is all of some messages and what descends from them.
func below(count int) string {
	return `WITH RECURSIVE below (id) AS (
		SELECT id FROM messages WHERE id IN (` + placeholders(1, count) + `)
		UNION
		SELECT messages.id FROM below JOIN messages ON messages.parent_id = below.id
	) `
}

func anys(ids []int64) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

// Extent implements scene.Messages.
func (m messages) Extent(ids []int64) (e scene.Extent, err error) {
	if len(ids) == 0 {
		return e, nil
	}
	err = m.query("message", below(len(ids))+`SELECT count(*), count(CASE WHEN role = 'assistant' THEN 1 END)
		FROM below JOIN messages ON messages.id = below.id`, anys(ids), func(scan func(...any) error) error {
		return scan(&e.Messages, &e.Assistants)
	})
	return e, err
}

// Delete implements scene.Messages. What was said in them does not stay behind
// in prompts either.
func (m messages) Delete(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	var of []string
	err := m.query("message", "SELECT DISTINCT conversation_id FROM messages WHERE id IN ("+placeholders(1, len(ids))+")",
		anys(ids), func(scan func(...any) error) error {
			var conversation string
			err := scan(&conversation)
			of = append(of, conversation)
			return err
		})
	if err != nil {
		return err
	}
	_, err = m.exec("message", below(len(ids))+"DELETE FROM messages WHERE id IN (SELECT id FROM below)", anys(ids)...)
	for _, conversation := range of {
		if err == nil {
			err = m.sweep(conversation)
		}
	}
	return err
}

// Of implements scene.Messages.
func (m messages) Of(conversation string) ([]scene.Message, error) {
	return messageShape().list(m.session, "FROM messages WHERE conversation_id = $1 ORDER BY id", conversation)
}
