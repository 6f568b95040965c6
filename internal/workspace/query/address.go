package query

import (
	"path/filepath"
	"slices"
	"strings"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
	"jp/internal/lib/shell"
	"jp/internal/workspace/config"
)

// Invitation is an --invite value, or a name and a --source.
type Invitation struct {
	Name   string
	Source string // empty: the name itself is looked up in the load paths
}

// ParseInvitation reads `name`, `path` or `name=path`. Errors: fault.Usage
// when no identifier follows from it, or it names the reserved one by a path.
func ParseInvitation(s string) (Invitation, error) {
	name, path, ok := strings.Cut(s, "=")
	if !ok {
		if !strings.ContainsAny(s, "/"+string(filepath.Separator)) && filepath.Ext(s) == "" {
			return Invitation{Name: s}, validName(s, s)
		}
		name, path = config.SourceName(s), s
	}
	inv := Invitation{Name: name, Source: path}
	if err := validName(name, s); err != nil {
		return inv, err
	}
	return inv, inv.reserved()
}

func (inv Invitation) reserved() error {
	if inv.Name == config.Reserved && inv.Source != "" {
		return fault.New(fault.Usage, "%q is the conversation's own assistant and takes no source", config.Reserved).
			WithHint("give the source another name: --invite name=%s", inv.Source)
	}
	return nil
}

func validName(name, typed string) error {
	if speaker.ValidID(name) {
		return nil
	}
	path := typed
	if _, p, ok := strings.Cut(typed, "="); ok {
		path = p
	}
	return config.NotAName(name).
		WithHint("letters, digits, _ and -, not starting with a digit or -; name it yourself: %s", shell.Quote("name="+path))
}

// enter lets in whom --invite and --at name. In a new conversation they make
// up the roster; in an existing one they join it.
func (st *setup) enter(in Input) error {
	var names []string
	given := map[string]string{}
	for _, spec := range in.Invite {
		inv, err := ParseInvitation(spec)
		if err != nil {
			return err
		}
		if src, ok := given[inv.Name]; ok && src != inv.Source {
			return fault.New(fault.Usage, "two sources are given for %q", inv.Name).WithHint("give one of them another name: --invite name=path")
		}
		given[inv.Name] = inv.Source
		if err := st.invite(inv); err != nil {
			return err
		}
		names = append(names, inv.Name)
	}
	for _, name := range in.At {
		if !speaker.ValidID(name) {
			return config.NotAName(name).WithHint("--at takes a name; a path goes to --invite")
		}
		if err := st.invite(Invitation{Name: name}); err != nil {
			return err
		}
		if !st.fresh && !st.active(name) && !slices.Contains(names, name) {
			st.Notes(name + " joins the conversation")
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil
	}
	if st.fresh {
		st.tree = config.WithRoster(st.tree, unique(names))
		return nil
	}
	for _, name := range names {
		st.join(name)
	}
	return nil
}

// invite makes sure that a name has a captured configuration; the roster is
// the caller's matter.
func (st *setup) invite(inv Invitation) error {
	if st.knows(inv.Name) {
		if inv.Source != "" && st.captured[inv.Name] != inv.Source {
			return fault.New(fault.Conflict, "%q is captured in this conversation already", inv.Name).
				WithHint("change it with -c @%s:KEY=VALUE, or give the source another name", inv.Name)
		}
		return nil
	}
	src := st.source(inv)
	if src.err != nil {
		return src.err
	}
	if !src.found {
		return st.unknown(inv.Name)
	}
	st.capture(inv, src)
	return nil
}

func (st *setup) capture(inv Invitation, src *source) {
	st.tree = config.WithAssistant(st.tree, inv.Name, src.tree)
	st.captured[inv.Name] = inv.Source
	if len(src.leftOut) > 0 {
		st.Notes(inv.Name + ": its source also sets " + strings.Join(src.leftOut, ", ") + ", which is not part of an assistant and is left out")
	}
}

// source resolves an identifier's source, once per run.
func (st *setup) source(inv Invitation) *source {
	key := inv.Name + "=" + inv.Source
	if s, ok := st.sources[key]; ok {
		return s
	}
	s := &source{}
	st.sources[key] = s
	path := inv.Source
	if path == "" {
		if _, err := st.Loader.Find(st.Base, inv.Name); config.IsNotFound(err) {
			return s
		}
		path = inv.Name
	}
	s.tree, s.leftOut, s.err = config.Capture(st.Loader, st.Base, inv.Name, path)
	s.found = s.err == nil
	return s
}

// mentions returns the responders that the typed text names, in its order,
// and lets those join whose policy allows it.
func (st *setup) mentions(in Input) ([]string, error) {
	var selected []string
	for _, name := range speaker.Mentions(in.typed()) {
		if slices.Contains(selected, name) {
			continue
		}
		ok, err := st.mention(name)
		if err != nil {
			return nil, err
		}
		if ok {
			selected = append(selected, name)
		}
	}
	if in.Text == "" && len(selected) > 0 {
		st.Notes("standard input addresses " + strings.Join(selected, ", ") + "; give the request as words to have mentions read in them alone")
	}
	return selected, nil
}

func (st *setup) mention(name string) (bool, error) {
	if st.active(name) {
		return true, nil
	}
	if st.knows(name) {
		a, err := config.ParticipantConfig(st.tree, name)
		if err != nil {
			return false, err
		}
		return st.apply(name, a.AtMention.Rejoin)
	}
	src := st.source(Invitation{Name: name})
	if src.err != nil {
		st.Notes("@" + name + " is read as text: its source cannot be used: " + src.err.Error())
		return false, nil
	}
	if !src.found {
		return false, nil
	}
	a, err := config.ParticipantConfig(config.WithAssistant(st.tree, name, src.tree), name)
	if err != nil {
		return false, err
	}
	ok, err := st.apply(name, a.AtMention.Invite)
	if ok {
		st.capture(Invitation{Name: name}, src)
	}
	return ok, err
}

// apply does what a mention's policy says about somebody who is not here.
func (st *setup) apply(name string, p config.Policy) (bool, error) {
	switch p {
	case config.PolicyAllow:
		st.join(name)
		st.Notes(name + " joins the conversation")
		return true, nil
	case config.PolicyIgnore:
		return false, nil
	}
	return false, st.absent(name)
}

// absent is the error for somebody who could be in the conversation and is not.
func (st *setup) absent(name string) error {
	e := fault.New(fault.Invalid, "@%s is not in this conversation", name)
	if st.fresh {
		return e.WithHint("start it with --invite %s or --at %s, let it join later with `jp c invite %s`, or write \\@%s for the text", name, name, name, name)
	}
	return e.WithHint("let it join with `jp c invite %s`, or write \\@%s for the text", name, name)
}

// nearMisses tells about names that look addressed but were not read so.
func (st *setup) nearMisses(in Input) {
	known := unique(slices.Concat(config.Roster(st.tree), config.Captured(st.tree)))
	said := map[string]bool{}
	for _, miss := range speaker.NearMisses(in.typed(), known) {
		if said[miss.Text] || slices.Contains(in.At, miss.Name) {
			continue
		}
		said[miss.Text] = true
		st.Notes(miss.Text + " was not read as a mention of " + miss.Name + "; to ask " + miss.Name + ", write @" + miss.Name + " as a word of its own, or use --at " + miss.Name)
	}
}
