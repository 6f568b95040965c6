package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace/query"
)

func (a *app) inviteCommand() *cobra.Command {
	var id, source string
	cmd := &cobra.Command{
		Use: "invite NAME…", Short: "Let assistants join a conversation",
		Long: `Let assistants join a conversation. NAME is looked up in config_load_paths;
a path, name=path or --source names the file itself.`,
		Args:        between(1, -1),
		Annotations: map[string]string{changes: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			var list []query.Invitation
			for _, arg := range args {
				inv, err := query.ParseInvitation(arg)
				if err != nil {
					return err
				}
				list = append(list, inv)
			}
			if source != "" {
				if len(list) != 1 || list[0].Source != "" {
					return fault.New(fault.Usage, "--source goes with exactly one name")
				}
				list[0].Source = source
			}
			return a.invite(cmd.Context(), id, list)
		},
	}
	cmd.Flags().StringVarP(&id, "id", "i", "", "the conversation")
	cmd.Flags().StringVar(&source, "source", "", "the file to capture, when it is not NAME")
	return cmd
}

func (a *app) invite(ctx context.Context, target string, list []query.Invitation) error {
	return a.members(ctx, "invite", target, func(m *query.RosterChange) error {
		for _, inv := range list {
			if err := m.Invite(inv); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) uninviteCommand() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use: "uninvite NAME…", Short: "Let participants leave a conversation; what they are is kept",
		Args:        between(1, -1),
		Annotations: map[string]string{changes: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.members(cmd.Context(), "uninvite", id, func(m *query.RosterChange) error {
				for _, name := range args {
					if err := m.Uninvite(name); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&id, "id", "i", "", "the conversation")
	return cmd
}

// members changes who is in a conversation, in one save.
func (a *app) members(ctx context.Context, action, target string, change func(*query.RosterChange) error) error {
	ws, id, err := a.targeted(nonEmpty(target))
	if err != nil {
		return err
	}
	run, err := a.run(ws)
	if err != nil {
		return err
	}
	roster, err := run.ChangeRoster(ctx, id, a.wait(), change)
	if err != nil {
		return err
	}
	if a.json() {
		return a.printJSON(map[string]any{"action": action, "id": id.String(), "participants": roster})
	}
	who := term.Line(strings.Join(roster, ", "), 0)
	if who == "" {
		who = "nobody"
	}
	a.printf("In %s: %s\n", id, who)
	return nil
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
