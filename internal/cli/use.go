package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) useCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use TARGET", Aliases: []string{"u"}, Short: "Make a conversation the active one of this session",
		Long: targets, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ws, c, err := a.reading(args)
			if err != nil {
				return err
			}
			before, _ := ws.Active()
			if err := ws.SetActive(c.ID); err != nil {
				return err
			}
			if a.json() {
				return a.printJSON(map[string]any{"action": "use", "id": c.ID.String(), "title": c.Meta.Title})
			}
			from := "none"
			if before != 0 {
				from = before.String()
			}
			a.printf("Switched the active conversation from %s to %s%s\n", from, c.ID, titled(c.Meta.Title))
			return nil
		},
	}
}
