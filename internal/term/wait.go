package term

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Ticks makes a ticker: its channel and how it is stopped.
type Ticks func(every time.Duration) (<-chan time.Time, func())

// Ticker is the Ticks of the wall clock.
func Ticker(every time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(every)
	return t.C, t.Stop
}

// waiter draws one line at the cursor, which must be at the beginning of a
// line, once a second until it is stopped. It uses \r and spaces only, so
// that it needs no escape sequence.
type waiter struct {
	stream Stream
	text   string
	quit   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	stopped bool
	shown   int // cells
}

// wait starts a waiter that shows itself after delay (at least a second).
func wait(s Stream, text string, delay time.Duration, ticks Ticks) *waiter {
	w := &waiter{stream: s, text: text, quit: make(chan struct{}), done: make(chan struct{})}
	c, stop := ticks(time.Second)
	go func() {
		defer close(w.done)
		defer stop()
		for passed := time.Second; ; passed += time.Second {
			select {
			case <-w.quit:
				return
			case <-c:
			}
			if passed >= delay {
				w.draw(passed)
			}
		}
	}()
	return w
}

func (w *waiter) draw(passed time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	width := w.stream.wrap(0) - 1 // a line that fills the width would wrap
	if w.stopped || width < 1 {
		return
	}
	line := Line(fmt.Sprintf("%s… %s", w.text, passed), width)
	cells := ansi.StringWidth(line)
	_, _ = io.WriteString(w.stream, "\r"+w.stream.paint(dim, line)+strings.Repeat(" ", max(0, w.shown-cells)))
	w.shown = cells
}

// stop erases the line; nothing is drawn after it returns. A nil waiter is
// stopped already.
func (w *waiter) stop() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.stopped = true
	if w.shown > 0 {
		_, _ = io.WriteString(w.stream, "\r"+strings.Repeat(" ", w.shown)+"\r")
	}
	w.mu.Unlock()
	close(w.quit)
	<-w.done
}
