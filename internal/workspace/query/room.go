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

// room is the conversation as it will be once the query is saved: its
// configuration, worked out step by step on values, so that giving up at any
// step leaves nothing behind.
type room struct {
	*Run
	fresh    bool // a new conversation
	resuming bool
	base     *config.Stack // files and environment; what names are looked up in
	from     config.Tree   // what the stream holds; nil when fresh
	tree     config.Tree   // what it will hold
	here     config.Tree   // files, environment and -c alone: the machine's own say

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

// newRoom lays the files, the environment and -c for a new conversation.
func (r *Run) newRoom(in Input) (*room, error) {
	rm, err := r.room()
	if err != nil {
		return nil, err
	}
	rm.fresh = true
	stack := rm.base.Clone()
	if rm.tree, err = rm.lay(stack, in.Config); err != nil {
		return nil, err
	}
	rm.here = stack.Merged()
	rm.tree = config.WithRoster(rm.tree, config.Roster(rm.tree)) // stored even when it is the implicit one
	return rm, nil
}

// oldRoom lays an existing conversation's configuration over files and
// environment, of which only keys that it never had remain, and then -c. Its
// roster and captures are its own alone; who is asking is not its matter.
func (r *Run) oldRoom(stream *conversation.Stream, in Input) (*room, error) {
	rm, err := r.room()
	if err != nil {
		return nil, err
	}
	rm.from = stream.Config()
	stack := rm.base.Over(rm.from)
	before := stack.Merged()
	tree, err := rm.lay(stack, in.Config)
	if err != nil {
		return nil, err
	}
	if _, changed := config.KeepParticipants(stack.Merged(), before); changed {
		r.Notes("-c does not change who is in an existing conversation; use --invite, --at, `jp c uninvite` or -c @name:…")
	}
	rm.tree, _ = config.KeepParticipants(tree, rm.from)
	alone, here := *r.Loader, rm.base.Clone()
	alone.Note = func(string) {} // said already
	if _, err := alone.Lay(here, in.Config); err != nil {
		return nil, err
	}
	rm.here = here.Merged()
	return rm, nil
}

// Config is the configuration that the next query of a conversation would have,
// with the values of -c. Errors: those of a query's configuration.
func (r *Run) Config(stream *conversation.Stream, values []string) (config.Tree, error) {
	rm, err := r.oldRoom(stream, Input{Config: values})
	if err != nil {
		return nil, err
	}
	if err := rm.assignScoped(func(string) bool { return true }); err != nil {
		return nil, err
	}
	return config.Finalize(config.TakeProviders(config.TakeUser(rm.tree, rm.here), rm.here))
}

// lay lays -c on a stack and returns what that makes.
func (rm *room) lay(stack *config.Stack, values []string) (config.Tree, error) {
	var err error
	if rm.scoped, err = rm.Loader.Lay(stack, values); err != nil {
		return nil, err
	}
	rm.touched = stack.Assigned(config.Reserved)
	return config.Finalize(stack.Merged())
}

func (r *Run) room() (*room, error) {
	base, err := r.Loader.Base()
	if err != nil {
		return nil, err
	}
	return &room{Run: r, base: base, sources: map[string]*source{}, captured: map[string]string{}}, nil
}

// resolve works out who answers and finishes the configuration. It returns
// the responders in order, ready to answer.
func (rm *room) resolve(in Input) ([]bundle, error) {
	if strings.TrimSpace(in.content()) == "" {
		return nil, fault.New(fault.Usage, "the query is empty").WithHint("say something: jp q \"…\"")
	}
	if err := rm.enter(in); err != nil {
		return nil, err
	}
	// Before mentions, whose policies it may set.
	if err := rm.assignScoped(rm.knows); err != nil {
		return nil, err
	}
	selected := slices.Clone(in.At)
	mentioned, err := rm.mentions(in)
	if err != nil {
		return nil, err
	}
	selected = append(selected, mentioned...)
	roster := config.Roster(rm.tree)
	if rm.responders = unique(selected); len(rm.responders) == 0 {
		rm.responders = roster
	}
	if len(rm.responders) == 0 {
		return nil, fault.New(fault.Invalid, "nobody is in this conversation").
			WithHint("invite somebody: jp c invite <name>, or ask one with --at <name>")
	}
	rm.nearMisses(in)
	return rm.finish(in)
}

// finish applies what depends on knowing rm.responders, checks the result and
// readies them.
func (rm *room) finish(in Input) ([]bundle, error) {
	// Before anything is assigned: an assignment would make an assistant of
	// nothing but itself.
	if err := rm.checkRoster(); err != nil {
		return nil, err
	}
	if err := rm.assignScoped(func(string) bool { return true }); err != nil {
		return nil, err
	}
	if err := rm.flags(in.Flags); err != nil {
		return nil, err
	}
	if err := rm.attach(in); err != nil {
		return nil, err
	}
	if rm.touched && !slices.Contains(rm.responders, config.Reserved) {
		rm.Notes("-c " + config.Reserved + ".… changes the participant " + config.Reserved + ", which is not asked; use -c @" + rm.responders[0] + ":…")
	}
	var err error
	if rm.tree, err = config.Finalize(rm.tree); err != nil {
		return nil, err
	}
	return rm.bundles()
}

// checkRoster refuses a roster that cannot be asked. One that a new
// conversation would begin with is mended where it stands.
func (rm *room) checkRoster() error {
	err := config.CheckRoster(rm.tree)
	if err == nil || !rm.fresh {
		return err
	}
	return fault.New(fault.CodeOf(err), "%w", err).
		WithHint("the configuration's own conversation.participants or assistants says so (`jp config show --explain conversation.participants`); change it there, or name others with --invite")
}

// assignScoped applies the values of -c @name:KEY… for the names that may have
// them now, in order.
func (rm *room) assignScoped(may func(name string) bool) error {
	var later []config.Assignment
	for _, a := range rm.scoped {
		if !may(a.Participant) {
			later = append(later, a)
		} else if err := rm.assign(a); err != nil {
			return err
		}
	}
	rm.scoped = later
	return nil
}

// assign applies one -c @name:KEY….
func (rm *room) assign(a config.Assignment) error {
	if !rm.knows(a.Participant) {
		if rm.source(Invitation{Name: a.Participant}).found {
			return rm.absent(a.Participant)
		}
		return rm.unknown(a.Participant)
	}
	tree, err := a.Apply(rm.tree)
	if err == nil {
		rm.tree = tree
	}
	return err
}

// knows tells whether a participant is active or captured.
func (rm *room) knows(name string) bool {
	_, ok := config.AssistantTree(rm.tree, name)
	return ok
}

func (rm *room) active(name string) bool {
	return slices.Contains(config.Roster(rm.tree), name)
}

func (rm *room) join(name string) {
	if roster := config.Roster(rm.tree); !slices.Contains(roster, name) {
		rm.tree = config.WithRoster(rm.tree, append(slices.Clone(roster), name))
	}
}

// delta is what the stream has to gain; nil when nothing changed.
func (rm *room) delta() (config.Tree, error) {
	return config.Delta(rm.from, config.TakeUser(rm.tree, rm.from))
}

// save appends what changed in the configuration, then events, and saves all
// of it at once.
func (rm *room) save(ctx context.Context, open *workspace.Conversation, events ...conversation.Event) error {
	d, err := rm.delta()
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
func (rm *room) turn(in Input) []conversation.Event {
	author := config.UserName(rm.here)
	if author == "" && rm.Author != nil {
		author = rm.Author()
	}
	return []conversation.Event{{Kind: conversation.TurnStart}, {
		Kind:       conversation.ChatRequest,
		Content:    in.content(),
		Author:     author,
		Responders: rm.responders,
	}}
}

// unknown is the error for a name that nothing answers to.
func (rm *room) unknown(name string) error {
	way := "`jp c invite %s`"
	if rm.fresh {
		way = "`--invite %s`"
	}
	hint := "invite one with " + fmt.Sprintf(way, "<name>")
	present := slices.Concat(config.Roster(rm.tree), config.Captured(rm.tree))
	if near, ok := speaker.Nearest(name, slices.Concat(present, rm.Loader.Names(rm.base))); ok && near != name {
		hint = "did you mean " + near + "?"
		if !slices.Contains(present, near) {
			hint += " Invite it with " + fmt.Sprintf(way, near)
		}
	}
	where := strings.Join(rm.Loader.Dirs(rm.base), ", ")
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
