package term

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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

// What we say ourselves breaks between words on a terminal; where the width is
// unknown, or nobody watches, it stays a line that can be searched for.
func TestSentencesNarrow(t *testing.T) {
	err := fault.New(fault.NotFound, "no assistant named %q; it is not in the roster either", "architcet").
		WithHint("invite one with `--invite <name>` (looked in .jp/config and /home/somebody/.config/jp/config)")
	draw := func(s Stream) error {
		Note(s, "dev has no model, so it is left out of this exchange")
		Fault(s, err, false)
		return nil
	}
	golden(t, "sentences-narrow.txtar", []int{0, 100, 60, 40, 20, 10, 1}, draw)
	var out bytes.Buffer
	_ = draw(Stream{Writer: &out, Width: 40})
	if got := strings.Count(out.String(), "\n"); got != 3 {
		t.Errorf("%d lines in a pipe, want 3", got)
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

// A narrow terminal costs the columns that matter least, never the first one.
func TestTableNarrow(t *testing.T) {
	table := Table{
		Header: []string{"ID", "#", "Activity", "Local", "Title"},
		Right:  []bool{false, true},
		Drop:   []int{3, 2, 1},
		Rows: [][]string{
			{"* jp-c17700000000", "9", "3 minutes ago", "", "A panel about the discount"},
			{"jp-c17700000123", "12", "2 days ago", "yes", "Short"},
		},
	}
	golden(t, "table-narrow.txtar", []int{90, 70, 60, 46, 40, 30, 20, 10, 1}, func(s Stream) error { return table.Draw(s) })
}

func TestDetailsNarrow(t *testing.T) {
	d := Details{"A panel about the discount that is given at the till", []Detail{
		{"ID", []string{"jp-c17700000000"}},
		{"Participants", []string{"dev, offline/rehearsal", "Software Architect (@architect), offline/rehearsal"}},
		{"Changed 2026-05-04 10:00:00", []string{`assistants.dev.system_prompt = "You write the code and say why."`}},
		{"Path", []string{"/home/somebody/project/.jp/conversations/17700000000-a-panel"}},
	}}
	golden(t, "details-narrow.txtar", []int{100, 60, 40, 20, 1}, func(s Stream) error { return d.Draw(s) })
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
	architect := Heading{"Software Architect (@architect)", "offline/rehearsal", "2/3"}
	for _, c := range []struct {
		h        Heading
		s        Stream
		markdown bool
		want     string
	}{
		{Heading{"user", "", ""}, Stream{Pretty: true, Width: 30}, false, "── user ──────────────────────\n"},
		{Heading{"dev", "p/m", "turn 3, 12 minutes ago"}, Stream{Pretty: true, Width: 50}, false, "── dev · p/m ─────────── turn 3, 12 minutes ago ──\n"},
		{Heading{strings.Repeat("long ", 20), "m", "1/2"}, Stream{Pretty: true, Width: 30}, false, "── long long long … ─── 1/2 ──\n"},
		{architect, Stream{Pretty: true, Width: 70}, false, "── Software Architect (@architect) · offline/rehearsal ──────── 2/3 ──\n"},
		{architect, Stream{Pretty: true, Width: 60}, false, "── Software Architect (@architect) · offline/reh… ─── 2/3 ──\n"},
		{architect, Stream{Pretty: true, Width: 48}, false, "── Software Architect (@architect) ────── 2/3 ──\n"},
		{architect, Stream{Pretty: true, Width: 30}, false, "── Software Archit… ─── 2/3 ──\n"},
		{architect, Stream{Pretty: true, Width: 20}, false, "── Software Arc… 2/3\n"},
		{architect, Stream{Pretty: true, Width: 5}, false, "… 2/3\n"},
		{architect, Stream{Pretty: true, Width: 1}, false, "…\n"},
		{Heading{"👩‍👩‍👧日本語の名前", "p/m", "2/3"}, Stream{Pretty: true, Width: 20}, false, "── 👩‍👩‍👧日本語の名… 2/3\n"},
		{Heading{"user", "", "to dev, architect, turn 3, 12 minutes ago"}, Stream{Pretty: true, Width: 40}, false, "── user ─── to dev, architect, turn … ──\n"},
		{Heading{"dev", "p/m", "1/2"}, Stream{}, true, "## dev · p/m · 1/2\n"},
		{Heading{"dev", "", ""}, Stream{}, false, "dev\n"},
	} {
		if got := c.h.Draw(c.s, Look{}, c.markdown); got != c.want {
			t.Errorf("%+v: %q, want %q", c.h, got, c.want)
		}
	}
}

// However narrow, a heading takes one line and says who and where.
func TestHeadingFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Heading{
			Label:  rapid.StringOfN(rapid.SampledFrom([]rune("ab 日本é👩\u200d👧(@)")), 1, 40, -1).Draw(t, "label"),
			Model:  rapid.SampledFrom([]string{"", "p/m", "openrouter/some-vendor/some-long-model"}).Draw(t, "model"),
			Detail: rapid.SampledFrom([]string{"", "2/3", "10/12", "to dev, turn 3, 12 minutes ago"}).Draw(t, "detail"),
		}
		width := rapid.IntRange(1, 90).Draw(t, "width")
		got := strings.TrimSuffix(h.Draw(Stream{Pretty: true, Width: width}, Look{}, false), "\n")
		if n := ansi.StringWidth(got); n > width || n == 0 && ansi.StringWidth(strings.TrimSpace(h.Label)) > 0 {
			t.Errorf("%q takes %d of %d cells", got, n, width)
		}
		if place := h.Detail; len(place) < 6 && width >= len(place) && !strings.Contains(got, place) {
			t.Errorf("%q has lost its place %s", got, place)
		}
	})
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

func TestAgeOfNothing(t *testing.T) {
	if got := Age(time.Time{}, time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)); got != "" {
		t.Errorf("never was %q", got)
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
