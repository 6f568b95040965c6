package llmtest

import (
	"context"
	"iter"
	"sync"

	"jp/internal/kernel/llm"
)

// Step is one thing a Scripted model does: it waits for Wait when that is set,
// then yields Err when that is set, else Chunk. A Wait that is never closed
// hangs until the context ends.
type Step struct {
	Chunk llm.Chunk
	Err   error
	Wait  <-chan struct{}
}

// Answer is what a Scripted model does with one request. An answer is taken as
// it is: one without a finish or an error at its end breaks the contract of
// llm.Model on purpose.
type Answer []Step

// Say answers with text, word by word.
func Say(text string) Answer {
	var a Answer
	for _, w := range words(text) {
		a = append(a, Step{Chunk: llm.Chunk{Text: w}})
	}
	return append(a, Step{Chunk: llm.Chunk{
		Finish: llm.FinishStop,
		Usage:  &llm.Usage{Input: 10, Output: len(words(text))},
	}})
}

// Use answers with tool calls, each in two fragments.
func Use(calls ...llm.ToolCall) Answer {
	var a Answer
	for i, c := range calls {
		half := len(c.Arguments) / 2
		a = append(a,
			Step{Chunk: llm.Chunk{Tool: &llm.ToolDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: string(c.Arguments[:half])}}},
			Step{Chunk: llm.Chunk{Tool: &llm.ToolDelta{Index: i, Arguments: string(c.Arguments[half:])}}})
	}
	return append(a, Step{Chunk: llm.Chunk{Finish: llm.FinishToolCalls}})
}

// Break streams text, word by word, and then fails.
func Break(text string, err error) Answer {
	said := Say(text)
	return append(said[:len(said)-1:len(said)-1], Step{Err: err})
}

// Stall streams text, word by word, and then waits until wait is closed (nil:
// until the context ends) before it finishes.
func Stall(text string, wait <-chan struct{}) Answer {
	if wait == nil {
		wait = make(chan struct{})
	}
	said := Say(text)
	said[len(said)-1].Wait = wait
	return said
}

// Scripted is an llm.Model that gives its answers one after another, each to
// one request. A request beyond the last is refused (llm.Rejected).
type Scripted struct {
	mu      sync.Mutex
	answers []Answer
}

var _ llm.Model = (*Scripted)(nil)

// Script returns a model with these answers.
func Script(answers ...Answer) *Scripted { return &Scripted{answers: answers} }

// Left is the number of answers not yet given.
func (s *Scripted) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers)
}

func (s *Scripted) next() Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return Break("", &llm.Error{Kind: llm.Rejected, Provider: "scripted", Message: "the script has no answer left"})
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	return a
}

// Stream implements llm.Model.
func (s *Scripted) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for _, step := range s.next() {
			if step.Wait != nil {
				select {
				case <-step.Wait:
				case <-ctx.Done():
				}
			}
			if ctx.Err() != nil {
				yield(llm.Chunk{}, context.Cause(ctx))
				return
			}
			if !yield(step.Chunk, step.Err) || step.Err != nil {
				return
			}
		}
	}
}

// Capturing is an llm.Model that keeps the requests that Model gets.
type Capturing struct {
	Model llm.Model

	mu       sync.Mutex
	requests []llm.Request
}

var _ llm.Model = (*Capturing)(nil)

// Stream implements llm.Model. The request counts when the answer is ranged over.
func (c *Capturing) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		c.mu.Lock()
		c.requests = append(c.requests, req)
		c.mu.Unlock()
		c.Model.Stream(ctx, req)(yield)
	}
}

// Requests returns the requests so far, in order of arrival.
func (c *Capturing) Requests() []llm.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]llm.Request(nil), c.requests...)
}
