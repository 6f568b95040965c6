package chat

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/lib/sse"
)

// farewell is how long a server may take from the finish reason to the end of
// its stream. The answer is whole by then; only the usage may still come.
const farewell = 5 * time.Second

// stream reads the body of an answer with status 200.
type stream struct {
	answer *answer
	hangUp func() // ends the request
	ctx    context.Context
	yield  func(llm.Chunk, error) bool
	html   bool // the server calls the body a web page; some do so of an answer
	left   bool // the consumer left the loop
}

// webPage is the error for a page instead of an answer. Asking again would
// bring the page again.
func (c Config) webPage() *llm.Error {
	return &llm.Error{Kind: llm.Rejected, Message: "the server answered with a web page", Hint: "check " + c.setting() + ": it leads to something else than a model server"}
}

// read yields what the body holds and how it ends.
func (s *stream) read(cfg Config, body io.Reader) {
	failed := s.events(cfg, bufio.NewReader(body))
	if failed != nil && failed.Kind == llm.Broken && s.html && !s.answer.begun {
		failed = cfg.webPage()
	}
	rest := s.answer.flush
	if failed == nil {
		rest = func([]llm.Chunk) (chunks []llm.Chunk) {
			chunks, failed = s.answer.end()
			return chunks
		}
	}
	sent := s.left || s.send(rest(nil))
	switch {
	case s.left, sent && failed == nil:
	case s.ctx.Err() != nil:
		s.yield(llm.Chunk{}, context.Cause(s.ctx))
	default:
		failed.Provider = cfg.Provider
		s.yield(llm.Chunk{}, failed)
	}
}

// send hands chunks on; false when the consumer left or the context ended.
func (s *stream) send(chunks []llm.Chunk) bool {
	for _, c := range chunks {
		if s.ctx.Err() != nil {
			return false
		}
		if !s.yield(c, nil) {
			s.left = true
			return false
		}
	}
	return true
}

// events reads to the end of a whole answer, to a failure, or until send says
// no. Every event gives at least one chunk, if only as a sign of life.
func (s *stream) events(cfg Config, in *bufio.Reader) *llm.Error {
	switch first(in) {
	case '{':
		return s.object(in)
	case '<':
		return cfg.webPage()
	}
	var grace *time.Timer
	for e, err := range sse.Read(in, sse.DefaultMax) {
		if err != nil {
			return s.cut(err)
		}
		data := strings.TrimSpace(e.Data)
		switch {
		case data == "[DONE]":
			s.answer.marked = true
			return nil
		case e.Type == "error" && !e.Comment:
			s.answer.begun = true
			return reported([]byte(data))
		case data == "" || e.Comment:
			if !s.send([]llm.Chunk{{}}) {
				return nil
			}
			continue
		}
		chunks, failed := s.answer.take([]byte(data))
		if !s.send(chunks) || failed != nil || s.answer.stopped {
			return failed
		}
		if s.answer.finish != "" && grace == nil {
			grace = time.AfterFunc(farewell, s.hangUp)
			defer grace.Stop()
		}
	}
	return s.cut(io.ErrUnexpectedEOF)
}

// object reads an answer that is one JSON object instead of a stream.
func (s *stream) object(in io.Reader) *llm.Error {
	raw, err := io.ReadAll(io.LimitReader(in, sse.DefaultMax+1))
	if err != nil {
		return s.cut(err)
	}
	if len(raw) > sse.DefaultMax {
		return s.cut(&sse.TooLong{Max: sse.DefaultMax})
	}
	chunks, failed := s.answer.take(raw)
	if !s.send(chunks) || failed != nil {
		return failed
	}
	return s.cut(io.ErrUnexpectedEOF)
}

// cut is what the end of the body means: nothing when the answer is whole.
func (s *stream) cut(err error) *llm.Error {
	if s.answer.whole() {
		return nil
	}
	e := &llm.Error{Kind: llm.Broken, Message: "the connection broke before the answer was complete", Err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Message = "the answer ended before it was complete"
	}
	if _, ok := errors.AsType[*sse.TooLong](err); ok {
		e.Kind, e.Message = llm.TooLong, err.Error()
	}
	return e
}

// first is the first byte of the body behind white space and a byte order
// mark, or 0.
func first(in *bufio.Reader) byte {
	for {
		next, err := in.Peek(1)
		if err != nil {
			return 0 // whoever reads on meets the error again
		}
		if next[0] == bom[0] {
			if next, _ = in.Peek(len(bom)); string(next) == bom {
				_, _ = in.Discard(len(bom))
				continue
			}
		}
		if strings.IndexByte(blanks, next[0]) < 0 {
			return next[0]
		}
		_, _ = in.Discard(1)
	}
}

// bom is what some servers put in front of UTF-8.
const bom = "\uFEFF"
