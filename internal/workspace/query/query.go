// Package query is the use case behind `jp q`: it works out who answers a
// request and with what configuration, saves that together with the request,
// and has the exchange run.
//
// Everything that can go wrong before a model is asked goes wrong before
// anything is saved: a failed resolution leaves no conversation, no delta and
// no event behind. After that, every record of every reply is durable before
// it is announced. The package knows no terminal: what people should read is
// handed to Notes, what happens to Announce and Stored.
package query

import (
	"context"
	"strings"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/attach"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// Input is what a person asked for, as typed.
type Input struct {
	Text  string // arguments joined by a space, or the editor's text
	Stdin string // standard input, one trailing newline dropped

	New    bool
	ID     conversation.ID // the conversation to go on with, unless New
	Local  bool            // New: keep it in the user's data directory
	Title  string          // New: empty takes a leading heading
	Resume bool            // answer what is unanswered of the last request

	At     []string
	Invite []string
	Config []string // values of -c, in order
	Flags  []Flag   // assistant-scoped flags, in order
	Attach []string

	Wait workspace.Wait // for a conversation that is in use
}

// content is the text of the request.
func (in Input) content() string {
	switch {
	case in.Text == "":
		return in.Stdin
	case in.Stdin == "":
		return in.Text
	}
	return in.Text + "\n\n" + in.Stdin
}

// typed is the part of the request that a person wrote, in which mentions
// and references are read.
func (in Input) typed() string {
	if in.Text == "" {
		return in.Stdin
	}
	return in.Text
}

// Run carries a query out. Model is called once per responder.
type Run struct {
	Workspace *workspace.Workspace
	Loader    *config.Loader
	Base      *config.Stack // what Loader found: files and environment
	Place     attach.Place
	// Model returns the model that an assistant is configured for. Errors:
	// *llm.Error of kind NoKey, fault.Config.
	Model func(tree config.Tree, a config.Assistant) (llm.Model, error)
	Tools reply.Tools // nil: assistants have none
	// Author names the person asking when user.name is not set; it may be empty.
	Author func() string
	Notes  func(string)
	// Ready is told who is about to answer, before the first model call.
	Ready    func(Exchange)
	Announce func(exchange.Event)
	// Stored is told each event that became durable and, with the last part of
	// an answer whose tokens the server counted, what the answer took; else nil.
	Stored func(*conversation.Event, *llm.Usage)
}

// Exchange describes one that is about to run.
type Exchange struct {
	ID         conversation.ID
	Request    string // event id
	Responders []Responder
	Config     config.Tree // of the conversation, as it was saved
}

// Responder is one participant about to answer.
type Responder struct {
	ID, Name, Model string
}

// Do runs a query to its end. It returns a *exchange.Stopped when a reply
// failed or was stopped; any other error means that nothing was saved.
func (r *Run) Do(ctx context.Context, in Input) error {
	if in.Resume {
		return r.resume(ctx, in)
	}
	if in.New {
		return r.create(ctx, in)
	}
	return r.proceed(ctx, in)
}

func (r *Run) create(ctx context.Context, in Input) error {
	st, err := r.newSetup(in)
	if err != nil {
		return err
	}
	bundles, err := st.resolve(in)
	if err != nil {
		return err
	}
	title := in.Title
	if title == "" && config.TitleFromHeading(st.tree) {
		title = heading(in.content())
	}
	open, err := r.Workspace.Create(ctx, workspace.Spec{
		Base:   config.Snapshot(config.TakeUser(st.tree, nil)),
		Events: st.turn(in),
		Title:  title,
		Local:  in.Local || config.StartLocal(st.tree),
	})
	if err != nil {
		return err
	}
	defer open.Close()
	return r.exchange(ctx, open, st.tree, bundles)
}

func (r *Run) proceed(ctx context.Context, in Input) error {
	open, st, err := r.enter(ctx, in)
	if err != nil {
		return err
	}
	defer open.Close()
	bundles, err := st.resolve(in)
	if err != nil {
		return err
	}
	open.Meta.LastActivatedAt = r.Workspace.Env().Now()
	if err := st.save(ctx, open, st.turn(in)...); err != nil {
		return err
	}
	return r.exchange(ctx, open, st.tree, bundles)
}

// enter opens the conversation that in goes on with. Close it.
func (r *Run) enter(ctx context.Context, in Input) (*workspace.Conversation, *setup, error) {
	open, err := r.Workspace.Open(ctx, in.ID, in.Wait)
	if err != nil {
		return nil, nil, err
	}
	st, err := r.oldSetup(open.Stream, in)
	if err != nil {
		open.Close()
	}
	return open, st, err
}

// resume answers the last request for everyone whose reply to it is not
// complete. Configuration given with it applies to them.
func (r *Run) resume(ctx context.Context, in Input) error {
	if in.content() != "" || len(in.At)+len(in.Invite) > 0 || in.New {
		return fault.New(fault.Usage, "--resume answers the last request again and takes no new one").
			WithHint("leave out the text, --new, --at and --invite")
	}
	open, st, err := r.enter(ctx, in)
	if err != nil {
		return err
	}
	defer open.Close()
	last, ok := lastRequest(open.Stream)
	if !ok {
		return fault.New(fault.Invalid, "there is no request to resume").WithHint("ask something: jp q \"…\"")
	}
	st.resuming = true
	waiting := open.Stream.Waiting(last.ID)
	if len(waiting) == 0 {
		r.Notes("every reply to the last request is complete")
		if len(in.Flags)+len(in.Config)+len(in.Attach) > 0 {
			r.Notes("what was given with --resume changes nothing then")
		}
	}
	for _, name := range waiting {
		if st.active(name) {
			st.responders = append(st.responders, name)
		} else {
			r.Notes(name + " has left the conversation and is not asked")
		}
	}
	if len(st.responders) == 0 {
		return nil
	}
	bundles, err := st.finish(in)
	if err != nil {
		return err
	}
	if err := st.save(ctx, open); err != nil {
		return err
	}
	return r.exchange(ctx, open, st.tree, bundles)
}

// exchange has the responders answer the stream's last request.
func (r *Run) exchange(ctx context.Context, open *workspace.Conversation, tree config.Tree, bundles []bundle) error {
	request, ok := lastRequest(open.Stream)
	if !ok {
		return fault.New(fault.Internal, "the request is missing")
	}
	if err := r.Workspace.SetActive(open.ID); err != nil {
		r.Notes(err.Error()) // the request is saved: it is answered all the same
	}
	ex := Exchange{ID: open.ID, Request: request.ID, Config: tree}
	plan := make([]exchange.Slot, len(bundles))
	byName := map[string]bundle{}
	for i, b := range bundles {
		plan[i] = exchange.Slot{Speaker: b.ID}
		byName[b.ID] = b
		ex.Responders = append(ex.Responders, Responder{ID: b.ID, Name: b.Name, Model: b.Model.String()})
	}
	if r.Ready != nil {
		r.Ready(ex)
	}
	if r.Stored != nil {
		r.Stored(request, nil)
	}
	book := &ledger{open: open, request: request.ID, stored: r.Stored, notes: r.Notes}
	return exchange.Run(ctx, plan, speakers{run: r, open: open, request: request.ID, bundles: byName}, book, r.Announce)
}

func lastRequest(s *conversation.Stream) (*conversation.Event, bool) {
	at := s.Requests()
	if len(at) == 0 {
		return nil, false
	}
	ev, err := s.Event(at[len(at)-1])
	return ev, err == nil
}

// heading is the text of a Markdown heading that a request starts with, or "".
func heading(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	if marks == 0 || marks > 6 || !strings.HasPrefix(line[marks:], " ") {
		return ""
	}
	return strings.Trim(line[marks:], " \t\r#")
}
