package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"jp/internal/term"
	"jp/internal/workspace/conversation"
)

func (a *app) pathCommand() *cobra.Command {
	var events, metadata, base bool
	cmd := &cobra.Command{
		Use: "path [TARGET]", Short: "Print where a conversation is stored", Long: targets, Args: between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			_, c, err := a.reading(args)
			if err != nil {
				return err
			}
			if c.Broken != nil {
				a.note(c.Broken.Error())
			}
			var paths []string
			for _, f := range []struct {
				want bool
				name string
			}{{events, conversation.EventsFile}, {base, conversation.BaseFile}, {metadata, conversation.MetadataFile}} {
				if f.want {
					paths = append(paths, filepath.Join(c.Dir, f.name))
				}
			}
			if paths == nil {
				paths = []string{c.Dir}
			}
			if a.json() {
				return a.printJSON(map[string]any{"id": c.ID.String(), "paths": paths})
			}
			text := strings.Join(paths, "\n")
			if a.out().Pretty { // others named the folder; a script needs it to the byte
				text = term.Clean(text)
			}
			a.printf("%s\n", text)
			return nil
		},
	}
	cmd.Flags().BoolVar(&events, "events", false, "the log of events")
	cmd.Flags().BoolVar(&base, "base-config", false, "the configuration it began with")
	cmd.Flags().BoolVar(&metadata, "metadata", false, "its title and times")
	return cmd
}
