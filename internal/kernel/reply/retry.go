package reply

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"jp/internal/kernel/llm"
)

// mayRetry tells whether the same call may be made again: nothing of it was
// shown and the error is of a kind that passes. A stop is no such error.
func (c *call) mayRetry(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Retryable() && !c.began
}

// wait returns how long to wait before the n-th retry: what the provider asked
// for, else a doubling time, never more than the longest.
func (l Limits) wait(n int, err error) time.Duration {
	wait := l.Backoff
	if e, ok := errors.AsType[*llm.Error](err); ok && e.RetryAfter > 0 {
		wait = e.RetryAfter
	} else {
		for i := 1; i < n && wait < math.MaxInt64/2; i++ {
			wait *= 2
		}
	}
	if l.MaxBackoff > 0 {
		wait = min(wait, l.MaxBackoff)
	}
	return wait
}

func retryNotice(err error, n, of int, wait time.Duration) string {
	kind := "failed"
	if e, ok := errors.AsType[*llm.Error](err); ok {
		kind = strings.ReplaceAll(string(e.Kind), "_", " ")
	}
	notice := fmt.Sprintf("%s, retrying (%d/%d)", kind, n, of)
	if wait >= time.Second {
		wait = wait.Round(time.Second)
	}
	if wait > 0 {
		notice += fmt.Sprintf(" in %s", wait)
	}
	return notice
}

// sleep waits for d or returns why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
