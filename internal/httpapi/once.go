package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"jp/internal/lib/fanout"
	"jp/internal/lib/sse"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// tries are the exchanges that were asked for with a key, for as long as their
// events are kept. What is older is known to the store.
type tries struct {
	mu     sync.Mutex
	of     map[string]map[string]*try // by conversation and key
	serial int64
}

// try is one exchange that a key asked for. What is below is set when begun is
// closed.
type try struct {
	body  string // a hash of what was asked
	begun chan struct{}
	log   *fanout.Log[sse.Event]
	err   error // of the beginning
}

// errAnother says that a key is used for two things.
func errAnother() error {
	return misfit("this key was used for another request", "header", "Idempotency-Key")
}

// once runs what was asked for, and with a key only the first time: afterwards
// it returns the events of the first time, or what is left of them.
func (a *api) once(ctx context.Context, key string, said any, ask pipeline.Ask) (*fanout.Log[sse.Event], error) {
	if key == "" {
		return a.begin(ctx, ask, func(bool) {})
	}
	body, err := fingerprint(said, ask)
	if err != nil {
		return nil, err
	}
	t, first := a.tries.take(ask.Conversation, key, body)
	switch {
	case t.body != body:
		return nil, errAnother()
	case !first:
		return a.joined(ctx, t, ask.Conversation)
	}
	defer close(t.begun)
	// Who asks again waits for this one, whatever becomes of its client.
	t.log, t.err = a.keyed(context.WithoutCancel(ctx), key, t, ask)
	if t.err != nil {
		a.tries.drop(ask.Conversation, key, t)
	}
	return t.log, t.err
}

// joined waits for another request with the same key to begin. Events that are
// not kept any more are told to be gone.
func (a *api) joined(ctx context.Context, t *try, conversation string) (*fanout.Log[sse.Event], error) {
	select {
	case <-t.begun:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if _, err := a.Scenes.Conversation(ctx, conversation); err != nil {
		return nil, err // it was deleted since, and its texts with it
	}
	if t.err != nil || a.streams.Of(conversation) == t.log {
		return t.log, t.err
	}
	return gone(conversation, exchangeOf(t.log.Name())), nil
}

// keyed begins an exchange for a key, unless the store knows it.
func (a *api) keyed(ctx context.Context, key string, t *try, ask pipeline.Ask) (*fanout.Log[sse.Event], error) {
	known, ok, err := a.Scenes.OnceOf(ctx, ask.Conversation, key)
	switch {
	case err != nil:
		return nil, err
	case ok && known.Body != t.body:
		a.tries.drop(ask.Conversation, key, t)
		return nil, errAnother()
	case ok:
		a.tries.drop(ask.Conversation, key, t)
		return gone(ask.Conversation, known.ExchangeID), nil
	}
	ask.Once = &scene.Once{Key: key, Body: t.body}
	return a.begin(ctx, ask, func(stored bool) {
		forget := func() { a.tries.drop(ask.Conversation, key, t) }
		if !stored {
			forget() // the key is free again
			return
		}
		time.AfterFunc(keepEvents, forget) // and the store knows it still
	})
}

// gone is what is left of an exchange that is over and whose events are not
// kept: the messages tell how it went.
func gone(conversation, exchange string) *fanout.Log[sse.Event] {
	log := fanout.New(exchange, mostEvents, func(sse.Event) int { return 0 })
	log.Append(sse.Event{Type: eventResync, Data: placed(conversation, exchange, "{}")})
	done, _ := sse.JSON(pipeline.DoneData{Status: "completed"})
	log.Append(sse.Event{Type: eventDone, Data: placed(conversation, exchange, done)})
	log.Close()
	return log
}

// fingerprint is a hash of what was asked for.
func fingerprint(said any, ask pipeline.Ask) (string, error) {
	raw, err := json.Marshal([]any{ask.Kind, ask.Message, said})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// take returns the try of a key, and whether it is new.
func (s *tries) take(conversation, key, body string) (t *try, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.of[conversation][key]; ok {
		return t, false
	}
	if s.of == nil {
		s.of = map[string]map[string]*try{}
	}
	if s.of[conversation] == nil {
		s.of[conversation] = map[string]*try{}
	}
	t = &try{body: body, begun: make(chan struct{})}
	s.of[conversation][key] = t
	return t, true
}

// drop forgets a try.
func (s *tries) drop(conversation, key string, t *try) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[conversation][key] != t {
		return
	}
	delete(s.of[conversation], key)
	if len(s.of[conversation]) == 0 {
		delete(s.of, conversation)
	}
}

// logName is the name of an exchange's events. One exchange may run several
// times – a reply of it is written again –, and each time has its own.
func (a *api) logName(exchange string) string {
	a.tries.mu.Lock()
	defer a.tries.mu.Unlock()
	a.tries.serial++
	return exchange + "." + strconv.FormatInt(a.tries.serial, 36)
}

// exchangeOf is the exchange of a log's name.
func exchangeOf(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i]
	}
	return name
}
