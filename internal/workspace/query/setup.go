package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/attach"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// setup is the conversation as it will be once the query is saved: its
// configuration, worked out step by step on values, so that giving up at any
// step leaves nothing behind.
type setup struct {
	*Run
	fresh    bool // a new conversation
	resuming bool
	from     config.Tree // what the stream holds; nil when fresh
	tree     config.Tree // what it will hold
	here     config.Tree // files, environment and -c alone: the machine's own say

	responders []string
	named      []attach.Ref        // attachments that this run names
	scoped     []config.Assignment // -c @name:…, kept until captures are known
	touched    bool                // a plain -c set a key of the reserved assistant
	sources    map[string]*source  // by identifier; each is looked up once
	captured   map[string]string   // identifier → source, captured by this run
}

// source is what the configuration source of an identifier resolved to.
type source struct {
	found   bool
	tree    config.Tree // the captured assistant
	leftOut []string
	err     error // it exists but cannot be read
}

// newSetup lays the files, the environment and -c for a new conversation.
func (r *Run) newSetup(in Input) (*setup, error) {
	st := r.setup()
	st.fresh = true
	stack := st.Base.Clone()
	var err error
	if st.tree, err = st.lay(stack, in.Config); err != nil {
		return nil, err
	}
	st.here = stack.Merged()
	st.tree = config.WithRoster(st.tree, config.Roster(st.tree)) // stored even when it is the implicit one
	return st, nil
}

// oldSetup lays an existing conversation's configuration over files and
// environment, of which only keys that it never had remain, and then -c. Its
// roster and captures are its own alone; who is asking is not its matter.
func (r *Run) oldSetup(stream *conversation.Stream, in Input) (*setup, error) {
	st := r.setup()
	st.from = stream.Config()
	stack := st.Base.Over(st.from)
	before := stack.Merged()
	tree, err := st.lay(stack, in.Config)
	if err != nil {
		return nil, err
	}
	if _, changed := config.KeepParticipants(stack.Merged(), before); changed {
		r.Notes("-c does not change who is in an existing conversation; use --invite, --at, `jp c uninvite` or -c @name:…")
	}
	st.tree, _ = config.KeepParticipants(tree, st.from)
	alone, here := *r.Loader, st.Base.Clone()
	alone.Note = func(string) {} // said already
	if _, err := alone.Lay(here, slices.DeleteFunc(slices.Clone(in.Config), config.NotOfMachine)); err != nil {
		return nil, err
	}
	st.here = here.Merged()
	return st, nil
}

// Config is the configuration that the next query of a conversation would have,
// with the values of -c. Errors: those of a query's configuration.
func (r *Run) Config(stream *conversation.Stream, values []string) (config.Tree, error) {
	st, err := r.oldSetup(stream, Input{Config: values})
	if err != nil {
		return nil, err
	}
	if err := st.assignScoped(func(string) bool { return true }); err != nil {
		return nil, err
	}
	return config.Finalize(config.TakeProviders(config.TakeUser(st.tree, st.here), st.here))
}

// Explain lists what sets a key in a conversation, or without one in the
// configuration, the value that counts last. Errors: those of -c.
func (r *Run) Explain(stream *conversation.Stream, values []string, key string) ([]config.Setting, error) {
	st, stack := r.setup(), r.Base.Clone()
	plain := stack // what a -c without a name is laid on
	if stream != nil {
		st.tree = stream.Config()
		switch {
		case config.OfMachine(key):
			stack = r.Base.Under(st.tree)
			plain = stack
		case config.OfConversation(key):
			stack = (&config.Stack{}).Over(st.tree)
		default:
			stack = r.Base.Over(st.tree)
			plain = stack
		}
	}
	scoped, err := r.Loader.Lay(plain, values)
	if err != nil {
		return nil, err
	}
	for _, a := range scoped {
		if stream == nil {
			return nil, noConversation(a)
		}
		if !st.knows(a.Participant) {
			return nil, st.unknown(a.Participant)
		}
		if err := stack.Assign(a); err != nil {
			return nil, err
		}
	}
	return stack.Explain(key), nil
}

// noConversation refuses -c @name:… where nobody is.
func noConversation(a config.Assignment) error {
	return fault.New(fault.Usage, "%s changes a participant, and there is no conversation here", a.Text).
		WithHint("`jp config show --id active` shows a conversation's")
}

// Fresh is the configuration that a new conversation would begin with. Errors:
// those of -c.
func (r *Run) Fresh(values []string) (config.Tree, error) {
	stack := r.Base.Clone()
	scoped, err := r.Loader.Lay(stack, values)
	if err == nil && len(scoped) > 0 {
		err = noConversation(scoped[0])
	}
	return stack.Merged(), err
}

// lay lays -c on a stack and returns what that makes.
func (st *setup) lay(stack *config.Stack, values []string) (config.Tree, error) {
	var err error
	if st.scoped, err = st.Loader.Lay(stack, values); err != nil {
		return nil, err
	}
	st.touched = stack.Assigned(config.Reserved)
	return config.Finalize(stack.Merged())
}

func (r *Run) setup() *setup {
	return &setup{Run: r, sources: map[string]*source{}, captured: map[string]string{}}
}

// resolve works out who answers and finishes the configuration. It returns
// the responders in order, ready to answer.
func (st *setup) resolve(in Input) ([]bundle, error) {
	if strings.TrimSpace(in.content()) == "" {
		return nil, fault.New(fault.Usage, "the query is empty").WithHint("say something: jp q \"…\"")
	}
	if err := st.enter(in); err != nil {
		return nil, err
	}
	// Before mentions, whose policies it may set.
	if err := st.assignScoped(st.knows); err != nil {
		return nil, err
	}
	selected := slices.Clone(in.At)
	mentioned, err := st.mentions(in)
	if err != nil {
		return nil, err
	}
	selected = append(selected, mentioned...)
	roster := config.Roster(st.tree)
	if st.responders = unique(selected); len(st.responders) == 0 {
		st.responders = roster
	}
	if len(st.responders) == 0 {
		return nil, fault.New(fault.Invalid, "nobody is in this conversation").
			WithHint("invite somebody: jp c invite <name>, or ask one with --at <name>")
	}
	st.nearMisses(in)
	return st.finish(in)
}

// finish applies what depends on knowing st.responders, checks the result and
// readies them.
func (st *setup) finish(in Input) ([]bundle, error) {
	// Before anything is assigned: an assignment would make an assistant of
	// nothing but itself.
	if err := st.checkRoster(); err != nil {
		return nil, err
	}
	if err := st.assignScoped(func(string) bool { return true }); err != nil {
		return nil, err
	}
	if err := st.flags(in.Flags); err != nil {
		return nil, err
	}
	if err := st.attach(in); err != nil {
		return nil, err
	}
	if st.touched && !slices.Contains(st.responders, config.Reserved) {
		st.Notes("-c " + config.Reserved + ".… changes the participant " + config.Reserved + ", which is not asked; use -c @" + st.responders[0] + ":…")
	}
	var err error
	if st.tree, err = config.Finalize(st.tree); err != nil {
		return nil, err
	}
	return st.bundles()
}

// checkRoster refuses a roster that cannot be asked. One that a new
// conversation would begin with is mended where it stands.
func (st *setup) checkRoster() error {
	err := config.CheckRoster(st.tree)
	if err == nil || !st.fresh {
		return err
	}
	return fault.New(fault.CodeOf(err), "%w", err).
		WithHint("the configuration's own conversation.participants or assistants says so (`jp config show --explain conversation.participants`); change it there, or name others with --invite")
}

// assignScoped applies the values of -c @name:KEY… for the names that may have
// them now, in order.
func (st *setup) assignScoped(may func(name string) bool) error {
	var later []config.Assignment
	for _, a := range st.scoped {
		if !may(a.Participant) {
			later = append(later, a)
		} else if err := st.assign(a); err != nil {
			return err
		}
	}
	st.scoped = later
	return nil
}

// assign applies one -c @name:KEY….
func (st *setup) assign(a config.Assignment) error {
	if !st.knows(a.Participant) {
		if st.source(Invitation{Name: a.Participant}).found {
			return st.absent(a.Participant)
		}
		return st.unknown(a.Participant)
	}
	tree, err := a.Apply(st.tree)
	if err == nil {
		st.tree = tree
	}
	return err
}

// knows tells whether a participant is active or captured.
func (st *setup) knows(name string) bool {
	_, ok := config.AssistantTree(st.tree, name)
	return ok
}

func (st *setup) active(name string) bool {
	return slices.Contains(config.Roster(st.tree), name)
}

func (st *setup) join(name string) {
	if roster := config.Roster(st.tree); !slices.Contains(roster, name) {
		st.tree = config.WithRoster(st.tree, append(slices.Clone(roster), name))
	}
}

// delta is what the stream has to gain; nil when nothing changed.
func (st *setup) delta() (config.Tree, error) {
	return config.Delta(st.from, config.TakeUser(st.tree, st.from))
}

// save appends what changed in the configuration, then events, and saves all
// of it at once.
func (st *setup) save(ctx context.Context, open *workspace.Conversation, events ...conversation.Event) error {
	d, err := st.delta()
	if err != nil {
		return err
	}
	if d != nil {
		events = append([]conversation.Event{{Kind: conversation.ConfigDelta, Delta: d}}, events...)
	}
	if len(events) == 0 {
		return nil
	}
	for _, e := range events {
		if _, err := open.Stream.Append(e); err != nil {
			return err
		}
	}
	return open.Save(ctx)
}

// turn is the events that a request begins with.
func (st *setup) turn(in Input) []conversation.Event {
	author := config.UserName(st.here)
	if author == "" && st.Author != nil {
		author = st.Author()
	}
	return []conversation.Event{{Kind: conversation.TurnStart}, {
		Kind:       conversation.ChatRequest,
		Content:    in.content(),
		Author:     author,
		Responders: st.responders,
	}}
}

// unknown is the error for a name that nothing answers to.
func (st *setup) unknown(name string) error {
	way := "`jp c invite %s`"
	if st.fresh {
		way = "`--invite %s`"
	}
	hint := "invite one with " + fmt.Sprintf(way, "<name>")
	present := slices.Concat(config.Roster(st.tree), config.Captured(st.tree))
	if near, ok := speaker.Nearest(name, slices.Concat(present, st.Loader.Names(st.Base))); ok && near != name {
		hint = "did you mean " + near + "?"
		if !slices.Contains(present, near) {
			hint += " Invite it with " + fmt.Sprintf(way, near)
		}
	}
	where := strings.Join(st.Loader.Dirs(st.Base), ", ")
	if where == "" {
		where = "no folder: list some under config_load_paths"
	}
	return fault.New(fault.NotFound, "no assistant named %q", name).WithHint("%s (looked in %s)", hint, where)
}

func unique(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
