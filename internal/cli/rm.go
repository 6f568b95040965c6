package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/internal/workspace"
	"jp/internal/workspace/conversation"
)

func (a *app) rmCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm TARGET…", Aliases: []string{"remove", "rem", "delete", "del"}, Short: "Remove conversations for good",
		Long: targets, Args: between(1, -1),
		Annotations: map[string]string{changes: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.rm(cmd.Context(), args, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) rm(ctx context.Context, args []string, yes bool) error {
	var ids []conversation.ID
	var ws *workspace.Workspace
	for _, arg := range args {
		var id conversation.ID
		var err error
		if ws, id, err = a.targeted([]string{arg}); err != nil {
			return err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	removed := []string{}
	var err error
	for _, id := range ids {
		var gone bool
		if gone, err = a.remove(ctx, ws, id, yes); err != nil {
			break
		}
		if gone {
			removed = append(removed, id.String())
		}
	}
	// What is gone is said even when a later one could not be removed.
	if a.json() {
		return errors.Join(err, a.printJSON(map[string]any{"action": "rm", "ids": removed}))
	}
	return err
}

// remove removes one conversation, unless a person says no.
func (a *app) remove(ctx context.Context, ws *workspace.Workspace, id conversation.ID, yes bool) (bool, error) {
	c, err := ws.Read(id)
	if err != nil {
		return false, err
	}
	if !yes {
		ok, err := a.confirm(ctx, "Remove "+id.String()+titled(c.Meta.Title)+"?", "give --yes to remove it without being asked")
		if err != nil || !ok {
			return false, err
		}
	}
	kept, err := ws.Remove(ctx, id, a.wait())
	if err != nil {
		return false, err
	}
	if !a.json() {
		a.printf("Removed %s%s\n", id, titled(c.Meta.Title))
	}
	if len(kept) > 0 {
		a.note("a copy of " + id.String() + " in the user's data directory is kept (" + strings.Join(kept, ", ") +
			"): it may hold events that the removed one lacked, and is the conversation now, a local one")
	}
	return true, nil
}
