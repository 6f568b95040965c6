package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// printFlags are the flags of `jp c print`.
type printFlags struct {
	as, request   string
	last          int
	lastSet       bool
	full, thought bool
}

func (a *app) printCommand() *cobra.Command {
	var f printFlags
	cmd := &cobra.Command{
		Use: "print [TARGET]", Aliases: []string{"p"}, Short: "Print a conversation, or what a participant is shown of it",
		Long: targets, Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.lastSet = cmd.Flags().Changed("last")
			return a.print(args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.as, "as", "", "the messages that `NAME` would be sent now")
	fl.StringVar(&f.request, "request", "", "with --as: the messages it was sent for the request with this event `ID`")
	fl.IntVar(&f.last, "last", 0, "only the last `N` turns")
	fl.BoolVar(&f.full, "full", false, "configuration changes, arguments and results in full")
	fl.BoolVar(&f.thought, "reasoning", true, "what participants thought before they answered")
	return cmd
}

func (a *app) print(args []string, f printFlags) error {
	if f.last < 0 || f.last == 0 && f.lastSet {
		return fault.New(fault.Usage, "--last counts turns, %d is no count", f.last)
	}
	ws, c, err := a.reading(args)
	if err != nil {
		return err
	}
	if c.Stream == nil && f.as == "" {
		return a.printBroken(c)
	}
	if c.Stream == nil {
		return c.Broken
	}
	if c.Broken != nil {
		a.note(c.Broken.Error())
	}
	if f.as != "" {
		if errs := c.Stream.Check(); len(errs) > 0 {
			return errs[0] // a query would be refused, too
		}
		return a.printAs(ws, c, f)
	}
	if f.request != "" {
		return fault.New(fault.Usage, "--request goes with --as NAME")
	}
	from := 0
	if turns := c.Stream.Turns(); f.last > 0 && len(turns) > f.last {
		from = turns[len(turns)-f.last]
	}
	if a.json() {
		return a.printEvents(c.Stream, from)
	}
	p := &printer{app: a, flags: f, stream: c.Stream, out: a.out(), look: look(c.Stream.Config())}
	return p.run(from)
}

// printBroken prints what is there of a log that cannot be read, so that a
// person can see and mend it.
func (a *app) printBroken(c *workspace.Conversation) error {
	raw, err := os.ReadFile(filepath.Join(c.Dir, conversation.EventsFile))
	if err != nil {
		return c.Broken
	}
	if a.json() {
		err = a.printJSON(map[string]any{"id": c.ID.String(), "broken": c.Broken.Error(), "text": string(raw)})
		return errors.Join(err, c.Broken)
	}
	a.printf("%s\n", term.Clean(string(raw)))
	return c.Broken
}

// printEvents leaves out what is damaged and says so.
func (a *app) printEvents(s *conversation.Stream, from int) error {
	list := []any{}
	for i := from; i < s.Len(); i++ {
		ev, err := s.Event(i)
		if err != nil {
			a.note(err.Error())
			continue
		}
		list = append(list, plainOf(ev))
	}
	return a.printJSON(list)
}

// printer writes a log for people.
type printer struct {
	app    *app
	flags  printFlags
	stream *conversation.Stream
	out    term.Stream
	look   term.Look
	voice  string // whose heading was written last
	begun  bool   // something was written
	turn   int
}

func (p *printer) run(from int) error {
	turns := p.stream.Turns()
	for i := from; i < p.stream.Len(); i++ {
		for p.turn < len(turns) && turns[p.turn] <= i {
			p.turn++
			p.voice = ""
		}
		ev, err := p.stream.Event(i)
		if err != nil {
			p.app.note(err.Error())
			continue
		}
		if err := p.event(i, ev); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) event(i int, ev *conversation.Event) error {
	switch ev.Kind {
	case conversation.ChatRequest:
		who := ev.Author
		if who == "" {
			who = "user"
		}
		detail := []string{fmt.Sprintf("turn %d", p.turn)}
		if len(ev.Responders) > 0 {
			detail = []string{"to " + strings.Join(ev.Responders, ", "), detail[0]}
		}
		if !ev.Time.IsZero() {
			detail = append(detail, term.Age(ev.Time, p.app.Now()))
		}
		p.heading("request "+ev.ID, term.Heading{Label: who, Detail: strings.Join(detail, ", ")})
		return p.markdown(ev.Content)
	case conversation.ChatResponse:
		return p.response(i, ev)
	case conversation.ToolCallRequest:
		p.speaker(i)
		p.long("Calling tool "+ev.Name, string(ev.Arguments))
	case conversation.ToolCallResponse:
		p.speaker(i)
		p.long("Result:", ev.Content)
	case conversation.InquiryRequest:
		p.speaker(i)
		p.long("Question:", questionText(ev.Question))
	case conversation.InquiryResponse:
		p.speaker(i)
		p.long("Answer:", string(ev.Answer))
	case conversation.ConfigDelta:
		text := fold(ev.Delta)
		if p.flags.full {
			text = strings.TrimSpace(string(config.Effective(ev.Delta)))
		}
		if p.begun {
			p.app.printf("\n")
		}
		p.app.printf("%s\n", term.Clean("Configuration changed: "+text))
		p.voice, p.begun = "", true
	case conversation.Compaction:
		p.line(fmt.Sprintf("Turns %d to %d are summarised from here on", ev.FromTurn+1, ev.ToTurn+1))
	}
	return nil
}

func (p *printer) response(i int, ev *conversation.Event) error {
	if ev.Form == conversation.Reasoning && !p.flags.thought {
		return nil
	}
	p.speaker(i)
	switch ev.Form {
	case conversation.Reasoning:
		p.app.printf("%s\n", quote(term.Clean(strings.TrimSpace(ev.Content))))
	case conversation.Data:
		if err := p.markdown("```json\n" + string(ev.Data) + "\n```"); err != nil {
			return err
		}
	default:
		if err := p.markdown(ev.Content); err != nil {
			return err
		}
	}
	if ev.Incomplete != "" {
		p.line("(broke off: " + ev.Incomplete + ")")
	}
	return nil
}

// quote marks reasoning as what it is.
func quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// speaker writes the heading of whoever made entry i, as it was called then.
func (p *printer) speaker(i int) {
	name := p.stream.Participant(i)
	h := term.Heading{Label: name}
	if as, err := config.ParticipantConfig(p.stream.ConfigAt(i), name); err == nil {
		h.Label, h.Model = label(as), as.Model.String()
	}
	p.heading(name, h)
}

func (p *printer) heading(voice string, h term.Heading) {
	if voice == p.voice {
		p.app.printf("\n")
		return
	}
	if p.begun {
		p.app.printf("\n")
	}
	p.voice, p.begun = voice, true
	p.app.printf("%s\n", strings.TrimRight(h.Draw(p.out, p.look, true), "\n"))
	if !p.out.Pretty {
		p.app.printf("\n")
	}
}

func (p *printer) markdown(text string) error {
	m := term.NewMarkdown(p.out, p.look)
	if _, err := m.WriteString(strings.TrimRight(text, "\n") + "\n"); err != nil {
		return err
	}
	return m.Flush()
}

func (p *printer) line(text string) { p.app.printf("%s\n", term.Line(text, 0)) }

// foldTools is how much of what a tool was given or brought is shown unasked.
const foldTools = 200

// long writes what a tool was given or brought: the beginning, or all of it.
func (p *printer) long(what, text string) {
	if !p.flags.full {
		p.line(what + " " + term.Line(text, foldTools))
		return
	}
	p.app.printf("%s\n%s\n", term.Line(what, 0), strings.TrimRight(term.Clean(text), "\n"))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// questionText is what an inquiry asks.
func questionText(raw json.RawMessage) string {
	var q struct{ Text string }
	if json.Unmarshal(raw, &q) != nil || q.Text == "" {
		return string(raw)
	}
	return q.Text
}
