package scene

import "context"

// Reply is a member's words with what the exchange leaves behind for them.
type Reply struct {
	NewMessage
	Log      *Log
	Director *DirectorState // what the conversation's Director goes on from
}

// SaveReply adds a reply as Append does, and with it its log and the Director's
// state: all of it is there, or nothing. What places them is written here.
func (s *Service) SaveReply(ctx context.Context, id string, r Reply) (Message, error) {
	return write(ctx, s, func(tx Tx) (Message, error) {
		m, err := s.add(tx, id, r.NewMessage)
		if err != nil {
			return m, err
		}
		if r.Director != nil {
			d := *r.Director
			d.ConversationID = id
			if err := tx.Directors.Save(d); err != nil {
				return m, err
			}
		}
		if r.Log == nil {
			return m, nil
		}
		l := *r.Log
		l.ConversationID, l.MessageID, l.TurnIndex, l.CreatedAt = id, &m.ID, m.TurnIndex, m.CreatedAt
		if m.ExchangeID != nil {
			l.ExchangeID = *m.ExchangeID
		}
		return m, tx.Logs.Insert(&l)
	})
}

// Round returns the round that a path ends in: the last message of a person and
// every reply since; all of the path when no person said anything.
func Round(path []Step) []Step {
	for i := len(path) - 1; i > 0; i-- {
		if path[i].Role == RoleUser {
			return path[i:]
		}
	}
	return path
}
