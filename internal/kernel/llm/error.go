package llm

import (
	"time"

	"jp/internal/lib/fault"
)

// Kind classifies how a model call failed.
type Kind string

// The kinds of failure.
const (
	NoKey       Kind = "no_key"       // there is no key that may be sent; nothing was sent
	Denied      Kind = "denied"       // 401, 403
	NoModel     Kind = "no_model"     // the server does not know the model
	Rejected    Kind = "rejected"     // the server refuses this request (other 4xx)
	Overfull    Kind = "overfull"     // the request is longer than the model holds
	RateLimited Kind = "rate_limited" // 429
	Overloaded  Kind = "overloaded"   // 5xx, "overloaded"
	NoServer    Kind = "no_server"    // nothing listens at the address, or the name is unknown
	Unreachable Kind = "unreachable"  // no connection, reset before an answer
	TimedOut    Kind = "timed_out"    // nothing came for too long
	Broken      Kind = "broken"       // the stream was cut or is not the protocol
	TooLong     Kind = "too_long"     // the answer passed the byte ceiling
	Empty       Kind = "empty"        // the answer held nothing
)

// Error is every failure of a model call. Message is the provider's own
// sentence where there is one; it is untrusted text.
type Error struct {
	Kind       Kind
	Provider   string
	Status     int // HTTP status, 0 when there was none
	Message    string
	Hint       string
	RetryAfter time.Duration // what the provider asked for; 0 when it did not
	Err        error
}

var _ fault.Coded = (*Error)(nil)

func (e *Error) Error() string {
	if e.Provider == "" {
		return e.Message
	}
	return e.Provider + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable tells whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimited, Overloaded, Unreachable, TimedOut, Broken:
		return true
	}
	return false
}

// FaultCode implements fault.Coded.
func (e *Error) FaultCode() fault.Code {
	if e.Kind == NoKey {
		return fault.Config
	}
	return fault.Provider
}

// FaultHint implements fault.Coded.
func (e *Error) FaultHint() string { return e.Hint }
