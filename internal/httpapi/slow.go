package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// bodyWait is how long a body may take that no operation gives more time. It
// also bounds bodies that nobody reads, those of refused requests: the server
// reads what is left of them before it answers.
const bodyWait = 2 * bodyTime

// hurried lets go of clients whose body does not come.
func hurried(cfg Config, next http.Handler) http.Handler {
	if cfg.Now == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			conn := http.NewResponseController(w)
			_ = conn.SetReadDeadline(cfg.Now().Add(bodyWait)) // there is none in tests without a connection
			r = r.WithContext(r.Context())                    // the server looks at the body of its own
			r.Body = &upload{ReadCloser: r.Body, read: func() { _ = conn.SetReadDeadline(time.Time{}) }}
		}
		next.ServeHTTP(w, r)
	})
}

// upload is a request body. Its deadline ends with it: later, it would end the
// answer, which may be a long stream. One that broke off keeps it.
type upload struct {
	io.ReadCloser
	read func()
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		u.read()
	}
	return n, err
}
