package reply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
	"jp/internal/lib/fault"
)

func speakerOf(m llm.Model, t reply.Tools, l reply.Limits, p reply.Prompt) reply.Speaker {
	return reply.Speaker{Model: m, Tools: t, Limits: l,
		Prompt: func(context.Context) (reply.Prompt, error) { return p, nil }}
}

func collect(ctx context.Context, s reply.Speaker) []string {
	var got []string
	for e, err := range s.Reply(ctx) {
		got = append(got, show(e, err))
	}
	return got
}

func TestReply(t *testing.T) {
	limits := reply.Limits{Retries: 2, Backoff: time.Second, MaxBackoff: 3 * time.Second, Idle: time.Minute, MaxBytes: 40}
	history := llm.Request{Messages: []llm.Message{{ToolCalls: []llm.ToolCall{{ID: "call_1"}}}}}
	for _, c := range []struct {
		name    string
		scripts [][]step
		label   string
		want    string
	}{
		{"text", [][]step{{text("Hel"), text("lo"), usage(3, 2), stop}}, "", `
text "Hel"
text "lo"
ANSWER text "Hello" usage=3/2`},
		{"reasoning and text", [][]step{{think("h"), think("m"), replay("sig", "x"), text("Hi"), think("more"), text("!"), stop}}, "", `
think "h"
think "m"
text "Hi"
think "more"
text "!"
ANSWER reasoning "hm" map[sig:x] text "Hi" reasoning "more" text "!"`},
		{"opaque data closes its reasoning", [][]step{{think("a"), replay("sig", "1"), think("b"), replay("sig", "2"), replay("id", "3"), replay("id", "4"), text("ok"), stop}}, "", `
think "a"
think "b"
text "ok"
ANSWER reasoning "a" map[sig:1] reasoning "b" map[id:3 sig:2] reasoning "" map[id:4] text "ok"`},
		{"opaque data alone", [][]step{{replay("sig", "1"), text("ok"), stop}}, "", `
text "ok"
ANSWER reasoning "" map[sig:1] text "ok"`},
		{"blank parts are dropped", [][]step{{text("\n\n"), think(" "), text("ok\n"), stop}}, "", `
text "\n\n"
think " "
text "ok\n"
ANSWER text "ok\n"`},
		{"one chunk with everything", [][]step{{{chunk: llm.Chunk{Reasoning: "hm", Text: "Hi", Usage: &llm.Usage{Input: 1}, Finish: llm.FinishStop}}}}, "", `
think "hm"
text "Hi"
ANSWER reasoning "hm" text "Hi" usage=1/0`},
		{"errors after the end do not matter", [][]step{{text("Hi"), stop, fail(llm.Broken)}}, "", `
text "Hi"
ANSWER text "Hi"`},
		{"usage after the end", [][]step{{text("Hi"), stop, usage(1, 1)}}, "", `
text "Hi"
ANSWER text "Hi" usage=1/1`},

		{"own label goes, also in pieces", [][]step{{think("[dev]: hm"), text("[d"), text("ev]: [dev]:"), text(" Hi"), text(" [dev]: x"), stop}}, "dev", `
think "[dev]: hm"
text "Hi"
text " [dev]: x"
ANSWER reasoning "[dev]: hm" text "Hi [dev]: x"`},
		{"a foreign label stays", [][]step{{text("[architect]: Hi"), stop}}, "dev", `
text "[architect]: Hi"
ANSWER text "[architect]: Hi"`},
		{"what is held back comes before what follows", [][]step{{text("[de"), think("hm"), text("[dev]: x"), stop}}, "dev", `
text "[de"
think "hm"
text "[dev]: x"
ANSWER text "[de" reasoning "hm" text "[dev]: x"`},
		{"what is held back at the end", [][]step{{text("[dev"), stop}}, "dev", `
text "[dev"
ANSWER text "[dev"`},
		{"what is held back at a break", [][]step{{text("[dev"), fail(llm.Broken)}}, "dev", `
text "[dev"
ANSWER text "[dev" incomplete=error
error broken p: sorry`},
		{"label only is empty", [][]step{{text("[dev]: "), stop}}, "dev", `
error empty the answer is empty`},
		{"without labels nothing is taken", [][]step{{text("[dev]: Hi"), stop}}, "", `
text "[dev]: Hi"
ANSWER text "[dev]: Hi"`},

		{"empty", [][]step{{stop}}, "", `
error empty the answer is empty`},
		{"blank is empty", [][]step{{text(" \n"), stop}}, "", `
text " \n"
error empty the answer is empty`},
		{"reasoning alone is empty", [][]step{{think("hm"), stop}}, "", `
think "hm"
error empty the answer is empty`},
		{"reasoning that used up the tokens", [][]step{{think("hm"), finish(llm.FinishLength)}}, "", `
think "hm"
error empty the answer reached its length limit before it said anything`},
		{"length", [][]step{{text("Hel"), finish(llm.FinishLength)}}, "", `
text "Hel"
ANSWER text "Hel" incomplete=length`},
		{"length cuts calls", [][]step{{text("Hel"), call(0, "c1", "ls", `{"pa`), finish(llm.FinishLength)}}, "", `
text "Hel"
tool ls
notice a tool call was cut off and dropped
ANSWER text "Hel" incomplete=length`},
		{"refused", [][]step{{text("I ca"), finish(llm.FinishRefused)}}, "", `
text "I ca"
ANSWER text "I ca" incomplete=error
error rejected the model refused to answer`},
		{"refused at once", [][]step{{finish(llm.FinishRefused)}}, "", `
error rejected the model refused to answer`},

		{"cut", [][]step{{think("hm"), text("Hel"), fail(llm.Broken)}}, "", `
think "hm"
text "Hel"
ANSWER reasoning "hm" text "Hel" incomplete=error
error broken p: sorry`},
		{"cut without a word", [][]step{{text("Hel")}}, "", `
text "Hel"
ANSWER text "Hel" incomplete=error
error broken the stream ended without a finish reason`},
		{"cut in a call", [][]step{{text("Hel"), call(0, "c1", "ls", "{}"), call(1, "c2", "rm", `{"pa`), fail(llm.Broken)}}, "", `
text "Hel"
tool ls
tool rm
notice 2 tool calls were cut off and dropped
ANSWER text "Hel" incomplete=error
error broken p: sorry`},
		{"cut in a call that is all", [][]step{{call(0, "c1", "ls", `{"pa`), fail(llm.Broken)}}, "", `
tool ls
notice a tool call was cut off and dropped
error broken p: sorry`},

		{"retried", [][]step{{fail(llm.Overloaded)}, {replay("sig", "x"), usage(9, 9), fail(llm.Broken)}, {text("Hi"), stop}}, "", `
notice overloaded, retrying (1/2) in 1s
notice broken, retrying (2/2) in 2s
text "Hi"
ANSWER text "Hi"`},
		{"retried in vain", [][]step{{fail(llm.Unreachable)}}, "", `
notice unreachable, retrying (1/2) in 1s
notice unreachable, retrying (2/2) in 2s
error unreachable p: sorry`},
		{"the provider knows when", [][]step{{later(llm.RateLimited, 2)}, {later(llm.RateLimited, 60)}, {text("Hi"), stop}}, "", `
notice rate limited, retrying (1/2) in 2s
notice rate limited, retrying (2/2) in 3s
text "Hi"
ANSWER text "Hi"`},
		{"opaque data without a word is no part", [][]step{{replay("sig", "x"), fail(llm.Denied)}}, "", `
error denied p: sorry`},
		{"not worth a retry", [][]step{{fail(llm.Denied)}}, "", `
error denied p: sorry`},
		{"no retry after text", [][]step{{text("H"), fail(llm.Overloaded)}}, "", `
text "H"
ANSWER text "H" incomplete=error
error overloaded p: sorry`},
		{"no retry after reasoning", [][]step{{think("h"), fail(llm.Overloaded)}}, "", `
think "h"
ANSWER reasoning "h" incomplete=error
error overloaded p: sorry`},
		{"no retry after text that was held back", [][]step{{text("[dev]: "), fail(llm.Overloaded)}}, "dev", `
error overloaded p: sorry`},

		{"silence", [][]step{{text("Hel"), wait(2 * time.Minute), text("lo"), stop}}, "", `
text "Hel"
ANSWER text "Hel" incomplete=error
error timed_out nothing came for 1m0s`},
		{"a long history is read for minutes", [][]step{{wait(9 * time.Minute), text("Hi"), stop}}, "", `
text "Hi"
ANSWER text "Hi"`},
		{"a sign of life is no beginning", [][]step{{wait(time.Second), wait(9 * time.Minute), text("Hi"), stop}}, "", `
text "Hi"
ANSWER text "Hi"`},
		{"silence at first is retried", [][]step{{wait(11 * time.Minute)}, {text("Hi"), stop}}, "", `
notice timed out, retrying (1/2) in 1s
text "Hi"
ANSWER text "Hi"`},
		{"keep-alives are no silence", [][]step{{wait(50 * time.Second), wait(50 * time.Second), text("Hi"), wait(59 * time.Second), stop}}, "", `
text "Hi"
ANSWER text "Hi"`},
		{"too long", [][]step{{think("0123456789"), text("0123456789"), text("0123456789012345678é9"), stop}}, "", `
think "0123456789"
text "0123456789"
text "0123456789012345678"
ANSWER reasoning "0123456789" text "01234567890123456789012345678" incomplete=error
error too_long the answer is longer than 40 bytes`},
		{"exactly long enough", [][]step{{text(strings.Repeat("x", 40)), stop}}, "", `
text "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
ANSWER text "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"`},
		{"too long a call", [][]step{{call(0, "c1", "ls", strings.Repeat(" ", 41)), stop}}, "", `
tool ls
notice a tool call was cut off and dropped
error too_long the answer is longer than 40 bytes`},

		{"tools", [][]step{
			{text("Look"), call(0, "c1", "ls", `{"p":`), call(1, "c2", "rm", ""), call(0, "", "", `1}`), finish(llm.FinishToolCalls)},
			{text("Done"), stop}}, "", `
text "Look"
tool ls
tool rm
ANSWER text "Look" call c1/ls {"p":1} call c2/rm {}
RESULTS c1/ls "ran {\"p\":1}" c2/rm "ran {}"
text "Done"
ANSWER text "Done"`},
		{"calls with the wrong finish reason", [][]step{{call(0, "c1", "ls", "{}"), stop}, {text("Done"), stop}}, "", `
tool ls
ANSWER call c1/ls {}
RESULTS c1/ls "ran {}"
text "Done"
ANSWER text "Done"`},
		{"calls in order of appearance", [][]step{{call(7, "a", "x", ""), call(2, "b", "y", ""), stop}, {text("."), stop}}, "", `
tool x
tool y
ANSWER call a/x {} call b/y {}
RESULTS a/x "ran {}" b/y "ran {}"
text "."
ANSWER text "."`},
		{"every call at the same index", [][]step{{call(0, "a", "x", "{}"), call(0, "b", "y", "{"), call(0, "b", "y", "}"), stop}, {text("."), stop}}, "", `
tool x
tool y
ANSWER call a/x {} call b/y {}
RESULTS a/x "ran {}" b/y "ran {}"
text "."
ANSWER text "."`},
		{"missing and doubled ids", [][]step{{call(0, "", "x", ""), call(1, "call_2", "y", ""), call(2, "call_2", "z", ""), call(3, "", "w", ""), stop}, {text("."), stop}}, "", `
tool x
tool y
tool z
tool w
ANSWER call call_3/x {} call call_2/y {} call call_4/z {} call call_5/w {}
RESULTS call_3/x "ran {}" call_2/y "ran {}" call_4/z "ran {}" call_5/w "ran {}"
text "."
ANSWER text "."`},
		{"arguments that are none", [][]step{{call(0, "a", "x", `{"p`), call(1, "b", "y", `[1]`), call(2, "c", "z", "null"), stop}, {text("."), stop}}, "", `
tool x
tool y
tool z
ANSWER call a/x {} call b/y {} call c/z {}
RESULTS a/x "Invalid arguments: they are not valid JSON: unexpected end of JSON input" error b/y "Invalid arguments: they must be a JSON object." error c/z "ran {}"
text "."
ANSWER text "."`},
		{"a call without a name", [][]step{{text("Hi"), call(0, "a", "", `{}`), stop}}, "", `
text "Hi"
notice a tool call was cut off and dropped
ANSWER text "Hi"`},
		{"cut after tools", [][]step{{call(0, "c1", "ls", "{}"), stop}, {text("Do"), fail(llm.Broken)}}, "", `
tool ls
ANSWER call c1/ls {}
RESULTS c1/ls "ran {}"
text "Do"
ANSWER text "Do" incomplete=error
error broken p: sorry`},
		{"retries are counted per call of the model", [][]step{{fail(llm.Overloaded)}, {call(0, "c1", "ls", "{}"), stop}, {fail(llm.Overloaded)}, {text("."), stop}}, "", `
notice overloaded, retrying (1/2) in 1s
tool ls
ANSWER call c1/ls {}
RESULTS c1/ls "ran {}"
notice overloaded, retrying (1/2) in 1s
text "."
ANSWER text "."`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, rude := range []bool{false, true} {
					m := &model{scripts: c.scripts, rude: rude}
					s := speakerOf(m, &tools{}, limits, reply.Prompt{Request: history, Label: c.label})
					got := strings.Join(collect(t.Context(), s), "\n")
					if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got); diff != "" {
						t.Errorf("(-want +got)\n%s", diff)
					}
					if m.open != 0 {
						t.Error("a stream was left open")
					}
				}
			})
		})
	}
}

func TestBackoffDoublesUpToTheLongest(t *testing.T) {
	for _, c := range []struct {
		longest time.Duration
		want    []time.Duration
	}{
		{5 * time.Second, []time.Duration{1, 2, 4, 5, 5}},
		{0, []time.Duration{1, 2, 4, 8, 16}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{scripts: [][]step{{fail(llm.Overloaded)}}}
			s := speakerOf(m, nil, reply.Limits{Retries: 5, Backoff: time.Second, MaxBackoff: c.longest}, reply.Prompt{})
			var waits []time.Duration
			start := time.Now()
			for e := range s.Reply(t.Context()) {
				if e.Delta.Notice != "" {
					_, said, _ := strings.Cut(e.Delta.Notice, " in ")
					wait, err := time.ParseDuration(said)
					if err != nil {
						t.Error(err)
					}
					waits = append(waits, wait/time.Second)
				}
			}
			total := time.Duration(0)
			for _, w := range c.want {
				total += w * time.Second
			}
			if diff := cmp.Diff(c.want, waits); diff != "" || time.Since(start) != total {
				t.Errorf("waited %s: %s", time.Since(start), diff)
			}
		})
	}
}

// A wait is told in whole seconds, a shorter one as it is, none not at all.
func TestNoticeOfTheWait(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		0:                       "overloaded, retrying (1/1)",
		time.Millisecond:        "overloaded, retrying (1/1) in 1ms",
		6600 * time.Millisecond: "overloaded, retrying (1/1) in 7s",
		90 * time.Second:        "overloaded, retrying (1/1) in 1m30s",
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &model{scripts: [][]step{{fail(llm.Overloaded)}, {text("Hi"), stop}}}
			s := speakerOf(m, nil, reply.Limits{Retries: 1, Backoff: wait}, reply.Prompt{})
			if got := collect(t.Context(), s)[0]; got != "notice "+want {
				t.Errorf("%s: %s", wait, got)
			}
		})
	}
}

func TestIdleIsTheStreamsNotTheReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{scripts: [][]step{{text("a"), text("b"), stop}}}
		s := speakerOf(m, nil, reply.Limits{Idle: time.Second}, reply.Prompt{})
		for _, err := range s.Reply(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestStopped(t *testing.T) {
	cause := errors.New("stopped by hand")
	for name, c := range map[string]struct {
		script []step
		label  string
		want   []string
	}{
		"before the first word": {[]step{wait(time.Hour), text("x")}, "", []string{"error stopped by hand"}},
		"in the middle": {[]step{think("hm"), text("Hel"), wait(time.Hour)}, "",
			[]string{`think "hm"`, `text "Hel"`, `ANSWER reasoning "hm" text "Hel" incomplete=interrupted`, "error stopped by hand"}},
		"while thinking": {[]step{think("hm"), wait(time.Hour)}, "",
			[]string{`think "hm"`, `ANSWER reasoning "hm" incomplete=interrupted`, "error stopped by hand"}},
		"in a call": {[]step{text("Hel"), call(0, "c", "ls", "{"), wait(time.Hour)}, "",
			[]string{`text "Hel"`, "tool ls", "notice a tool call was cut off and dropped", `ANSWER text "Hel" incomplete=interrupted`, "error stopped by hand"}},
		"between retries": {[]step{later(llm.RateLimited, 3600)}, "",
			[]string{"notice rate limited, retrying (1/1) in 1h0m0s", "error stopped by hand"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, rude := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					time.AfterFunc(time.Minute, func() { cancel(cause) })
					m := &model{scripts: [][]step{c.script}, rude: rude}
					s := speakerOf(m, nil, reply.Limits{Retries: 1, Idle: 2 * time.Hour}, reply.Prompt{})
					if diff := cmp.Diff(c.want, collect(ctx, s)); diff != "" {
						t.Errorf("(-want +got)\n%s", diff)
					}
				})
			}
		})
	}
}

func TestStoppedWhileToolsRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &model{scripts: [][]step{{call(0, "c1", "ls", "{}"), stop}}}
	port := &tools{on: cancel}
	got := collect(ctx, speakerOf(m, port, reply.Limits{}, reply.Prompt{}))
	want := []string{"tool ls", "ANSWER call c1/ls {}", `RESULTS c1/ls "ran {}"`, "error context canceled"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(m.requests) != 1 {
		t.Error("the model was asked again")
	}
}

func TestStoppedAfterTheLastAnswerIsNoFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range speakerOf(&model{scripts: [][]step{{text("Hi"), stop}}}, nil, reply.Limits{}, reply.Prompt{}).Reply(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Record != nil {
			cancel()
		}
	}
	if ctx.Err() == nil {
		t.Fatal("no record")
	}
}

// Leaving the loop at any event stops everything; synctest fails on what is
// left running.
func TestLeaving(t *testing.T) {
	scripts := [][]step{{fail(llm.Overloaded)}, {think("a"), text("[dev"), call(0, "c1", "ls", "{"), call(1, "c2", "ls", ""), stop},
		{text("Hi"), call(0, "c1", "ls", "{"), fail(llm.Broken)}}
	run := func(t *testing.T, n int) (seen int) {
		synctest.Test(t, func(t *testing.T) {
			m := &model{scripts: scripts}
			s := speakerOf(m, &tools{}, reply.Limits{Retries: 1, Idle: time.Minute}, reply.Prompt{Label: "dev"})
			for range s.Reply(t.Context()) {
				if seen++; seen == n {
					break
				}
			}
			if m.open != 0 {
				t.Errorf("a stream was left open after %d events", seen)
			}
		})
		return seen
	}
	all := run(t, 0)
	if all != 12 {
		t.Fatalf("%d events", all)
	}
	for n := 1; n <= all; n++ {
		if got := run(t, n); got != n {
			t.Errorf("left after %d events, saw %d", n, got)
		}
	}
}

func TestEveryCallGetsItsResult(t *testing.T) {
	script := [][]step{{call(0, "a", "x", ""), call(1, "b", "y", ""), stop}, {text("."), stop}}
	for name, c := range map[string]struct {
		port reply.Tools
		want string
	}{
		"no tools": {nil, `RESULTS a/x "unknown tool \"x\"" error b/y "unknown tool \"y\"" error`},
		"too few": {&tools{bring: func(calls []llm.ToolCall) []reply.Result {
			return []reply.Result{{Call: "b", Name: "other", Content: "ok"}, {Call: "b", Content: "twice"}, {Call: "c"}}
		}}, `RESULTS a/x "The tool gave no result." error b/y "ok"`},
	} {
		got := collect(t.Context(), speakerOf(&model{scripts: script}, c.port, reply.Limits{}, reply.Prompt{}))
		if !slices.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestUnfitCallsAreNotRun(t *testing.T) {
	port := &tools{}
	collect(t.Context(), speakerOf(&model{scripts: [][]step{{call(0, "a", "x", "{"), stop}, {call(0, "a", "x", "{"), call(1, "b", "y", ""), stop}, {text("."), stop}}},
		port, reply.Limits{}, reply.Prompt{}))
	if len(port.calls) != 1 || len(port.calls[0]) != 1 || port.calls[0][0].Name != "y" {
		t.Errorf("ran %+v", port.calls)
	}
}

func TestCycles(t *testing.T) {
	for _, c := range []struct{ limit, want int }{{2, 2}, {0, reply.DefaultCycles}} {
		port := &tools{}
		m := &model{scripts: [][]step{{call(0, "a", "x", ""), stop}}}
		var last, before string
		var failed error
		for e, err := range speakerOf(m, port, reply.Limits{Cycles: c.limit}, reply.Prompt{}).Reply(t.Context()) {
			before, last, failed = last, show(e, err), err
		}
		if len(port.calls) != c.want || len(m.requests) != c.want+1 {
			t.Errorf("limit %d: %d batches, %d calls of the model", c.limit, len(port.calls), len(m.requests))
		}
		if fault.CodeOf(failed) != fault.Invalid || fault.HintOf(failed) == "" || !strings.Contains(last, fmt.Sprint(c.want)) {
			t.Errorf("limit %d ends with %q", c.limit, last)
		}
		if !strings.HasPrefix(before, `RESULTS a/x "Not run`) {
			t.Errorf("the last call is answered by %q", before)
		}
	}
}

func TestPromptIsBuiltAnewAndForcesOnce(t *testing.T) {
	for _, mode := range []llm.ToolMode{llm.ToolRequired, llm.ToolNamed, llm.ToolNone, llm.ToolAuto, ""} {
		m := &model{scripts: [][]step{{call(0, "a", "x", ""), stop}, {text("."), stop}}}
		built := 0
		s := reply.Speaker{Model: m, Tools: &tools{}, Prompt: func(context.Context) (reply.Prompt, error) {
			built++
			return reply.Prompt{Request: llm.Request{Model: fmt.Sprint("m", built), ToolChoice: llm.ToolChoice{Mode: mode, Name: "x"}}}, nil
		}}
		collect(t.Context(), s)
		if len(m.requests) != 2 || m.requests[0].Model != "m1" || m.requests[1].Model != "m2" {
			t.Fatalf("requests %+v", m.requests)
		}
		want := llm.ToolChoice{Mode: mode, Name: "x"}
		if m.requests[0].ToolChoice != want {
			t.Errorf("first choice %+v", m.requests[0].ToolChoice)
		}
		if mode == llm.ToolRequired || mode == llm.ToolNamed {
			want = llm.ToolChoice{Mode: llm.ToolAuto}
		}
		if m.requests[1].ToolChoice != want {
			t.Errorf("mode %q: second choice %+v", mode, m.requests[1].ToolChoice)
		}
	}
}

func TestPromptFails(t *testing.T) {
	broken := errors.New("no model")
	m := &model{}
	s := reply.Speaker{Model: m, Prompt: func(context.Context) (reply.Prompt, error) { return reply.Prompt{}, broken }}
	if got := collect(t.Context(), s); !slices.Equal(got, []string{"error no model"}) || len(m.requests) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestLongAnswersCostTheirLength(t *testing.T) {
	script := slices.Repeat([]step{text("word "), think("hm "), call(0, "a", "x", " ")}, 3)
	script = append(script, slices.Repeat([]step{text("word ")}, 400_000)...)
	m := &model{scripts: [][]step{append(script, finish(llm.FinishLength))}}
	n := 0
	for e, err := range speakerOf(m, nil, reply.Limits{}, reply.Prompt{Label: "dev"}).Reply(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Record != nil {
			parts := e.Record.Answer.Parts
			n = len(parts[len(parts)-1].Text)
		}
	}
	if n < 2_000_000 {
		t.Errorf("kept %d bytes", n)
	}
}
