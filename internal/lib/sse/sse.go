// Package sse reads event streams (text/event-stream) as they really arrive,
// and writes them for one client each.
//
// The reader takes LF, CRLF and lone CR as line ends, also mixed; a byte order mark; a
// field without a space after the colon; data of many lines; comments; a last
// event without its blank line. The events are the same however the bytes are
// cut into reads, and each is yielded as soon as its last byte is there. It
// holds one line and one event in memory, each of at most max bytes, and
// refuses longer ones with a *TooLong.
//
// Two departures from the standard, because here a lost event is a lost
// failure: an event that has a type but no data is yielded, and so is one cut
// off by the end of the stream. A read error drops the unfinished event.
//
// The writer flushes every event, gives up a client that takes none, and lets
// no text of an event become a field or an event of its own.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// DefaultMax is the ceiling of a line and of an event's data, in bytes.
const DefaultMax = 16 << 20

// Event is one event, or one comment line when Comment is set.
type Event struct {
	Type    string // of the field "event"; empty when there was none
	Data    string // lines joined by LF; of a comment its text
	ID      string // the newest id seen so far
	Comment bool   // nothing but a sign of life
}

// TooLong is the error of a line or an event above the ceiling.
type TooLong struct{ Max int }

func (e *TooLong) Error() string {
	return fmt.Sprintf("an event of the stream is longer than %d bytes", e.Max)
}

// Read yields the events of r until its end. The last pair may hold an error:
// r's own, or a *TooLong. A max of 0 or less means DefaultMax.
func Read(r io.Reader, max int) iter.Seq2[Event, error] {
	if max <= 0 {
		max = DefaultMax
	}
	return func(yield func(Event, error) bool) {
		in := lines{r: bufio.NewReaderSize(r, 32<<10), max: max}
		ev := pending{max: max}
		for first := true; ; first = false {
			line, err := in.next()
			if errors.Is(err, io.EOF) {
				if e, ok := ev.take(); ok {
					yield(e, nil)
				}
				return
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if first {
				line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			}
			e, ok, err := ev.add(line)
			if err != nil {
				yield(Event{}, err)
				return
			}
			if ok && !yield(e, nil) {
				return
			}
		}
	}
}

// pending is the event whose lines are being read.
type pending struct {
	max     int
	typ, id string
	data    strings.Builder
	hasData bool
}

// add takes one line in and returns what it completes.
func (p *pending) add(line []byte) (Event, bool, error) {
	if len(line) == 0 {
		e, ok := p.take()
		return e, ok, nil
	}
	field, value, _ := strings.Cut(string(line), ":")
	value = strings.TrimPrefix(value, " ")
	switch field {
	case "":
		return Event{Data: value, Comment: true}, true, nil
	case "event":
		p.typ = value
	case "id":
		if !strings.Contains(value, "\x00") {
			p.id = value
		}
	case "data":
		if p.data.Len()+1+len(value) > p.max {
			return Event{}, false, &TooLong{Max: p.max}
		}
		if p.hasData {
			p.data.WriteByte('\n')
		}
		p.data.WriteString(value)
		p.hasData = true
	}
	return Event{}, false, nil
}

// take ends the event; it is false when there was none.
func (p *pending) take() (Event, bool) {
	e := Event{Type: p.typ, Data: p.data.String(), ID: p.id}
	ok := p.hasData || p.typ != ""
	p.typ, p.hasData = "", false
	p.data.Reset()
	return e, ok
}

// lines cuts a reader into lines.
type lines struct {
	r      *bufio.Reader
	max    int
	skipLF bool // the line before ended in CR: an LF right now belongs to it
	buf    []byte
}

// next returns the next line without its end, valid until the call after. It
// never waits for a byte behind a line end: a lone CR and the CR of a CRLF
// end the line alike, and an LF behind it is dropped later.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		if _, err := l.r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) && len(l.buf) > 0 {
				return l.buf, nil
			}
			return nil, err
		}
		chunk, _ := l.r.Peek(l.r.Buffered())
		if l.skipLF {
			l.skipLF = false
			if chunk[0] == '\n' {
				_, _ = l.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		n := end
		if end < 0 {
			n = len(chunk)
		}
		if len(l.buf)+n > l.max {
			return nil, &TooLong{Max: l.max}
		}
		l.buf = append(l.buf, chunk[:n]...)
		if end >= 0 {
			l.skipLF = chunk[end] == '\r'
			_, _ = l.r.Discard(end + 1)
			return l.buf, nil
		}
		_, _ = l.r.Discard(n)
	}
}
