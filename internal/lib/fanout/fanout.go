// Package fanout gives every event of a running piece of work to every reader,
// however late it comes and however slowly it reads.
//
// A Log is written by one side and read by any number: a reader begins after
// any event it has seen before and gets what follows, in order, then what is
// still to come, until the log is closed. Appending never waits for readers
// and never fails. The log keeps the newest events up to a size; a reader that
// asks for older ones is told once that there is a gap and goes on with the
// oldest that is left. There is no queue for each reader, because a queue is
// either unbounded or loses events without anybody knowing which.
//
// Topics keep the newest log of each key until a while after it was closed.
// Everything may be called from any goroutine.
package fanout

import (
	"context"
	"io"
	"sync"
	"time"
)

// Item is what a reader gets: an event with its number, from 1 on, or the news
// of a Gap before it, in which case there is no Value.
type Item[T any] struct {
	Seq   int64
	Value T
	Gap   bool
}

// Log is one piece of work's events.
type Log[T any] struct {
	name string
	most int
	size func(T) int

	mu      sync.Mutex
	first   int64 // number of events[0]
	events  []T
	held    int           // size of events
	closed  bool          // nothing follows
	changed chan struct{} // closed and replaced when something does
	onClose func()
}

// New returns a log that keeps at least its newest event, and more up to a
// total size. The name tells it from other logs of the same key.
func New[T any](name string, most int, size func(T) int) *Log[T] {
	return &Log[T]{name: name, most: most, size: size, first: 1, changed: make(chan struct{})}
}

// Name is the one that the log was made with.
func (l *Log[T]) Name() string { return l.name }

// Append adds an event and returns its number. After Close it does nothing and
// returns 0.
func (l *Log[T]) Append(v T) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0
	}
	l.events = append(l.events, v)
	l.held += l.size(v)
	var none T
	for l.held > l.most && len(l.events) > 1 {
		l.held -= l.size(l.events[0])
		l.events[0] = none
		l.events = l.events[1:]
		l.first++
	}
	l.wake()
	return l.first + int64(len(l.events)) - 1
}

// Close says that nothing follows. Readers get what there is and then io.EOF.
func (l *Log[T]) Close() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	l.wake()
	l.mu.Unlock()
	if l.onClose != nil {
		l.onClose()
	}
}

// Ended reports whether the log is closed and there is nothing after an event.
func (l *Log[T]) Ended(after int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed && after >= l.first+int64(len(l.events))-1
}

func (l *Log[T]) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// After returns a reader of what follows an event; 0 is all of it. A number
// from the future counts as all of it, too: it is no number of this log's.
func (l *Log[T]) After(seq int64) *Reader[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq < 0 || seq >= l.first+int64(len(l.events)) {
		seq = 0
	}
	return &Reader[T]{log: l, seen: seq}
}

// Reader is one reader's place in a log. It is for one goroutine.
type Reader[T any] struct {
	log  *Log[T]
	seen int64
}

// Next returns the next item, waiting for it. Errors: io.EOF at the end of a
// closed log, and ctx's. What is there already comes even if ctx is done.
func (r *Reader[T]) Next(ctx context.Context) (Item[T], error) {
	for {
		item, changed, ok := r.take()
		if ok {
			return item, nil
		}
		if changed == nil {
			return Item[T]{}, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Item[T]{}, ctx.Err()
		}
	}
}

// take returns the next item or, without one, what to wait for; nil is the end.
func (r *Reader[T]) take() (Item[T], <-chan struct{}, bool) {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.seen+1 < l.first {
		r.seen = l.first - 1
		return Item[T]{Seq: r.seen, Gap: true}, nil, true
	}
	if at := int(r.seen + 1 - l.first); at < len(l.events) {
		r.seen++
		return Item[T]{Seq: r.seen, Value: l.events[at]}, nil, true
	}
	if l.closed {
		return Item[T]{}, nil, false
	}
	return Item[T]{}, l.changed, false
}

// Topics hold one log for each key: the newest.
type Topics[T any] struct {
	keep time.Duration
	most int
	size func(T) int

	mu   sync.Mutex
	logs map[string]*Log[T]
}

// NewTopics returns topics whose logs keep up to a size and are kept for a
// while after they are closed.
func NewTopics[T any](keep time.Duration, most int, size func(T) int) *Topics[T] {
	return &Topics[T]{keep: keep, most: most, size: size, logs: map[string]*Log[T]{}}
}

// Start begins a log in place of the key's former one, which its readers may
// read to its end.
func (t *Topics[T]) Start(key, name string) *Log[T] {
	l := New(name, t.most, t.size)
	l.onClose = func() {
		time.AfterFunc(t.keep, func() { t.drop(key, l) })
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.logs[key] = l
	return l
}

// Of returns the key's log, or nil.
func (t *Topics[T]) Of(key string) *Log[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.logs[key]
}

func (t *Topics[T]) drop(key string, l *Log[T]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.logs[key] == l {
		delete(t.logs, key)
	}
}
