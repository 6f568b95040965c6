package scene

import (
	"context"
	"slices"
)

// Logs returns what happened behind the replies of a conversation, the oldest
// first. Errors: NotFound.
func (s *Service) Logs(ctx context.Context, id string) ([]Log, error) {
	return read(ctx, s, func(tx Tx) ([]Log, error) {
		if _, err := tx.Conversations.Get(id); err != nil {
			return nil, err
		}
		return tx.Logs.OfConversation(id)
	})
}

// LogsOf returns the logs of messages of a conversation, the oldest first.
func (s *Service) LogsOf(ctx context.Context, id string, mids []int64) ([]Log, error) {
	return read(ctx, s, func(tx Tx) ([]Log, error) {
		logs, err := tx.Logs.OfMessages(mids...)
		return slices.DeleteFunc(logs, func(l Log) bool { return l.ConversationID != id }), err
	})
}

// DirectorState returns what a conversation's Director goes on from. Errors:
// NotFound.
func (s *Service) DirectorState(ctx context.Context, id string) (DirectorState, error) {
	return read(ctx, s, func(tx Tx) (DirectorState, error) {
		if _, err := tx.Conversations.Get(id); err != nil {
			return DirectorState{}, err
		}
		return tx.Directors.Get(id)
	})
}

// redirect makes moods and cooldowns those that the visible branch ended with:
// of the last of its replies that has a log. The picks of macros stay.
func redirect(tx Tx, c Conversation) error {
	d, err := tx.Directors.Get(c.ID)
	if err != nil {
		return err
	}
	var last Log
	if c.ActiveLeaf != nil {
		if last, _, err = lookup(tx.Logs.Last(*c.ActiveLeaf)); err != nil {
			return err
		}
	}
	d.ActiveMoods, d.Cooldowns = last.ActiveMoods, last.Cooldowns
	return tx.Directors.Save(d)
}
