package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// logged writes a line for each request: what was asked and how it ended, with
// no query, header or body, since these hold what people write. Reading that
// succeeds is only worth a debug line. A defect ends its request, not more.
func logged(cfg Config, next http.Handler) http.Handler {
	now := cfg.Now
	if now == nil {
		now = func() time.Time { return time.Time{} }
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, seen := now(), &recorder{ResponseWriter: w}
		defer func() {
			seen.recovered(r.Context(), cfg.Log, recover())
			level := slog.LevelDebug
			if r.Method != http.MethodGet && r.Method != http.MethodHead || seen.status >= 400 {
				level = slog.LevelInfo
			}
			cfg.Log.Log(r.Context(), level, "request", "method", method(r), "path", r.URL.Path,
				"status", seen.status, "bytes", seen.bytes, "took", now().Sub(began))
		}()
		next.ServeHTTP(seen, r)
	})
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status int // 0 before anything was answered
	bytes  int64
}

// recovered logs the defect that a handler broke off with, if any, and answers
// where nothing was answered yet.
func (r *recorder) recovered(ctx context.Context, log *slog.Logger, defect any) {
	if defect == nil || ctx.Err() != nil { // who went away is told nothing
		return
	}
	log.ErrorContext(ctx, "defect", "what", defect, "stack", string(debug.Stack()))
	if r.status == 0 {
		writeProblem(r, &Problem{Status: http.StatusInternalServerError, Detail: "this is a fault of jp; its log says more"})
	}
}

// Unwrap lets http.ResponseController flush.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}
