package cli

import (
	"context"
	"io"
)

// input reads standard input and gives up waiting for it when ctx ends: the
// first interrupt must be enough.
type input struct {
	ctx context.Context
	in  io.Reader
}

var _ io.Reader = input{}

// Read implements io.Reader. Errors: those of the reader, ctx's cause. What
// arrives after ctx ended is lost.
func (i input) Read(p []byte) (int, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data := make([]byte, len(p))
		n, err := i.in.Read(data)
		done <- result{data[:n], err}
	}()
	select {
	case r := <-done:
		return copy(p, r.data), r.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}
