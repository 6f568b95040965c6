package scene

import (
	"context"
	"slices"
	"sync"
	"time"

	"jp/internal/lib/fault"
)

// patience is how long a change waits for an exchange that holds what it wants
// to change.
const patience = 15 * time.Second

// claims says who holds which conversation: an exchange while it runs, or for
// a moment a change that must not happen beside one. The zero value is ready.
type claims struct {
	mu      sync.Mutex
	held    map[string]*hold
	leaving map[string]int // conversations that are about to be deleted
	closed  bool
}

// hold is one right to a conversation.
type hold struct {
	stop   func()        // ends the exchange; nil for a change
	done   chan struct{} // closed when it is given back
	yields bool          // to an exchange that asks for it
	wanted bool          // one did
}

// Claim is an exchange's right to a conversation, from Service.Claim until
// Release.
type Claim struct {
	claims  *claims
	hold    *hold
	release func()
}

// Release gives the conversation back. Only the first call does anything.
func (c *Claim) Release() { c.release() }

// Yield says that the exchange has done what it was asked for: from now on
// another one that asks for the conversation stops it, instead of being Busy.
func (c *Claim) Yield() {
	c.claims.mu.Lock()
	defer c.claims.mu.Unlock()
	c.hold.yields = true
}

// Wanted tells whether another exchange asked for the conversation since Yield,
// and stopped this one for that.
func (c *Claim) Wanted() bool {
	c.claims.mu.Lock()
	defer c.claims.mu.Unlock()
	return c.hold.wanted
}

// Claim gives an exchange the right to a conversation until it is released. It
// is Busy at once while another exchange has it, while the conversation is
// being deleted and once the Service is closing. Behind a change, which is
// short, and behind an exchange that yields, which it stops, it waits, for 15 s
// at most. stop must make the exchange end soon; it may be called more than
// once, from any goroutine, and must not wait for the end.
func (s *Service) Claim(ctx context.Context, id string, stop func()) (*Claim, error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		claim, other, err := s.claims.take(id, stop)
		if other == nil {
			return claim, err
		}
		if other.stop != nil {
			if !s.claims.yielded(other) {
				return nil, fault.New(fault.Busy, "a reply is being written in this conversation").
					WithHint("wait until it is finished, or stop it")
			}
			other.stop()
		}
		if err := other.end(ctx, limit.C); err != nil {
			return nil, err
		}
	}
}

// Running tells whether an exchange has the conversation.
func (s *Service) Running(id string) bool { return s.claims.exchange(id) != nil }

// Stop ends the exchange that runs in a conversation and waits, for 15 s at
// most, until it has saved what it has: active tells whether there was one,
// settled that there is none any more. Errors: NotFound.
func (s *Service) Stop(ctx context.Context, id string) (active, settled bool, err error) {
	h := s.claims.exchange(id)
	if h == nil {
		_, err := s.Conversation(ctx, id)
		return false, err == nil, err
	}
	h.stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	err = h.end(ctx, limit.C)
	if fault.CodeOf(err) == fault.Busy {
		return true, false, nil
	}
	return true, err == nil, err
}

// end waits until a hold is given back.
func (h *hold) end(ctx context.Context, limit <-chan time.Time) error {
	select {
	case <-h.done:
		return nil
	case <-limit:
		return fault.New(fault.Busy, "a reply is still being written in this conversation").
			WithHint("stop it, or try again when it is finished")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close stops every exchange, lets none begin, and waits for them to save what
// they have. It returns ctx's error when that takes longer.
func (s *Service) Close(ctx context.Context) error {
	held := s.claims.close()
	for _, h := range held {
		if h.stop != nil {
			h.stop()
		}
	}
	for _, h := range held {
		select {
		case <-h.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// settle holds a conversation for a change, after the exchange that runs in it.
func (s *Service) settle(ctx context.Context, id string) (release func(), err error) {
	return s.claims.seize(ctx, id, false)
}

// evict stops what runs in conversations that are to be deleted, lets nothing
// new begin in them, and holds them. It takes them in one order, whatever ids
// says: two that take the same ones from both ends would wait for each other.
func (s *Service) evict(ctx context.Context, ids ...string) (release func(), err error) {
	ids = slices.Sorted(slices.Values(ids))
	s.claims.leave(ids, 1)
	var held []func()
	release = func() {
		for _, r := range held {
			r()
		}
		s.claims.leave(ids, -1)
	}
	for _, id := range ids {
		r, err := s.claims.seize(ctx, id, true)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, r)
	}
	return release, nil
}

// seize waits for a conversation, stopping what holds it if told so.
func (c *claims) seize(ctx context.Context, id string, stop bool) (release func(), err error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		claim, other, err := c.take(id, nil)
		if err != nil {
			return nil, err
		}
		if other == nil {
			return claim.Release, nil
		}
		if stop && other.stop != nil {
			other.stop()
		}
		if err := other.end(ctx, limit.C); err != nil {
			return nil, err
		}
	}
}

// take holds a conversation, or says who does. An exchange, which has a stop,
// is refused where none may begin.
func (c *claims) take(id string, stop func()) (claim *Claim, other *hold, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop != nil && (c.closed || c.leaving[id] > 0) {
		return nil, nil, fault.New(fault.Busy, "this conversation is being closed")
	}
	if other = c.held[id]; other != nil {
		return nil, other, nil
	}
	if c.held == nil {
		c.held = map[string]*hold{}
	}
	h := &hold{stop: stop, done: make(chan struct{})}
	c.held[id] = h
	return &Claim{c, h, sync.OnceFunc(func() {
		c.mu.Lock()
		delete(c.held, id)
		c.mu.Unlock()
		close(h.done)
	})}, nil, nil
}

// exchange returns the exchange that holds a conversation, nil for none.
func (c *claims) exchange(id string) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.held[id]; h != nil && h.stop != nil {
		return h
	}
	return nil
}

// yielded tells whether a hold gives way, and notes that it has to.
func (c *claims) yielded(h *hold) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.wanted = h.yields
	return h.yields
}

// leave counts who is deleting conversations.
func (c *claims) leave(ids []string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving == nil {
		c.leaving = map[string]int{}
	}
	for _, id := range ids {
		if c.leaving[id] += by; c.leaving[id] == 0 {
			delete(c.leaving, id)
		}
	}
}

// close lets no exchange begin any more and returns what is held now.
func (c *claims) close() []*hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	held := make([]*hold, 0, len(c.held))
	for _, h := range c.held {
		held = append(held, h)
	}
	return held
}
