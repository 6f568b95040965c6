package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/conversation"
)

func (a *app) editCommand() *cobra.Command {
	var files [3]bool
	var title string
	cmd := &cobra.Command{
		Use: "edit [TARGET]", Aliases: []string{"e"}, Short: "Change a conversation's title, or its files in the editor",
		Long:        targets + "\n\nA file is checked before it replaces the old one; on an error the old one stays.",
		Args:        between(0, 1),
		Annotations: map[string]string{changes: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			retitle := cmd.Flags().Changed("title")
			if !retitle && files == [3]bool{} {
				return fault.New(fault.Usage, "say what to edit").WithHint("--events, --base-config, --metadata or --title TITLE")
			}
			ws, id, err := a.targeted(args)
			if err != nil {
				return err
			}
			c, err := ws.Edit(cmd.Context(), id, a.wait())
			if err != nil {
				return err
			}
			defer c.Close()
			if retitle {
				if err := a.retitle(cmd.Context(), c, title); err != nil {
					return err
				}
			}
			if c.Broken != nil && c.Stream != nil {
				a.note(c.Broken.Error())
			}
			for i, name := range []string{conversation.EventsFile, conversation.BaseFile, conversation.MetadataFile} {
				if files[i] {
					if err := a.editFile(cmd.Context(), ws, c, name); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&files[0], "events", "e", false, "the log of events")
	f.BoolVarP(&files[1], "base-config", "b", false, "the configuration it began with")
	f.BoolVarP(&files[2], "metadata", "m", false, "its title and times")
	f.StringVar(&title, "title", "", "its new `title`; empty takes it away")
	return cmd
}

func (a *app) retitle(ctx context.Context, c *workspace.Conversation, title string) error {
	if c.Broken != nil {
		return c.Broken
	}
	if err := checkText("the title", title, "look at the terminal's encoding: `locale` should name UTF-8"); err != nil {
		return err
	}
	c.Meta.Title = title
	if err := c.Save(ctx); err != nil {
		return err
	}
	return a.edited(c, "title")
}

// editFile opens a copy of a file, and puts it in the file's place when it is
// sound. What a person wrote is never thrown away: a copy that is not sound
// stays, and the error says where.
func (a *app) editFile(ctx context.Context, ws *workspace.Workspace, c *workspace.Conversation, name string) error {
	editor := a.editor(a.standing(ws))
	if editor == nil {
		return fault.New(fault.Usage, "there is no editor to open %s in", name).WithHint("set EDITOR, or JP_EDITOR where there is no terminal")
	}
	old, err := os.ReadFile(filepath.Join(c.Dir, name))
	if err != nil && !os.IsNotExist(err) {
		return fault.New(fault.Storage, "cannot read %s: %w", name, err)
	}
	dir, err := os.MkdirTemp("", "jp-edit-")
	if err != nil {
		return fault.New(fault.Storage, "cannot make a copy to edit: %w", err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, old, 0o600); err != nil {
		return fault.New(fault.Storage, "cannot make a copy to edit: %w", err)
	}
	failed := a.edit(ctx, editor, path, "nothing is changed")
	text, err := os.ReadFile(path)
	if err != nil {
		return fault.New(fault.Storage, "cannot read what was edited: %w", err)
	}
	unchanged := string(text) == string(old)
	if unchanged {
		if err := os.RemoveAll(dir); err != nil {
			return fault.New(fault.Storage, "cannot remove the copy: %w", err)
		}
	}
	switch {
	case failed != nil && unchanged:
		return failed
	case failed != nil:
		return fault.New(fault.CodeOf(failed), "%w", failed).WithHint("what you wrote is kept in %s", path)
	case unchanged:
		a.note(name + " is unchanged")
		return nil
	}
	if err := c.Replace(name, text); err != nil {
		return fault.New(fault.CodeOf(err), "%s is not changed: %w", name, err).
			WithHint("what you wrote is kept in %s", path)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fault.New(fault.Storage, "cannot remove the edited copy: %w", err)
	}
	return a.edited(c, name)
}

func (a *app) edited(c *workspace.Conversation, what string) error {
	if a.json() {
		return a.printJSON(map[string]any{"action": "edit", "id": c.ID.String(), "changed": what})
	}
	a.printf("Changed the %s of %s\n", what, c.ID)
	return nil
}
