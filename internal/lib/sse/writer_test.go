package sse_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/lib/sse"
)

func TestFrames(t *testing.T) {
	for _, tt := range []struct {
		event sse.Event
		want  string
	}{
		{sse.Event{Type: "token", ID: "x.1", Data: sse.Escape("a\nb\r\nc\rd")}, "id: x.1\nevent: token\ndata: a\\nb\\nc\\nd\n\n"},
		{sse.Event{Type: "director_start"}, "event: director_start\ndata: \n\n"},
		{sse.Event{Data: "a\nb"}, "data: a\ndata: b\n\n"},
		{sse.Event{Comment: true, Data: "keepalive"}, ": keepalive\n\n"},
		{sse.Event{Type: "a\nid: 9", ID: "1\r\n2", Data: "x"}, "id: 12\nevent: aid: 9\ndata: x\n\n"},
	} {
		rec := httptest.NewRecorder()
		w, err := sse.NewWriter(rec, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Send(tt.event); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, rec.Body.String()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.event, diff)
		}
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"} {
			if got := rec.Header().Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if !rec.Flushed {
			t.Error("nothing was flushed")
		}
	}
}

func TestJSONIsOneLine(t *testing.T) {
	got, err := sse.JSON(map[string]string{"text": "a\nb <b>&"})
	if err != nil || got != `{"text":"a\nb <b>&"}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := sse.JSON(func() {}); err == nil {
		t.Error("a function is no JSON")
	}
}

// TestWrittenIsRead sends any text and reads it back.
func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		rec := httptest.NewRecorder()
		w, err := sse.NewWriter(rec, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Send(sse.Event{Type: "token", ID: "1", Data: text}); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
		got, err := collect(rec.Body, 0)
		if err != nil || len(got) != 1 || got[0].Data != want || strings.ContainsAny(sse.Escape(text), "\r\n") {
			t.Fatalf("%q came back as %+v, %v", text, got, err)
		}
	})
}

// stuck is a client that takes nothing any more.
type stuck struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (s *stuck) SetWriteDeadline(t time.Time) error { s.deadline = t; return nil }
func (s *stuck) Write([]byte) (int, error)          { return 0, errors.New("timed out") }

func TestDeadline(t *testing.T) {
	client := &stuck{ResponseRecorder: httptest.NewRecorder()}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w, err := sse.NewWriter(client, func() time.Time { return now }, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Send(sse.Event{Data: "x"}); err == nil || !client.deadline.Equal(now.Add(time.Minute)) {
		t.Errorf("error %v, deadline %s", err, client.deadline)
	}
}
