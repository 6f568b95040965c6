// Package fault holds the errors that people read. Every error that reaches a
// face carries a code from a closed set, a sentence that says what failed and,
// where there is something to do, a hint that says what.
//
// Nobody decides anything by an error's text: faces map the code to an exit
// code or an HTTP status in one table each. An error without a code is a
// defect of ours and counts as Internal.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Code classifies an error for faces.
type Code string

// The closed set of codes.
const (
	Usage       Code = "usage"       // the call itself is wrong
	Invalid     Code = "invalid"     // well-formed, but not allowed as things are
	NotFound    Code = "not_found"   // what was named does not exist
	Conflict    Code = "conflict"    // it exists already, or something newer does
	Busy        Code = "busy"        // somebody else holds it
	Config      Code = "config"      // a configuration file or value is wrong
	Damaged     Code = "damaged"     // stored data cannot be read
	Storage     Code = "storage"     // the file system refused
	Provider    Code = "provider"    // a model provider refused, failed or broke off
	Interrupted Code = "interrupted" // a person stopped it
	Internal    Code = "internal"    // a defect of ours
)

// Coded is what an error implements to speak for itself.
type Coded interface {
	error
	FaultCode() Code
	// FaultHint says what to do, or is empty.
	FaultHint() string
}

// Error is the ordinary Coded error.
type Error struct {
	Code    Code
	Message string // one line, no final full stop
	Hint    string // one line; empty when there is nothing to do
	Err     error  // cause, may be nil
}

var _ Coded = (*Error)(nil)

// New returns an error with a code and a formatted sentence.
func New(code Code, format string, args ...any) *Error {
	e := &Error{Code: code}
	err := fmt.Errorf(format, args...)
	e.Message = err.Error()
	e.Err = errors.Unwrap(err)
	return e
}

// WithHint returns a copy of e that carries a formatted hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

func (e *Error) Error() string     { return e.Message }
func (e *Error) Unwrap() error     { return e.Err }
func (e *Error) FaultCode() Code   { return e.Code }
func (e *Error) FaultHint() string { return e.Hint }

// CodeOf returns the code of the outermost Coded error in err's chain. A bare
// context.Canceled is Interrupted; anything else without a code is Internal.
func CodeOf(err error) Code {
	if c, ok := errors.AsType[Coded](err); ok {
		return c.FaultCode()
	}
	if errors.Is(err, context.Canceled) {
		return Interrupted
	}
	return Internal
}

// Reason returns why the file system refused, without the path, for a sentence
// that names it. Other errors are returned as they are.
func Reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// HintOf returns the first hint found in err's chain, or "".
func HintOf(err error) string {
	for err != nil {
		c, ok := errors.AsType[Coded](err)
		if !ok {
			return ""
		}
		if h := c.FaultHint(); h != "" {
			return h
		}
		err = errors.Unwrap(c)
	}
	return ""
}
