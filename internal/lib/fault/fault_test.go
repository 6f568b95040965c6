package fault

import (
	"errors"
	"io/fs"
	"testing"
)

func TestReason(t *testing.T) {
	plain := errors.New("no")
	path := &fs.PathError{Op: "open", Path: "secret/name", Err: fs.ErrPermission}
	for _, c := range []struct{ err, want error }{
		{path, fs.ErrPermission},
		{New(Storage, "x: %w", path), fs.ErrPermission},
		{plain, plain},
		{nil, nil},
	} {
		if got := Reason(c.err); got != c.want {
			t.Errorf("Reason(%v) = %v", c.err, got)
		}
	}
}
