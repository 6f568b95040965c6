package chat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
)

// endless is a body that goes on for 64 MiB.
type endless struct {
	event func(n int) string
	n     int
	rest  string
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 64<<20 {
		return 0, io.EOF
	}
	if e.rest == "" {
		e.rest = e.event(e.n)
		e.n++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	e.read += n
	return n, nil
}

// TestNothingGrowsOutOfSight: whatever a server sends without end, the byte
// ceiling of a reply ends it.
func TestNothingGrowsOutOfSight(t *testing.T) {
	const ceiling = 1 << 20
	kilobyte := strings.Repeat("x", 1<<10)
	always := func(event string) func(int) string { return func(int) string { return event } }
	behind := func(first, event string) func(int) string {
		return func(n int) string {
			if n == 0 {
				return first
			}
			return event
		}
	}
	detail := func(fields string) string { return delta(`"reasoning_details":[{` + fields + `}]`) }
	blank := delta(`"content":"` + strings.Repeat(" ", 1<<10) + `"`)
	tests := []struct {
		name  string
		event func(n int) string
	}{
		{"text", always(delta(`"content":"` + kilobyte + `"`))},
		{"a detail in fragments", always(detail(`"type":"reasoning.text","text":"` + kilobyte + `","index":0`))},
		{"details of a kind of their own", always(detail(`"type":"reasoning.encrypted","data":"` + kilobyte + `"`))},
		{"a detail that gains fields", func(n int) string {
			return detail(fmt.Sprintf(`"type":"reasoning.text","text":"","k%d":["%s"]`, n, kilobyte))
		}},
		{"empty details", always(delta(`"reasoning_details":[` + strings.Repeat("{},", 99) + `{}]`))},
		{"arguments without a name", always(delta(`"tool_calls":[{"index":0,"id":"a","function":{"arguments":"` + kilobyte + `"}}]`))},
		{"calls without a name", func(n int) string { return delta(fmt.Sprintf(`"tool_calls":[{"id":"%d"}]`, n)) }},
		{"names of calls", func(n int) string {
			return delta(fmt.Sprintf(`"tool_calls":[{"id":"%d","function":{"name":"%s"}}]`, n, kilobyte))
		}},
		{"white space", always(blank)},
		{"white space in an empty thought", behind(delta(`"content":"<think>"`), blank)},
		{"white space behind a thought", behind(delta(`"content":"<think>Hm</think>"`), blank)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := &endless{event: tt.event}
			s := reply.Speaker{
				Model: served(in), Limits: reply.Limits{MaxBytes: ceiling},
				Prompt: func(context.Context) (reply.Prompt, error) { return reply.Prompt{Request: hello()}, nil },
			}
			var failed error
			for _, err := range s.Reply(t.Context()) {
				failed = err
			}
			if e, ok := errors.AsType[*llm.Error](failed); !ok || e.Kind != llm.TooLong || e.Err != nil {
				t.Errorf("error %v after %d bytes", failed, in.read)
			}
		})
	}
}

// TestUntoldIsToldOnce: what is held back and told in the end does not count
// twice.
func TestUntoldIsToldOnce(t *testing.T) {
	half := strings.Repeat(" ", 600)
	body := delta(`"content":"`+half+`"`) + delta(`"content":"Hi"`) +
		delta(`"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{`+half+`}"}}]`) +
		delta(`"tool_calls":[{"index":0,"function":{"name":"f"}}]`) + finish("stop") + done
	told := 0
	for c, err := range served(strings.NewReader(body)).Stream(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		told += len(c.Text)
		if c.Tool != nil {
			told += len(c.Tool.ID) + len(c.Tool.Name) + len(c.Tool.Arguments)
		}
		if told+c.Untold > 1300 {
			t.Errorf("%d bytes told and %d untold", told, c.Untold)
		}
	}
	if want := 600 + 2 + 1 + 1 + 602; told != want {
		t.Errorf("%d bytes told, want %d", told, want)
	}
}
