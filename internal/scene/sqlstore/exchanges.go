package sqlstore

import (
	"cmp"
	"math"
	"slices"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

type (
	directors struct{ *session }
	logs      struct{ *session }
	onces     struct{ *session }
)

var (
	_ scene.Directors = directors{}
	_ scene.Logs      = logs{}
	_ scene.Onces     = onces{}
)

func directorShape() shape[scene.DirectorState] {
	return shape[scene.DirectorState]{"director_state", "Director's state", func(d *scene.DirectorState) []column {
		return []column{
			{name: "conversation_id", field: &d.ConversationID},
			{name: "active_moods", field: list{&d.ActiveMoods}},
			{name: "macro_choices", field: document{&d.MacroChoices}},
			{name: "cooldowns", field: document{&d.Cooldowns}},
		}
	}, nil}
}

// Get implements scene.Directors.
func (d directors) Get(conversation string) (scene.DirectorState, error) {
	rows, err := directorShape().list(d.session, "FROM director_state WHERE conversation_id = $1", conversation)
	if err != nil || len(rows) == 0 {
		return scene.DirectorState{ConversationID: conversation}, err
	}
	return rows[0], nil
}

// Save implements scene.Directors.
func (d directors) Save(row scene.DirectorState) error {
	sh := directorShape()
	_, err := d.exec(sh.noun, sh.statement(0)+` ON CONFLICT (conversation_id) DO UPDATE SET
		active_moods = excluded.active_moods, macro_choices = excluded.macro_choices, cooldowns = excluded.cooldowns`,
		sh.fields(&row, 0)...)
	return err
}

func logShape() shape[scene.Log] {
	return shape[scene.Log]{"conversation_logs", "log", func(l *scene.Log) []column {
		return []column{
			{name: "id", field: &l.ID},
			{name: "conversation_id", field: &l.ConversationID},
			{name: "message_id", field: &l.MessageID},
			{name: "exchange_id", field: &l.ExchangeID},
			{name: "turn_index", field: &l.TurnIndex},
			{name: "tool_calls", field: verbatim{&l.ToolCalls}},
			{name: "active_moods_after", field: list{&l.ActiveMoods}},
			{name: "cooldowns", field: document{&l.Cooldowns}},
			{name: "injection_block", field: &l.Injection},
			{name: "agent_latency", field: &l.AgentLatency},
			{name: "reasoning_director", field: &l.ReasoningDirector},
			{name: "reasoning_writer", field: &l.ReasoningWriter},
			{name: "reasoning_editor", field: &l.ReasoningEditor},
			{name: "feedback", field: verbatim{&l.Feedback}},
			{name: "plan", field: verbatim{&l.Plan}},
			{name: "lore", field: verbatim{&l.Lore}},
			{name: "created_at", field: moment{&l.CreatedAt}},
		}
	}, nil}
}

// Insert implements scene.Logs.
func (l logs) Insert(row *scene.Log) (err error) {
	row.ID, err = logShape().number(l.session, *row)
	return err
}

// OfMessages implements scene.Logs.
func (l logs) OfMessages(messages ...int64) (out []scene.Log, err error) {
	for ids := range slices.Chunk(messages, batch) {
		found, err := logShape().list(l.session,
			"FROM conversation_logs WHERE message_id IN ("+placeholders(1, len(ids))+")", anys(ids)...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b scene.Log) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// OfConversation implements scene.Logs.
func (l logs) OfConversation(conversation string) ([]scene.Log, error) {
	return logShape().list(l.session, "FROM conversation_logs WHERE conversation_id = $1 ORDER BY id", conversation)
}

// Last implements scene.Logs.
func (l logs) Last(leaf int64) (scene.Log, error) {
	found, err := logShape().listWith(l.session, path, `FROM path CROSS JOIN conversation_logs
		WHERE message_id = path.id ORDER BY path.length, conversation_logs.id DESC LIMIT 1`, leaf, math.MaxInt64)
	if err != nil || len(found) == 0 {
		if err == nil {
			err = fault.New(fault.NotFound, "there is no log on the way to message %d", leaf)
		}
		return scene.Log{}, err
	}
	return found[0], nil
}

func onceShape() shape[scene.Once] {
	return shape[scene.Once]{"once_keys", "request", func(o *scene.Once) []column {
		return []column{
			{name: "conversation_id", field: &o.ConversationID},
			{name: "key", field: &o.Key},
			{name: "body", field: &o.Body},
			{name: "exchange_id", field: &o.ExchangeID},
			{name: "created_at", field: moment{&o.CreatedAt}},
		}
	}, nil}
}

// Get implements scene.Onces.
func (o onces) Get(conversation, key string) (scene.Once, error) {
	return onceShape().one(o.session, key, "conversation_id = $1 AND key = $2", conversation, key)
}

// Put implements scene.Onces.
func (o onces) Put(row scene.Once) error { return onceShape().insert(o.session, row) }

// Purge implements scene.Onces.
func (o onces) Purge(before time.Time) error {
	_, err := o.exec(onceShape().noun, "DELETE FROM once_keys WHERE created_at < $1", moment{&before})
	return err
}
