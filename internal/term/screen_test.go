package term

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/reply"
)

func people(id string) Info {
	return map[string]Info{
		"dev":       {"dev", "llamacpp/qwen3"},
		"architect": {"Software Architect (@architect)", "openai/gpt-x"},
		"evil":      {"Ev\x1b[31mil\nName\x07 (@evil)", "x/\x1b]0;t\x07y"},
	}[id]
}

// play reads a script, one event to a line, and gives it to draw.
func play(t *testing.T, script string, draw func(exchange.Event)) {
	var at exchange.Event
	for line := range strings.Lines(script) {
		verb, arg, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		arg = strings.NewReplacer(`\n`, "\n", "␛", "\x1b", "␇", "\x07").Replace(arg)
		e := at
		switch verb {
		case "start":
			at = exchange.Event{}
			if _, err := fmt.Sscanf(arg, "%s %d/%d", &at.Slot.Speaker, &at.Index, &at.Total); err != nil {
				t.Fatal(err)
			}
			at.Index--
			e = at
			e.Kind = exchange.Started
		case "text":
			e.Kind, e.Delta = exchange.Streamed, reply.Delta{Text: arg}
		case "think":
			e.Kind, e.Delta = exchange.Streamed, reply.Delta{Reasoning: arg}
		case "tool":
			e.Kind, e.Delta = exchange.Streamed, reply.Delta{Tool: arg}
		case "notice":
			e.Kind, e.Delta = exchange.Streamed, reply.Delta{Notice: arg}
		case "saved":
			e.Kind, e.Record = exchange.Saved, reply.Record{Answer: &reply.Answer{Incomplete: reply.Incomplete(arg)}}
		case "results":
			e.Kind, e.Record = exchange.Saved, reply.Record{Results: []reply.Result{{Name: arg}}}
		case "finish":
			e.Kind = exchange.Finished
		case "fail":
			e.Kind, e.Err = exchange.Failed, errors.New(arg)
		default:
			t.Fatalf("no such event: %s", line)
		}
		draw(e)
	}
}

func TestScreen(t *testing.T) {
	names := []string{"color", "no-color", "pipes.out", "pipes.err", "out-piped.out", "out-piped.err", "hidden", "brief", "limit"}
	goldens(t, "screen", names, func(name, in string) string {
		var both, out, err bytes.Buffer
		tty := func(d Depth) Stream { return Stream{Writer: &both, Pretty: true, Depth: d, Width: 60} }
		o := Options{Info: people, Out: tty(Mono), Err: tty(Mono)}
		kind, stream, _ := strings.Cut(name, ".")
		switch kind {
		case "color":
			o.Out, o.Err = tty(Palette), tty(Palette)
		case "pipes":
			o.Out, o.Err = Stream{Writer: &out}, Stream{Writer: &err}
		case "out-piped":
			o.Out, o.Err = Stream{Writer: &out}, Stream{Writer: &err, Pretty: true, Width: 60}
		case "hidden":
			o.Reasoning = "hidden"
		case "brief":
			o.Reasoning = "static"
		case "limit":
			o.Reasoning = "20"
		}
		s := NewScreen(o)
		play(t, in, s.Draw)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return map[string]*bytes.Buffer{"": &both, "out": &out, "err": &err}[stream].String()
	})
}

// log is a terminal that several goroutines write to.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.buf.Reset()
	return shown(l.buf.String())
}

func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tty log
		live := Stream{Writer: &tty, Pretty: true, Live: true, Width: 40}
		s := NewScreen(Options{Out: live, Err: live, Info: people, Ticks: Ticker, Delay: 2 * time.Second})
		expect := func(when, want string) {
			t.Helper()
			synctest.Wait()
			if got := tty.take(); got != want {
				t.Errorf("%s: got %q, want %q", when, got, want)
			}
		}
		dev := exchange.Event{Slot: exchange.Slot{Speaker: "dev"}, Total: 1}
		with := func(k exchange.Kind, d reply.Delta) exchange.Event {
			e := dev
			e.Kind, e.Delta = k, d
			return e
		}
		s.Draw(with(exchange.Started, reply.Delta{}))
		expect("at the start", "── dev · llamacpp/qwen3 ────────────────\n")
		time.Sleep(1500 * time.Millisecond)
		expect("before the delay", "")
		time.Sleep(2 * time.Second)
		expect("after it", "␍Waiting for dev… 2s␍Waiting for dev… 3s␃\n")
		s.Draw(with(exchange.Streamed, reply.Delta{Notice: "retrying"}))
		expect("a notice erases it", "␍                   ␍\nnote: retrying\n")
		time.Sleep(2100 * time.Millisecond)
		expect("and it comes again", "␍Waiting for dev… 2s␃\n")
		s.Draw(with(exchange.Streamed, reply.Delta{Text: "\n"}))
		expect("a delta that shows nothing", "")
		s.Draw(with(exchange.Streamed, reply.Delta{Text: "Hello.\n\n"}))
		expect("the first text", "␍                   ␍\nHello.\n")
		time.Sleep(time.Minute)
		expect("no line while text comes", "")
		s.Draw(with(exchange.Streamed, reply.Delta{Tool: "grep"}))
		time.Sleep(2100 * time.Millisecond)
		expect("a tool", "\nCalling tool grep\n␍Running grep… 2s␃\n")
		saved := with(exchange.Saved, reply.Delta{})
		saved.Record.Results = []reply.Result{{Name: "grep"}}
		s.Draw(saved)
		time.Sleep(2100 * time.Millisecond)
		expect("after the tool", "␍                ␍␍Waiting for dev… 2s␃\n")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		expect("closed", "␍                   ␍␃\n")
	})
}

// An exchange that is stopped leaves no line that moves, wherever it was, and
// neither does an event behind the end. The bubble fails on a goroutine that is
// left.
func TestNothingMovesBehindTheEnd(t *testing.T) {
	for _, script := range []string{
		"start dev 1/1\n",
		"start dev 1/2\nnotice retrying\n",
		"start dev 1/1\nthink hm\n",
		"start dev 1/1\ntool grep\n",
		"start dev 1/1\ntool grep\nresults grep\n",
		"start dev 1/1\nfail stopped\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var tty log
			live := Stream{Writer: &tty, Pretty: true, Live: true, Width: 40}
			s := NewScreen(Options{Out: live, Err: live, Reasoning: "summary", Info: people, Ticks: Ticker})
			play(t, script, s.Draw)
			time.Sleep(1500 * time.Millisecond)
			if moved := strings.Contains(tty.take(), "␍"); moved == strings.Contains(script, "fail") {
				t.Errorf("%q: a line moves: %t", script, moved)
			}
			_ = s.Close()
			play(t, script, s.Draw)
			tty.take()
			time.Sleep(time.Minute)
			if got := tty.take(); strings.TrimRight(got, "␃\n") != "" {
				t.Errorf("%q: %q is drawn behind the end", script, got)
			}
		})
	}
}

// A Screen is used by the exchange and, on an interrupt, by somebody else.
func TestScreenConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tty log
		live := Stream{Writer: &tty, Pretty: true, Live: true}
		s := NewScreen(Options{Out: live, Err: live, Ticks: Ticker})
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 50 {
				play(t, "start dev 1/2\nthink hm\ntext hello world\nsaved\nfinish\n", s.Draw)
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
			}
		})
		wg.Go(func() {
			for range 50 {
				s.Note("something")
				_ = s.Close()
				time.Sleep(300 * time.Millisecond)
			}
		})
		wg.Wait()
		_ = s.Close()
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestScreenTellsOfAFailingOutput(t *testing.T) {
	var errs bytes.Buffer
	s := NewScreen(Options{Out: Stream{Writer: broken{}}, Err: Stream{Writer: &errs}})
	play(t, "start dev 1/1\ntext hello\nsaved\nfinish\n", s.Draw)
	if err := s.Close(); err == nil {
		t.Error("no error")
	}
}
