package cli

import (
	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
)

func (a *app) useCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use TARGET", Aliases: []string{"u"}, Short: "Make a conversation the active one of this session",
		Long: targets, Args: between(1, 1),
		Annotations: map[string]string{changes: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			ws, c, err := a.reading(args)
			if err != nil {
				return err
			}
			if !ws.InSession() {
				return fault.New(fault.Invalid, "this session cannot be told from others, so none can be active in it").
					WithHint("set JP_SESSION to a name for it, or name the conversation each time: jp q --id %s", c.ID)
			}
			if c.Archived {
				return fault.New(fault.Invalid, "conversation %s is archived", c.ID).
					WithHint("move its folder out of .archive to go on with it: %s", c.Dir)
			}
			before, _ := ws.Active()
			if err := ws.SetActive(c.ID); err != nil {
				return err
			}
			if a.json() {
				return a.printJSON(map[string]any{"action": "use", "id": c.ID.String(), "title": c.Meta.Title})
			}
			switch before {
			case 0:
				a.printf("Active is %s%s\n", c.ID, titled(c.Meta.Title))
			case c.ID:
				a.printf("Active already is %s%s\n", c.ID, titled(c.Meta.Title))
			default:
				a.printf("Switched the active conversation from %s to %s%s\n", before, c.ID, titled(c.Meta.Title))
			}
			return nil
		},
	}
}
