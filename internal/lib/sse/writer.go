package sse

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"jp/internal/lib/literal"
)

// Writer sends events to one client. Every event is flushed at once. It is for
// one goroutine; after an error nothing more can be sent.
type Writer struct {
	w       io.Writer
	control *http.ResponseController
	now     func() time.Time
	patient time.Duration
	buf     bytes.Buffer
}

// NewWriter begins a stream as the answer to a request: status 200 and the
// headers that keep caches and proxies from collecting events. A client that
// does not take an event for as long as patient is given up; without a clock,
// no client is.
func NewWriter(w http.ResponseWriter, now func() time.Time, patient time.Duration) (*Writer, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s := &Writer{w: w, control: http.NewResponseController(w), now: now, patient: patient}
	w.WriteHeader(http.StatusOK)
	return s, s.control.Flush()
}

// Send sends an event. Its data may have several lines, which arrive joined by
// newlines. Line ends in id and type are dropped: they would end the field.
func (s *Writer) Send(e Event) error {
	s.buf.Reset()
	if e.Comment {
		s.lines(": ", e.Data)
	} else {
		if e.ID != "" {
			s.field("id: ", e.ID)
		}
		if e.Type != "" {
			s.field("event: ", e.Type)
		}
		s.lines("data: ", e.Data)
	}
	s.buf.WriteByte('\n')
	if s.now != nil {
		_ = s.control.SetWriteDeadline(s.now().Add(s.patient)) // not every writer can
	}
	if _, err := s.w.Write(s.buf.Bytes()); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *Writer) field(name, value string) {
	s.buf.WriteString(name)
	s.buf.WriteString(strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(value))
	s.buf.WriteByte('\n')
}

func (s *Writer) lines(name, text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for line := range strings.SplitSeq(text, "\n") {
		s.buf.WriteString(name)
		s.buf.WriteString(line)
		s.buf.WriteByte('\n')
	}
}

// Escape makes text one line: every line end becomes a backslash and an n,
// which readers undo. A literal backslash-n in the text is damaged by that.
func Escape(text string) string {
	return strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace(text)
}

// JSON is a value as one line. Errors: those of encoding/json.
func JSON(v any) (string, error) {
	raw, err := literal.JSON(v)
	return string(raw), err
}
