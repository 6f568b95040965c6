package term

import (
	"io"
	"strings"
	"sync"
	"time"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/reply"
)

// Info is what a heading says of a speaker.
type Info struct {
	Label string // Software Architect (@architect), or the identifier
	Model string // provider/name
}

// Options make a Screen.
type Options struct {
	Out, Err  Stream // when both are Pretty they are taken for one terminal
	Look      Look
	Reasoning string                    // style.reasoning.display; "" = full
	Info      func(speaker string) Info // nil: the identifier only
	Ticks     Ticks                     // nil: no line says who is waited for
	Delay     time.Duration             // until that line is shown, at least a second
}

// Screen draws exchange events. Standard output is the answer and, when more
// than one responder answers, its heading; everything else goes to standard
// error. Sections are a blank line apart, and what is written ends with a line
// end whenever a reply ends.
//
// It may be used from several goroutines. A failing stream does not stop it,
// for the exchange must be saved all the same; Close tells.
type Screen struct {
	options Options
	display display

	mu       sync.Mutex
	answer   *Markdown
	thought  *thought
	out, err *surface // the same one when both streams are one terminal
	wait     *waiter
	closed   bool
	label    string
	started  bool
	early    held // text
	musing   held // reasoning
	thinking bool // the one line about reasoning was written
}

// surface is where lines stand below one another.
type surface struct{ last section }

// held is the beginning of a text as long as it shows nothing.
type held struct {
	filter Filter
	text   []byte
}

// add returns all of the text once there is something to see, else "".
func (h *held) add(t string) string {
	h.text = append(h.text, t...)
	if strings.TrimSpace(h.filter.Write(t)) == "" {
		return ""
	}
	t = string(h.text)
	*h = held{}
	return t
}

type section int

const (
	nothing section = iota
	heading
	thoughts
	lines // tools, notices
	answering
	ended // a text that is over
)

// NewScreen returns a Screen. Close it.
func NewScreen(o Options) *Screen {
	s := &Screen{options: o, display: newDisplay(o.Reasoning), answer: NewMarkdown(o.Out, o.Look), out: &surface{}}
	s.err = s.out
	if !o.Out.Pretty || !o.Err.Pretty {
		s.err = &surface{}
	}
	return s
}

// Draw shows an event.
func (s *Screen) Draw(e exchange.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case exchange.Started:
		s.start(e)
	case exchange.Streamed:
		s.delta(e.Delta)
	case exchange.Saved:
		s.saved(e.Record)
	case exchange.Finished:
		s.finish()
		s.started = false
	case exchange.Failed:
		s.finish()
		if s.started {
			s.line("… " + s.label + " did not finish")
		}
		s.started = false
	}
}

// Note shows a note that is not part of a reply.
func (s *Screen) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(text)
}

// Close ends what is open and returns the first error of standard output. What
// comes later is still shown, but nothing moves any more.
func (s *Screen) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.finish()
	return s.answer.err
}

func (s *Screen) start(e exchange.Event) {
	s.finish()
	info := Info{Label: e.Slot.Speaker}
	if s.options.Info != nil {
		info = s.options.Info(e.Slot.Speaker)
	}
	s.label, s.started, s.thinking = Line(info.Label, 0), true, false
	h := Heading{Label: info.Label, Model: info.Model, Detail: place(e.Index, e.Total)}
	if e.Total > 1 {
		s.enter(s.out, s.options.Out, heading)
		s.answer.emit(h.Draw(s.options.Out, s.options.Look, true))
	} else {
		s.enter(s.err, s.options.Err, heading)
		_, _ = io.WriteString(s.options.Err, h.Draw(s.options.Err, s.options.Look, false))
	}
	s.waitFor("Waiting for " + s.label)
}

func (s *Screen) delta(d reply.Delta) {
	switch {
	case d.Text != "":
		s.say(d.Text)
	case d.Reasoning != "":
		s.muse(d.Reasoning)
	case d.Tool != "":
		name := Line(d.Tool, 80)
		s.line("Calling tool " + name)
		s.waitFor("Running " + name)
	case d.Notice != "":
		open := s.out.last == answering
		s.note(d.Notice)
		if !open {
			s.waitFor("Waiting for " + s.label)
		}
	}
}

// say shows text of the answer, once there is something to see.
func (s *Screen) say(t string) {
	if s.out.last != answering {
		if t = s.early.add(t); t == "" {
			return
		}
	}
	s.enter(s.out, s.options.Out, answering)
	_, _ = s.answer.WriteString(t)
}

// muse shows reasoning in the way that was asked for.
func (s *Screen) muse(t string) {
	if s.display.hidden || s.display.brief && s.thinking {
		return
	}
	if s.err.last != thoughts {
		if t = s.musing.add(t); t == "" {
			return
		}
	}
	if s.display.brief {
		s.thinking = true
		s.line("Thinking…")
		s.waitFor("Waiting for " + s.label)
		return
	}
	if s.enter(s.err, s.options.Err, thoughts) {
		s.thought = newThought(s.options.Err, s.options.Look, s.display.limit)
	}
	s.thought.write(t)
}

func (s *Screen) saved(rec reply.Record) {
	if rec.Answer == nil {
		s.stopWaiting()
		s.waitFor("Waiting for " + s.label)
		return
	}
	s.leave(s.out)
	s.leave(s.err)
	s.early, s.musing = held{}, held{}
	if rec.Answer.Incomplete == reply.Length {
		s.note(s.label + " reached its length limit (max_tokens); the answer is cut there")
	}
}

// finish ends a reply.
func (s *Screen) finish() {
	s.stopWaiting()
	s.leave(s.out)
	s.leave(s.err)
	s.early, s.musing = held{}, held{}
}

// enter begins a section, or goes on with it; it tells whether it began.
func (s *Screen) enter(at *surface, w Stream, to section) bool {
	s.stopWaiting()
	if at.last == to && to != heading {
		return false
	}
	s.leave(at)
	if at.last != nothing {
		_, _ = io.WriteString(w, "\n")
	}
	at.last = to
	return true
}

// leave ends the text that is open on a surface.
func (s *Screen) leave(at *surface) {
	switch at.last {
	case answering:
		_ = s.answer.Flush()
		at.last = ended
	case thoughts:
		s.thought.end()
		at.last = ended
	}
}

// line writes a line of ours to standard error.
func (s *Screen) line(text string) { s.write(s.options.Err.fold("", "  ", "", text)) }

// note writes a note in the same place.
func (s *Screen) note(text string) { s.write(noted(s.options.Err, text)) }

func (s *Screen) write(text string) {
	s.enter(s.err, s.options.Err, lines)
	_, _ = io.WriteString(s.options.Err, text)
}

// waitFor says who is waited for, where a line may be redrawn.
func (s *Screen) waitFor(what string) {
	s.stopWaiting()
	if s.options.Err.Live && s.options.Ticks != nil && !s.closed {
		s.wait = wait(s.options.Err, what, s.options.Delay, s.options.Ticks)
	}
}

func (s *Screen) stopWaiting() {
	s.wait.stop()
	s.wait = nil
}

// noted is "note: …".
func noted(s Stream, text string) string { return s.sentence("note:", yellow, text) }

// Note writes "note: …" to a stream, in a line that is folded on a terminal.
func Note(s Stream, text string) { _, _ = io.WriteString(s, noted(s, text)) }
