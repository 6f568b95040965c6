package cli

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"jp/internal/lib/fault"
)

// maxStdin is how much of standard input a query may hold, in bytes.
const maxStdin = 32 << 20

// checkText refuses what is not text: it could not be kept as it is.
func checkText(what, text, hint string) error {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return nil
	}
	return fault.New(fault.Usage, "%s is not text in UTF-8", what).WithHint("%s", hint)
}

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
