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

// DirectorAt returns what the Director goes on from behind a message, nil for
// before the first: moods and cooldowns as the replies up to there left them,
// the picks of macros as they are. Errors: NotFound for the conversation.
func (s *Service) DirectorAt(ctx context.Context, id string, leaf *int64) (DirectorState, error) {
	return read(ctx, s, func(tx Tx) (DirectorState, error) {
		if _, err := tx.Conversations.Get(id); err != nil {
			return DirectorState{}, err
		}
		return directorAt(tx, id, leaf)
	})
}

// directorAt takes moods and cooldowns from the last log on the way to leaf.
func directorAt(tx Tx, id string, leaf *int64) (DirectorState, error) {
	d, err := tx.Directors.Get(id)
	if err != nil {
		return d, err
	}
	d.ActiveMoods, d.Cooldowns = nil, nil
	if leaf != nil {
		last, _, err := lookup(tx.Logs.Last(*leaf))
		if err != nil {
			return d, err
		}
		d.ActiveMoods, d.Cooldowns = last.ActiveMoods, last.Cooldowns
	}
	return d, nil
}

// redirect makes moods and cooldowns those that the visible branch ended with.
func redirect(tx Tx, c Conversation) error {
	d, err := directorAt(tx, c.ID, c.ActiveLeaf)
	if err != nil {
		return err
	}
	return tx.Directors.Save(d)
}
