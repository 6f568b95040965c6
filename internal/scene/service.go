package scene

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"jp/internal/lib/fault"
)

// Config is what a Service works with.
type Config struct {
	Store Store
	Now   func() time.Time
	Rand  io.Reader
	// Standing are the endpoints that files and environment name. They cannot
	// be changed here.
	Standing []Endpoint
}

// Service is the one way to change scenes. It is safe for use by many
// goroutines.
type Service struct {
	Config

	mu   sync.Mutex
	last time.Time // the newest time given out

	claims claims
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{Config: cfg} }

// now is the time, in whole microseconds, later than any it gave before.
func (s *Service) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.Now().UTC().Truncate(time.Microsecond)
	if !t.After(s.last) {
		t = s.last.Add(time.Microsecond)
	}
	s.last = t
	return t
}

// newID returns a random id, a UUID of version 4.
func (s *Service) newID() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := uuid.NewRandomFromReader(s.Rand)
	if err != nil {
		return "", fault.New(fault.Internal, "no randomness: %w", err)
	}
	return id.String(), nil
}

// NewID returns an id for what is made outside of the store, like an exchange.
func (s *Service) NewID() (string, error) { return s.newID() }

// read runs fn on a snapshot and returns what it finds.
func read[T any](ctx context.Context, s *Service, fn func(Tx) (T, error)) (out T, err error) {
	err = s.Store.View(ctx, func(tx Tx) error {
		out, err = fn(tx)
		return err
	})
	return out, err
}

// write runs fn in a transaction and returns what it made.
func write[T any](ctx context.Context, s *Service, fn func(Tx) (T, error)) (out T, err error) {
	err = s.Store.Update(ctx, func(tx Tx) error {
		out, err = fn(tx)
		return err
	})
	return out, err
}
