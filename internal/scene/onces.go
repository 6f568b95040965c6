package scene

import (
	"context"
	"time"
)

// onceKept is how long a key is known.
const onceKept = 24 * time.Hour

// OnceOf returns what a key was used for in a conversation, if it was in the
// last 24 hours.
func (s *Service) OnceOf(ctx context.Context, id, key string) (Once, bool, error) {
	limit := s.Now().Add(-onceKept)
	var known bool
	o, err := read(ctx, s, func(tx Tx) (o Once, err error) {
		o, known, err = lookup(tx.Onces.Get(id, key))
		return o, err
	})
	if err != nil || !known || o.CreatedAt.Before(limit) {
		return Once{}, false, err
	}
	return o, true, nil
}

// remember stores a key with the row that it is for, and forgets the old ones.
func remember(tx Tx, id string, o Once, now time.Time) error {
	if err := tx.Onces.Purge(now.Add(-onceKept)); err != nil {
		return err
	}
	o.ConversationID, o.CreatedAt = id, now
	return tx.Onces.Put(o)
}
