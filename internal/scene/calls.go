package scene

import "context"

// callsKept is how many exchanges of a conversation can be inspected.
const callsKept = 20

// SaveCalls keeps the calls of models behind a message, beside those it has,
// and lets go those of all but the conversation's last 20 exchanges. Errors:
// NotFound.
func (s *Service) SaveCalls(ctx context.Context, id string, mid int64, exchange string, calls []Call) error {
	return s.Store.Update(ctx, func(tx Tx) error {
		m, err := message(tx, id, mid)
		if err != nil {
			return err
		}
		if err := tx.Calls.Put(m, exchange, calls); err != nil {
			return err
		}
		return tx.Calls.Keep(id, callsKept)
	})
}

// Calls returns the calls behind a message that are still kept, and its log,
// nil when it has none. Errors: NotFound.
func (s *Service) Calls(ctx context.Context, id string, mid int64) (calls []Call, log *Log, err error) {
	err = s.Store.View(ctx, func(tx Tx) error {
		if _, err := message(tx, id, mid); err != nil {
			return err
		}
		if calls, err = tx.Calls.Of(mid); err != nil {
			return err
		}
		logs, err := tx.Logs.OfMessages(mid)
		if n := len(logs); n > 0 {
			log = &logs[n-1]
		}
		return err
	})
	return calls, log, err
}
