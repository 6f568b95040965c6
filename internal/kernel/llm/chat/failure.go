package chat

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"jp/internal/kernel/llm"
	"jp/internal/lib/host"
)

const (
	maxErrorBody = 64 << 10
	maxSentence  = 500            // bytes of a provider's own sentence
	maxWait      = 24 * time.Hour // of a Retry-After; also keeps it from overflowing
	leastSecret  = 8              // bytes of a key; what is shorter stands in for none, and in words
)

// discreet keeps the key out of what servers say of it in errors: some quote it
// whole, and errors are shown, sent on and logged.
func (m *model) discreet(yield func(llm.Chunk, error) bool) func(llm.Chunk, error) bool {
	if len(m.cfg.Key) < leastSecret {
		return yield
	}
	return func(c llm.Chunk, err error) bool {
		if e, ok := errors.AsType[*llm.Error](err); ok {
			e.Message = strings.ReplaceAll(e.Message, m.cfg.Key, "…")
		}
		return yield(c, err)
	}
}

// unreachable is the error of a request that got no answer.
func (m *model) unreachable(to *url.URL, err error) *llm.Error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // the URL is said already
	}
	at, setting := address(to), m.cfg.setting()
	e := &llm.Error{
		Kind: llm.Unreachable, Provider: m.cfg.Provider, Err: err,
		Message: "no answer from " + at + ": " + host.Reason(err),
		Hint:    "is the server running at " + at + "? Otherwise set " + setting,
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		e.Kind = llm.TimedOut
	}
	if name, ok := errors.AsType[*net.DNSError](err); errors.Is(err, syscall.ECONNREFUSED) || ok && name.IsNotFound {
		e.Kind = llm.NoServer // a person has to start it or correct the address: waiting would only hide that
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Kind, e.Hint = llm.Rejected, "the server's certificate is not trusted; check "+setting
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		e.Kind, e.Hint = llm.Rejected, "write http instead of https in "+setting
	}
	if host.Proxy(err) != nil {
		e.Hint = "is the proxy running? Otherwise set another one, or none"
	}
	return e
}

// address is the server as base_url names it: without credentials and query,
// which are nobody's to read, and without what was added to it.
func address(to *url.URL) string {
	path := strings.TrimSuffix(strings.TrimSuffix(to.Path, "/chat/completions"), "/v1")
	return to.Scheme + "://" + to.Host + path
}

// status is the error of an answer other than 200.
func (m *model) status(to *url.URL, model string, resp *http.Response) *llm.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came of it will do
	text, code := errorText(body)
	e := &llm.Error{
		Provider: m.cfg.Provider, Status: resp.StatusCode, Message: text,
		Kind: kindOf(resp.StatusCode, code), RetryAfter: retryAfter(resp.Header),
	}
	if e.Message == "" {
		e.Message = "the server answered " + resp.Status
	}
	at := address(to)
	switch e.Kind {
	case llm.Overfull:
		e.Hint = overfull
	case llm.Denied:
		e.Hint = "check " + m.cfg.keyName()
		if m.cfg.Key == "" {
			e.Hint = "set " + m.cfg.keyName()
		}
	case llm.NoModel:
		e.Hint = "check the model's name, " + strconv.Quote(model) + ", and that " + m.cfg.setting() + " leads to the right server: it is " + at
	}
	if resp.StatusCode < 400 {
		e.Message = "the server at " + at + " answered " + resp.Status + " instead of a stream"
		e.Hint = "check " + m.cfg.setting() + "; redirects are not followed"
		if target, err := resp.Location(); err == nil {
			e.Hint = "redirects are not followed; if " + target.Scheme + "://" + target.Host + " is right, set it as " + m.cfg.setting()
		}
	}
	return e
}

// overfull is what can be done about a request that is longer than the model
// holds.
const overfull = "the conversation is too long for this model: ask one with a larger context, or begin a new conversation"

// kindOf classifies a failure by the HTTP status and the provider's code,
// either of which may be missing.
func kindOf(status int, code string) llm.Kind {
	switch code {
	case "model_not_found":
		return llm.NoModel
	case "context_length_exceeded", "exceed_context_size_error":
		return llm.Overfull
	case "insufficient_quota": // sent with 429, but no waiting helps
		return llm.Rejected
	}
	if status == 0 {
		status = statusOf(code)
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return llm.Denied
	case status == http.StatusNotFound:
		return llm.NoModel
	case status == http.StatusRequestTimeout:
		return llm.TimedOut
	case status == http.StatusTooManyRequests:
		return llm.RateLimited
	case status >= 500:
		return llm.Overloaded
	case status > 0:
		return llm.Rejected
	}
	return llm.Broken
}

// statusOf is the HTTP status that an error code inside a stream stands for.
func statusOf(code string) int {
	switch code {
	case "rate_limit_exceeded", "rate_limit_error":
		return http.StatusTooManyRequests
	case "authentication_error", "invalid_api_key", "permission_error":
		return http.StatusUnauthorized
	case "invalid_request_error", "context_length_exceeded", "exceed_context_size_error":
		return http.StatusBadRequest
	case "overloaded_error", "server_error", "api_error", "internal_error":
		return http.StatusServiceUnavailable
	}
	status, err := strconv.Atoi(code)
	if err != nil || status < 400 || status > 599 {
		return 0
	}
	return status
}

// reported is the error that a server reports within an answer.
func reported(raw []byte) *llm.Error {
	text, code := errorText(raw)
	if text == "" {
		text = "the server reported an error without a word"
	}
	e := &llm.Error{Kind: kindOf(0, code), Message: text}
	if e.Kind == llm.Overfull {
		e.Hint = overfull
	}
	return e
}

// errorText reads a provider's sentence and code out of an error body: the
// JSON forms in use, or plain text. A web page has no sentence.
func errorText(body []byte) (text, code string) {
	var v any
	if json.Unmarshal(body, &v) == nil {
		text, code = sentence(v)
	} else if page := strings.TrimSpace(string(body)); !strings.HasPrefix(page, "<") {
		text = page
	}
	return shorten(text), code
}

// sentence looks for a message and a code in a decoded error.
func sentence(v any) (text, code string) {
	switch v := v.(type) {
	case string:
		return v, ""
	case []any:
		if len(v) > 0 {
			return sentence(v[0])
		}
	case map[string]any:
		for _, key := range []string{"error", "message", "detail"} {
			if text == "" && v[key] != nil {
				text, code = sentence(v[key])
			}
		}
		for _, key := range []string{"code", "type"} {
			switch c := v[key].(type) {
			case string:
				if code == "" || statusOf(c) != 0 && numeric(code) { // a word that is known says more
					code = c
				}
			case float64:
				code = cmp.Or(code, strconv.FormatFloat(c, 'f', -1, 64))
			}
		}
	}
	return text, code
}

func numeric(code string) bool {
	_, err := strconv.Atoi(code)
	return err == nil
}

// shorten makes text one line of at most maxSentence bytes.
func shorten(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
	if len(text) <= maxSentence {
		return text
	}
	cut := maxSentence - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// retryAfter reads how long the server asks to wait: seconds, or a date, which
// is read against the server's own clock.
func retryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		if !(seconds > 0) { // also no number
			return 0
		}
		return time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), maxWait)
}
