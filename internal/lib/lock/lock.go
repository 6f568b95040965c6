// Package lock keeps other processes out of a piece of data while one changes
// it, by flock on a file beside the data.
//
// The lock file is never removed: whoever unlinks a file on which others wait
// lets two of them in. Because other tools at the same path do remove it, the
// file's identity is checked again after the lock was acquired and a lock on
// an orphaned file is given up and tried anew. The file is opened without
// truncation and the holder's line is written only once the lock is held, so
// a waiter can always say who holds it. A process that dies releases its locks.
//
// Two Acquires in one process exclude each other like two processes do. Locks
// on network file systems are as reliable as those are. A Lock may be released
// from any goroutine, once.
package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"jp/internal/lib/fault"
)

const poll = 20 * time.Millisecond

// Options says how to wait and what to tell others.
type Options struct {
	// Wait is how long to wait for the lock: below 0 for ever, 0 not at all.
	Wait time.Duration
	Note string // the holder's command, for those who wait
	Pid  int    // the holder's process id
	// OnWait, if set, is called once when the lock is not free at first, with
	// the holder as far as it is known, e.g. "4711 (jp query)".
	OnWait func(holder string)
	// Now is the clock for the holder's line, which goes without a time if nil.
	Now func() time.Time
}

// Lock is a held lock.
type Lock struct {
	f *flock.Flock
}

// Held is the error of a lock that stayed in other hands. Its code is
// fault.Busy.
type Held struct {
	Holder string // e.g. "4711 (jp query)"; empty when unknown
	Waited time.Duration
}

var _ fault.Coded = (*Held)(nil)

func (h *Held) Error() string {
	who := "another process"
	if h.Holder != "" {
		who = "process " + h.Holder
	}
	if h.Waited > 0 {
		return fmt.Sprintf("still locked by %s after %s", who, h.Waited)
	}
	return "locked by " + who
}

// FaultCode implements fault.Coded.
func (h *Held) FaultCode() fault.Code { return fault.Busy }

// FaultHint implements fault.Coded.
func (h *Held) FaultHint() string {
	return "wait for it to finish"
}

// holder is the line in the lock file.
type holder struct {
	Pid        int    `json:"pid"`
	Command    string `json:"command,omitempty"`
	AcquiredAt string `json:"acquired_at,omitempty"`
}

// Acquire locks path, creating the file and its directories. Errors: *Held
// when the wait is over, ctx's cause, and those of the file system.
func Acquire(ctx context.Context, path string, opt Options) (*Lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	wait, cancel := ctx, func() {}
	if opt.Wait > 0 {
		wait, cancel = context.WithTimeout(ctx, opt.Wait)
	}
	defer cancel()
	for waited := false; ; {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		l, err := try(path)
		if err != nil {
			return nil, err
		}
		if l != nil {
			l.sign(opt)
			return l, nil
		}
		if opt.Wait == 0 {
			return nil, &Held{Holder: Holder(path)}
		}
		if !waited && opt.OnWait != nil {
			opt.OnWait(Holder(path))
		}
		waited = true
		select {
		case <-wait.Done():
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			return nil, &Held{Holder: Holder(path), Waited: opt.Wait}
		case <-time.After(poll):
		}
	}
}

// try returns nil without an error when the lock is not to be had right now.
func try(path string) (*Lock, error) {
	// Read and write, because the holder's line goes through the same file.
	f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR))
	ok, err := f.TryLock()
	if err != nil || !ok {
		return nil, err
	}
	if !current(f, path) {
		return nil, f.Unlock()
	}
	return &Lock{f: f}, nil
}

// current reports whether the locked file is still the one at path.
func current(f *flock.Flock, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(mine, there)
}

// sign writes the holder's line. It only informs, so failing is no error.
func (l *Lock) sign(opt Options) {
	h := holder{Pid: opt.Pid, Command: opt.Note}
	if opt.Now != nil {
		h.AcquiredAt = opt.Now().UTC().Format(time.RFC3339Nano)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return
	}
	f, err := os.OpenFile(l.f.Path(), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	line = append(line, '\n')
	if _, err := f.WriteAt(line, 0); err == nil {
		_ = f.Truncate(int64(len(line))) // a longer line of an earlier holder
	}
}

// Release gives the lock back. The file stays.
func (l *Lock) Release() error { return l.f.Unlock() }

// Holder describes who last acquired the lock at path, e.g. "4711 (jp query)",
// or is empty when nobody did or it cannot be read. It does not say whether
// the lock is held.
func Holder(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var h holder
	if json.Unmarshal(data, &h) != nil || h.Pid == 0 {
		return ""
	}
	if h.Command == "" {
		return fmt.Sprint(h.Pid)
	}
	return fmt.Sprintf("%d (%s)", h.Pid, h.Command)
}

// Free reports whether path could be locked right now. A file that does not
// exist is free and is not created.
func Free(path string) bool {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	l, err := try(path)
	if err != nil || l == nil {
		return false
	}
	return l.Release() == nil
}
