package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"

	"jp/internal/lib/fault"
)

// outlet is standard output. When it cannot be written to any more, the run
// is stopped as by an interrupt: what was shown is saved, and nobody is asked
// for an answer that nobody reads.
type outlet struct {
	w    io.Writer
	lost context.CancelCauseFunc

	mu  sync.Mutex
	err error // of the first write that failed
}

var _ io.Writer = (*outlet)(nil)

// Write implements io.Writer.
func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
		o.lost(o.failure())
	}
	return n, err
}

// Fd is the file behind it, for those who ask whether it is a terminal.
func (o *outlet) Fd() uintptr {
	if f, ok := o.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// failure says why nothing can be written any more; nil while it can.
func (o *outlet) failure() error {
	o.mu.Lock()
	err := o.err
	o.mu.Unlock()
	switch {
	case err == nil:
		return nil
	case o.closed():
		return fault.New(fault.Interrupted, "nobody reads the output any more")
	}
	return fault.New(fault.Storage, "cannot write the output: %w", err)
}

// closed tells whether the reader went away.
func (o *outlet) closed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return errors.Is(o.err, syscall.EPIPE) || errors.Is(o.err, io.ErrClosedPipe)
}
