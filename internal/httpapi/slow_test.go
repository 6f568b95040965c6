package httpapi

import (
	"bufio"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// once is a listener with one connection.
type once chan net.Conn

func (o once) Accept() (net.Conn, error) {
	if conn, ok := <-o; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (o once) Close() error   { close(o); return nil }
func (o once) Addr() net.Addr { return &net.TCPAddr{} }

// Whoever announces a body and does not send it is answered and let go,
// whether the body is read or not.
func TestBodyThatDoesNotCome(t *testing.T) {
	const body = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
	for request, status := range map[string]int{
		"POST /api/worlds HTTP/1.1\r\nHost: localhost\r\n":                      http.StatusRequestTimeout,
		"POST /api/worlds HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n": http.StatusRequestTimeout,
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n":                          http.StatusOK,
		"POST /login HTTP/1.1\r\nHost: localhost\r\n":                           http.StatusUnauthorized,
		"POST /nowhere HTTP/1.1\r\nHost: localhost\r\n":                         http.StatusNotFound,
		"POST /api/worlds HTTP/1.1\r\nHost: evil.example\r\n":                   http.StatusMisdirectedRequest,
	} {
		synctest.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			ln := make(once, 1)
			ln <- there
			srv := &http.Server{Handler: New(Config{
				Version: "test", Log: slog.New(slog.DiscardHandler), Now: time.Now, Rand: rand.NewChaCha8([32]byte{}),
			})}
			go func() { _ = srv.Serve(ln) }()
			defer srv.Close()
			if _, err := io.WriteString(here, request+body); err != nil {
				t.Fatal(err)
			}
			_ = here.SetReadDeadline(time.Now().Add(time.Minute))
			in := bufio.NewReader(here)
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("%q: %v", request, err)
			}
			if answer.StatusCode != status {
				t.Errorf("%q: %d, want %d", request, answer.StatusCode, status)
			}
			if _, err := io.Copy(io.Discard, in); err != nil {
				t.Errorf("%q: the connection stays: %v", request, err)
			}
		})
	}
}
