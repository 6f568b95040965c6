package pipeline

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
)

// stage is an error with the stage of the exchange that it ended.
type stage struct {
	name  string
	model string
	err   error
}

func (s *stage) Error() string { return s.err.Error() }
func (s *stage) Unwrap() error { return s.err }

// at says where an error happened. One that says so already keeps its own.
func at(name string, err error) error {
	var s *stage
	if err == nil || errors.As(err, &s) || errors.Is(err, errStopped) {
		return err
	}
	return &stage{name: name, err: err}
}

// caught runs something, with a fault of the program as an error: it ends this
// and nothing else.
func caught(run func() error) (err error) {
	defer func() {
		if bad := recover(); bad != nil {
			err = fault.New(fault.Internal, "panic: %v\n%s", bad, debug.Stack())
		}
	}()
	return run()
}

// headlines are what a failure is called, by the kind of it.
var headlines = map[llm.Kind]string{
	llm.NoKey:       "No key for the model's server",
	llm.Denied:      "The model's server refused the key",
	llm.NoModel:     "The server does not know the model",
	llm.Rejected:    "The model's server refused the request",
	llm.Overfull:    "The scene is too long for the model",
	llm.RateLimited: "Too many requests",
	llm.Overloaded:  "The model's server is overloaded",
	llm.NoServer:    "Nothing answers at the model's address",
	llm.Unreachable: "The model's server cannot be reached",
	llm.TimedOut:    "The model fell silent",
	llm.Broken:      "The answer broke off",
	llm.TooLong:     "The answer did not end",
	llm.Empty:       "The model said nothing",
}

// longest is how much of a provider's own words is passed on, in bytes.
const longest = 2000

func (x *Exchange) problem(err error) ProblemData { return x.r.problem(x.ctx, err, x.id) }

// problem is what clients are told of an error. What is a fault of jp goes to
// the log.
func (r *Runner) problem(ctx context.Context, err error, where string) ProblemData {
	p := ProblemData{Headline: "The exchange failed", Sentence: "jp could not do this; its log says why", Kind: "internal"}
	var s *stage
	if errors.As(err, &s) {
		p.Stage, p.Model = s.name, s.model
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		p.Kind, p.Status, p.Host = "provider", e.Status, e.Provider
		if transport(e) {
			p.Kind = "transport"
		}
		p.Headline, p.Sentence, p.Body = headlines[e.Kind], told(e), cut(e.Message)
		return p
	}
	switch code := fault.CodeOf(err); code {
	case fault.Internal, fault.Storage, fault.Damaged:
		r.Log.ErrorContext(ctx, "exchange failed", "where", where, "stage", p.Stage, "code", string(code), "error", err)
	case fault.Provider:
		p.Headline, p.Sentence, p.Kind = "The model's answer cannot be used", told(err), "provider"
	default:
		p.Headline, p.Sentence, p.Kind = "This cannot be done as things are", told(err), "workflow"
	}
	return p
}

// told is an error with what can be done about it.
func told(err error) string {
	sentence := cut(err.Error())
	if hint := fault.HintOf(err); hint != "" {
		return sentence + ": " + hint
	}
	return sentence
}

func cut(s string) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + " …"
}

// transport tells whether a failure says that the server is not there, so that
// the next call would fail, too.
func transport(e *llm.Error) bool {
	switch e.Kind {
	case llm.NoKey, llm.Denied, llm.NoModel, llm.NoServer, llm.Unreachable, llm.TimedOut, llm.RateLimited, llm.Overloaded:
		return true
	}
	return false
}

// warn tells of a step that failed without ending the exchange. What a stop
// caused is no failure.
func (x *Exchange) warn(name string, err error) {
	if errors.Is(err, errStopped) || errors.Is(err, context.Canceled) {
		return
	}
	x.say(Warning, x.problem(at(name, err)))
}

// Unreached tells whether a call failed because there is no model to ask: none
// is chosen, or its server does not take calls.
func Unreached(err error) bool {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return transport(e)
	}
	return fault.CodeOf(err) == fault.Config
}
