package sqlstore

import (
	"crypto/sha256"
	"fmt"

	"jp/internal/scene"
)

// calls keeps prompts as trees: most of a prompt is the one before it, so a call
// adds the few messages at its end.
type calls struct{ *session }

var _ scene.Calls = calls{}

// callRow is a call as its table has it.
type callRow struct {
	id                     int64
	conversation, exchange string
	message                int64
	last                   *int64 // its last message
	scene.Call
}

func callShape() shape[callRow] {
	return shape[callRow]{"prompt_calls", "call", func(c *callRow) []column {
		return []column{
			{name: "id", field: &c.id},
			{name: "conversation_id", field: &c.conversation},
			{name: "message_id", field: &c.message},
			{name: "exchange_id", field: &c.exchange},
			{name: "pass", field: &c.Pass},
			{name: "model", field: &c.Model},
			{name: "last_id", field: &c.last},
			{name: "sections", field: document{&c.Sections}},
			{name: "usage", field: document{&c.Usage}},
			{name: "timing", field: document{&c.Timing}},
		}
	}, nil}
}

// Put implements scene.Calls.
func (c calls) Put(message scene.Message, exchange string, calls []scene.Call) error {
	for _, call := range calls {
		row := callRow{conversation: message.ConversationID, message: message.ID, exchange: exchange, Call: call}
		var err error
		if row.last, err = c.chain(row.conversation, call.Messages); err != nil {
			return err
		}
		if _, err = callShape().number(c.session, row); err != nil {
			return err
		}
	}
	return nil
}

// chain stores messages and returns the number of the last one. A message that
// is there has all before it there, too.
func (c calls) chain(conversation string, messages []scene.CallMessage) (last *int64, err error) {
	sums := make([][]byte, len(messages))
	var before []byte
	for i, m := range messages {
		text := sha256.Sum256([]byte(m.Text))
		sum := sha256.Sum256(fmt.Appendf(nil, "%x %x %d %q", before, text, m.Images, m.Role))
		sums[i] = sum[:]
		before = sums[i]
	}
	known := func(i int) (bool, error) {
		id, found, err := c.number("call", "SELECT id FROM prompt_messages WHERE conversation_id = $1 AND hash = $2", conversation, sums[i])
		if found {
			last = &id
		}
		return found, err
	}
	first, unknown := 0, len(messages) // the first that is not there is between them
	for first < unknown {
		middle := (first + unknown) / 2
		found, err := known(middle)
		if err != nil {
			return nil, err
		}
		if found {
			first = middle + 1
		} else {
			unknown = middle
		}
	}
	for i := first; i < len(messages); i++ {
		if last, err = c.add(conversation, last, messages[i], sums[i]); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// add stores a message behind another.
func (c calls) add(conversation string, parent *int64, m scene.CallMessage, sum []byte) (*int64, error) {
	hash := sha256.Sum256([]byte(m.Text))
	_, err := c.exec("call", `INSERT INTO prompt_texts (conversation_id, hash, content) VALUES ($1, $2, $3)
		ON CONFLICT (conversation_id, hash) DO NOTHING`, conversation, hash[:], m.Text)
	if err != nil {
		return nil, err
	}
	id, _, err := c.number("call", `INSERT INTO prompt_messages (conversation_id, hash, parent_id, role, images, text_id)
		SELECT $1, $2, $3, $4, $5, id FROM prompt_texts WHERE conversation_id = $1 AND hash = $6 RETURNING id`,
		conversation, sum, parent, m.Role, m.Images, hash[:])
	return &id, err
}

// Of implements scene.Calls.
func (c calls) Of(message int64) (out []scene.Call, err error) {
	rows, err := callShape().list(c.session, "FROM prompt_calls WHERE message_id = $1 ORDER BY id", message)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.last != nil {
			if row.Messages, err = c.messages(*row.last); err != nil {
				return nil, err
			}
		}
		out = append(out, row.Call)
	}
	return out, nil
}

// prompt walks up from the message $1.
const prompt = `WITH RECURSIVE prompt (id, parent_id, place) AS (
	SELECT id, parent_id, 0 FROM prompt_messages WHERE id = $1
	UNION ALL
	SELECT above.id, above.parent_id, place + 1 FROM prompt JOIN prompt_messages above ON above.id = prompt.parent_id
)`

// messages returns the prompt that ends in a message.
func (c calls) messages(last int64) (out []scene.CallMessage, err error) {
	err = c.query("call", prompt+`SELECT role, content, images FROM prompt
		CROSS JOIN prompt_messages ON prompt_messages.id = prompt.id
		CROSS JOIN prompt_texts ON prompt_texts.id = prompt_messages.text_id ORDER BY place DESC`,
		[]any{last}, func(scan func(...any) error) error {
			var m scene.CallMessage
			err := scan(&m.Role, &m.Text, &m.Images)
			out = append(out, m)
			return err
		})
	return out, err
}

// Keep implements scene.Calls.
func (c calls) Keep(conversation string, most int) error {
	_, err := c.exec("call", `DELETE FROM prompt_calls WHERE conversation_id = $1 AND exchange_id NOT IN (
		SELECT exchange_id FROM prompt_calls WHERE conversation_id = $1 GROUP BY exchange_id ORDER BY max(id) DESC LIMIT $2
	)`, conversation, most)
	if err != nil {
		return err
	}
	return c.sweep(conversation)
}

// sweep removes what no call of a conversation has any more.
func (s *session) sweep(conversation string) error {
	_, err := s.exec("call", `WITH RECURSIVE needed (id) AS (
			SELECT last_id FROM prompt_calls WHERE conversation_id = $1 AND last_id IS NOT NULL
			UNION
			SELECT parent_id FROM needed JOIN prompt_messages ON prompt_messages.id = needed.id WHERE parent_id IS NOT NULL
		) DELETE FROM prompt_messages WHERE conversation_id = $1 AND id NOT IN (SELECT id FROM needed)`, conversation)
	if err == nil {
		_, err = s.exec("call", `DELETE FROM prompt_texts WHERE conversation_id = $1
			AND NOT EXISTS (SELECT 1 FROM prompt_messages WHERE text_id = prompt_texts.id)`, conversation)
	}
	return err
}
