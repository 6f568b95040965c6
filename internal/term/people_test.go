package term

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
)

func TestFault(t *testing.T) {
	coded := fault.New(fault.NotFound, "no participant \"d\x1b[31mev\"\nhere").WithHint("invite\nit")
	for _, c := range []struct {
		name string
		s    Stream
		err  error
		json bool
		want string
	}{
		{"plain", Stream{}, coded, false, "error: no participant \"dev\" here\nhint: invite it\n"},
		{"wrapped", Stream{}, fmt.Errorf("q: %w", coded), false, "error: q: no participant \"dev\" here\nhint: invite it\n"},
		{"no hint", Stream{}, errors.New("x"), false, "error: x\n"},
		{"colour", Stream{Depth: Palette}, coded, false, "␛[1;31merror:␛[0m no participant \"dev\" here\n␛[2mhint:␛[0m invite it\n"},
		{"json", Stream{Depth: Palette}, coded, true, `{"message":"no participant \"d\u001b[31mev\"\nhere","hint":"invite\nit","code":"not_found"}` + "\n"},
		{"json of a defect", Stream{}, errors.New("x"), true, `{"message":"x","hint":"","code":"internal"}` + "\n"},
	} {
		var out bytes.Buffer
		c.s.Writer = &out
		Fault(c.s, c.err, c.json)
		if diff := cmp.Diff(c.want, shown(out.String())); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestJSON(t *testing.T) {
	type event struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	var out bytes.Buffer
	for _, pretty := range []bool{false, true} {
		j := NewJSON(&out, pretty)
		if err := j.Write(event{"chat_response", "a<b>&\u009b2J\u007f\u202e\x1bü"}); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"type":"chat_response","message":"a<b>&\u009b2J\u007f\u202e\u001bü"}` + "\n" +
		"{\n  \"type\": \"chat_response\",\n  \"message\": \"a<b>&\\u009b2J\\u007f\\u202e\\u001bü\"\n}\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if err := NewJSON(&out, false).Write(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

func TestTable(t *testing.T) {
	table := Table{
		Header: []string{"ID", "#", "Title"},
		Right:  []bool{false, true},
		Rows: [][]string{
			{"jp-c1", "3", "A very long title that does not fit the terminal"},
			{"jp-c22", "12", "日本語 | \x1b]0;x\atitle\nof two lines"},
			{"jp-c333", "1"},
		},
		Repeat: true,
	}
	for name, c := range map[string]struct {
		s    Stream
		want string
	}{
		"box": {Stream{Pretty: true, Width: 40}, `
╭─────────┬────┬───────────────────────╮
│ ID      │  # │ Title                 │
├─────────┼────┼───────────────────────┤
│ jp-c1   │  3 │ A very long title th… │
│ jp-c22  │ 12 │ 日本語 | title of tw… │
│ jp-c333 │  1 │                       │
├─────────┼────┼───────────────────────┤
│ ID      │  # │ Title                 │
╰─────────┴────┴───────────────────────╯
`},
		"pipe": {Stream{Width: 40}, `
| ID      |  # | Title                                            |
|---------|---:|--------------------------------------------------|
| jp-c1   |  3 | A very long title that does not fit the terminal |
| jp-c22  | 12 | 日本語 \| title of two lines                     |
| jp-c333 |  1 |                                                  |
`},
	} {
		var out bytes.Buffer
		c.s.Writer = &out
		if err := table.Draw(c.s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, "\n"+out.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestDetails(t *testing.T) {
	d := Details{"A ti\x1b[1mtle", []Detail{{"ID", []string{"jp-c1"}}, {"Participants", []string{"1. dev", "2. architect"}}, {"Labels", nil}}}
	for name, c := range map[string]struct {
		s    Stream
		want string
	}{
		"pretty": {Stream{Pretty: true, Depth: Palette}, `
␛[1mA title␛[0m

            ␛[1mID␛[0m  jp-c1
  ␛[1mParticipants␛[0m  1. dev
                2. architect
        ␛[1mLabels␛[0m
`},
		"pipe": {Stream{}, `
A title

| Field        | Value        |
|--------------|--------------|
| ID           | jp-c1        |
| Participants | 1. dev       |
|              | 2. architect |
| Labels       |              |
`},
	} {
		var out bytes.Buffer
		c.s.Writer = &out
		if err := d.Draw(c.s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, "\n"+shown(out.String())); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHeading(t *testing.T) {
	for _, c := range []struct {
		h        Heading
		s        Stream
		markdown bool
		want     string
	}{
		{Heading{"user", "", ""}, Stream{Pretty: true, Width: 30}, false, "── user ──────────────────────\n"},
		{Heading{"dev", "p/m", "turn 3, 12 minutes ago"}, Stream{Pretty: true, Width: 50}, false, "── dev · p/m ─────────── turn 3, 12 minutes ago ──\n"},
		{Heading{strings.Repeat("long ", 20), "m", "1/2"}, Stream{Pretty: true, Width: 30}, false, "── long long long long… · m ─── 1/2 ──\n"},
		{Heading{"dev", "p/m", "1/2"}, Stream{}, true, "## dev · p/m · 1/2\n"},
		{Heading{"dev", "", ""}, Stream{}, false, "dev\n"},
	} {
		if got := c.h.Draw(c.s, Look{}, c.markdown); got != c.want {
			t.Errorf("%+v: %q, want %q", c.h, got, c.want)
		}
	}
}

func TestAsk(t *testing.T) {
	var out bytes.Buffer
	a := NewAsk(strings.NewReader("Bob\n\nmaybe\nyes\n\nx\nS\nlast"), Stream{Writer: &out}, true)
	line := func(preset string) string {
		t.Helper()
		got, err := a.Line("Name?", preset)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := line("") + "," + line("Ann"); got != "Bob,Ann" {
		t.Errorf("lines: %s", got)
	}
	if got, err := a.Yes("Sure?", false); err != nil || !got {
		t.Errorf("yes: %v, %v", got, err)
	}
	if got, err := a.Yes("Sure?", true); err != nil || !got {
		t.Errorf("an empty answer: %v, %v", got, err)
	}
	if got, err := a.Choose("What now?", []Choice{{"c", "go on"}, {"s", "stop"}}, "c"); err != nil || got != "s" {
		t.Errorf("choice: %v, %v", got, err)
	}
	if got := line(""); got != "last" {
		t.Errorf("last line without an end: %q", got)
	}
	if _, err := a.Line("More?", "preset"); fault.CodeOf(err) != fault.Interrupted {
		t.Errorf("end of input: %v", err)
	}
	want := "Name?: Name? [Ann]: Sure? [y/N] Sure? [y/N] Sure? [Y/n] What now?\n  c  go on\n  s  stop\nc/s [c] What now?\n"
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
	nobody := NewAsk(strings.NewReader("y\n"), Stream{Writer: &out}, false)
	if _, err := nobody.Yes("Sure?", true); fault.CodeOf(err) != fault.Invalid || fault.HintOf(err) == "" {
		t.Errorf("nobody there: %v", err)
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                    "just now",
		59 * time.Second:     "just now",
		time.Minute:          "1 minute ago",
		119 * time.Minute:    "1 hour ago",
		72 * time.Hour:       "3 days ago",
		45 * 24 * time.Hour:  "1 month ago",
		800 * 24 * time.Hour: "2 years ago",
		-3 * time.Hour:       "in 3 hours",
		-time.Second:         "just now",
	} {
		if got := Age(now.Add(-d), now); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
