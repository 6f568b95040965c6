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

// Members changes the roster of an existing conversation. Its changes are
// saved together, and only when none of them failed.
type Members struct{ room *room }

// ChangeMembers opens a conversation, applies change to its roster and saves.
// It returns the roster that results. It works on conversations that cannot
// be queried, since it is how they are repaired.
func (r *Run) ChangeMembers(ctx context.Context, id conversation.ID, wait workspace.Wait, change func(*Members) error) ([]string, error) {
	open, err := r.Workspace.Open(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	rm, err := r.room()
	if err != nil {
		return nil, err
	}
	rm.from = open.Stream.Config()
	rm.tree = rm.from
	if err := change(&Members{rm}); err != nil {
		return nil, err
	}
	if _, err := open.Stream.AppendConfig(rm.tree); err != nil {
		return nil, err
	}
	return config.Roster(rm.tree), open.Save(ctx)
}

// Invite captures an assistant unless that happened before, and puts it into
// the roster. Errors: those of --invite.
func (m *Members) Invite(inv Invitation) error {
	if err := inv.reserved(); err != nil {
		return err
	}
	if m.room.active(inv.Name) && m.room.knows(inv.Name) && inv.Source == "" {
		m.room.Notes(inv.Name + " is in the conversation already")
		return nil
	}
	if err := m.room.invite(inv); err != nil {
		return err
	}
	m.room.join(inv.Name)
	return nil
}

// Uninvite takes a participant out of the roster and keeps its configuration.
// Errors: fault.NotFound for a name that never was here.
func (m *Members) Uninvite(name string) error {
	roster := config.Roster(m.room.tree)
	if slices.Contains(roster, name) {
		m.room.tree = config.WithRoster(m.room.tree, slices.DeleteFunc(slices.Clone(roster), func(n string) bool { return n == name }))
		return nil
	}
	if m.room.knows(name) {
		m.room.Notes(name + " is not in the conversation")
		return nil
	}
	who := "nobody is in it"
	if before := config.Roster(m.room.from); len(before) > 0 {
		who = "in it are " + strings.Join(before, ", ")
	}
	return fault.New(fault.NotFound, "no participant named %q in this conversation", name).WithHint("%s", who)
}
