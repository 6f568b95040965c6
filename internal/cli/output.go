package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/kernel/speaker"
	"jp/internal/term"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
	"jp/internal/workspace/query"
)

func (a *app) stream(w io.Writer) term.Stream {
	s := term.Detect(w, a.Getenv, "")
	if a.width > 0 {
		s.Width = a.width
	}
	return s
}

// out is where answers go.
func (a *app) out() term.Stream {
	s := a.stream(a.Stdout)
	switch a.format {
	case "text", "json", "json-pretty":
		return term.Stream{Writer: s.Writer}
	case "text-pretty":
		s.Pretty = true
	}
	return s
}

// chrome is where everything else goes.
func (a *app) chrome() term.Stream {
	if a.quiet {
		return term.Stream{Writer: io.Discard}
	}
	return a.stream(a.Stderr)
}

// note tells something that is neither answer nor error.
func (a *app) note(text string) {
	if a.json() {
		_ = term.NewJSON(a.chrome(), false).Write(map[string]string{"note": text})
		return
	}
	term.Note(a.chrome(), text)
}

// printf writes a command's own words; texts of others among its arguments
// have passed term.Line or term.Clean.
func (a *app) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.Stdout, format, args...) }

func (a *app) printJSON(v any) error {
	return term.NewJSON(a.Stdout, a.format == "json-pretty").Write(v)
}

// ask is who asks the questions of a run, all of them: it may have read the
// answers to later ones already.
func (a *app) ask(ctx context.Context) *term.Ask {
	if a.asks == nil {
		a.asks = term.NewAsk(input{ctx, a.Stdin}, a.stream(a.Stderr), a.InTTY)
	}
	return a.asks
}

func look(tree config.Tree) term.Look {
	s := config.Style(tree)
	return term.Look{
		WrapWidth: s.WrapWidth, TableColumn: s.TableColumnWidth, Theme: s.Theme,
		PlainCode: !s.CodeColor, PlainRule: !s.HRLine,
	}
}

// label is how a participant is shown to people.
func label(as config.Assistant) string { return speaker.Display(as.ID, as.Name) }

// places is what a workspace needs of the world.
func (a *app) places() workspace.Env {
	return workspace.Env{
		Getenv: a.Getenv, Home: a.Getenv("HOME"), Now: a.Now, Rand: a.Rand,
		Pid: a.Pid, SID: a.SID, Command: a.command, NoPersist: a.noPersist,
	}
}

// view shows an exchange while it runs: as text, or as the events that became
// durable.
type view struct {
	app    *app
	screen *term.Screen // nil until it is known who answers
	noted  bool         // something was said before that
	json   *term.JSON
	id     string // of the conversation
	err    error  // the first of writing JSON
}

func (a *app) view() *view {
	v := &view{app: a}
	if a.json() {
		v.json = term.NewJSON(a.Stdout, a.format == "json-pretty")
	}
	return v
}

// ready opens the screen, in the style of the conversation.
func (v *view) ready(ex query.Exchange) {
	v.id = ex.ID.String()
	if v.json != nil {
		return
	}
	info := map[string]term.Info{}
	for _, r := range ex.Responders {
		info[r.ID] = term.Info{Label: speaker.Display(r.ID, r.Name), Model: r.Model}
	}
	style := config.Style(ex.Config)
	o := term.Options{
		Out: v.app.out(), Err: v.app.chrome(), Look: look(ex.Config),
		Reasoning: cmp.Or(style.Reasoning, fmt.Sprint(style.ReasoningLines)),
		Info:      func(name string) term.Info { return info[name] },
		Delay:     style.Waiting.Delay,
	}
	if style.Waiting.Show {
		o.Ticks = term.Ticker
	}
	if v.noted {
		_, _ = io.WriteString(o.Err, "\n")
	}
	v.screen = term.NewScreen(o)
}

func (v *view) announce(e exchange.Event) {
	if v.screen != nil {
		v.screen.Draw(e)
	} else if e.Delta.Notice != "" {
		v.app.note(e.Slot.Speaker + ": " + e.Delta.Notice)
	}
}

func (v *view) stored(ev *conversation.Event, usage *llm.Usage) {
	if v.json == nil {
		return
	}
	p := plainOf(ev)
	p.Usage = (*plainUsage)(usage)
	if ev.Kind == conversation.ChatRequest {
		p.Conversation = v.id
	}
	if err := v.json.Write(p); err != nil && v.err == nil {
		v.err = err
	}
}

func (v *view) note(text string) {
	if v.screen != nil {
		v.screen.Note(text)
		return
	}
	v.noted = true
	v.app.note(text)
}

func (v *view) close() error {
	if v.screen != nil {
		return v.screen.Close()
	}
	return v.err
}
