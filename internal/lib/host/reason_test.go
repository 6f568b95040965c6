package host

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestReason(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for want, err := range map[string]error{
		"connection refused":            fmt.Errorf("Post: %w", refused),
		"the proxy: connection refused": &net.OpError{Op: "proxyconnect", Err: refused},
		"no such host":                  &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", Server: "10.0.0.1:53"}},
		"it took too long":              &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
		"it closed the connection":      fmt.Errorf("read: %w", io.ErrUnexpectedEOF),
		"something else":                errors.New("something else"),
	} {
		if got := Reason(err); got != want {
			t.Errorf("Reason(%v) = %q, want %q", err, got, want)
		}
	}
}
