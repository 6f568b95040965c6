package query

import (
	"context"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// RosterChange changes the roster of an existing conversation. Its changes are
// saved together, and only when none of them failed.
type RosterChange struct{ st *setup }

// ChangeRoster opens a conversation, applies change to its roster and saves.
// It returns the roster that results. It works on conversations that cannot
// be queried, since it is how they are repaired.
func (r *Run) ChangeRoster(ctx context.Context, id conversation.ID, wait workspace.Wait, change func(*RosterChange) error) ([]string, error) {
	open, err := r.Workspace.Open(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	st := r.setup()
	st.from = open.Stream.Config()
	st.tree = st.from
	if err := change(&RosterChange{st}); err != nil {
		return nil, err
	}
	if _, err := open.Stream.AppendConfig(st.tree); err != nil {
		return nil, err
	}
	return config.Roster(st.tree), open.Save(ctx)
}

// Invite captures an assistant unless that happened before, and puts it into
// the roster. Errors: those of --invite.
func (c *RosterChange) Invite(inv Invitation) error {
	if err := inv.reserved(); err != nil {
		return err
	}
	if c.st.active(inv.Name) && c.st.knows(inv.Name) && inv.Source == "" {
		c.st.Notes(inv.Name + " is in the conversation already")
		return nil
	}
	if err := c.st.invite(inv); err != nil {
		return err
	}
	c.st.join(inv.Name)
	return nil
}

// Uninvite takes a participant out of the roster and keeps its configuration.
// Errors: fault.NotFound for a name that never was here.
func (c *RosterChange) Uninvite(name string) error {
	roster := config.Roster(c.st.tree)
	if slices.Contains(roster, name) {
		c.st.tree = config.WithRoster(c.st.tree, slices.DeleteFunc(slices.Clone(roster), func(n string) bool { return n == name }))
		return nil
	}
	if c.st.knows(name) {
		c.st.Notes(name + " is not in the conversation")
		return nil
	}
	who := "nobody is in it"
	if before := config.Roster(c.st.from); len(before) > 0 {
		who = "in it are " + strings.Join(before, ", ")
	}
	return nobody(name).WithHint("%s", who)
}

// nobody is the error for a name that a conversation does not know.
func nobody(name string) *fault.Error {
	return fault.New(fault.NotFound, "no participant named %q in this conversation", name)
}
