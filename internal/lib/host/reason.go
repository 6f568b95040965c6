package host

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Reason is why a request got no answer, without the calls, ports and
// resolvers by which the network tells it.
func Reason(err error) string {
	if at := Proxy(err); at != nil {
		return "the proxy: " + Reason(at)
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "it took too long"
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return name.Err
	}
	if code, ok := errors.AsType[syscall.Errno](err); ok {
		return code.Error()
	}
	if trust, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return strings.TrimPrefix(trust.Err.Error(), "x509: ")
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it speaks http, not https"
	}
	return err.Error()
}

// Proxy is what a proxy failed of, nil when it was none.
func Proxy(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		return op.Err
	}
	return nil
}
