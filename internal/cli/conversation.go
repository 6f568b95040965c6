package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
	"jp/internal/workspace/query"
)

func (a *app) conversationCommand() *cobra.Command {
	return group("conversation", "List, read and change conversations", []string{"c", "conversations"},
		a.lsCommand(), a.showCommand(), a.printCommand(), a.useCommand(), a.rmCommand(),
		a.pathCommand(), a.editCommand(), a.inviteCommand(), a.uninviteCommand())
}

// conversationID resolves a target: an id, a keyword, or nothing for the
// session's conversation and then conversation.default_id.
func (a *app) conversationID(ws *workspace.Workspace, tree config.Tree, target string) (conversation.ID, error) {
	if target != "" {
		return ws.Resolve(target)
	}
	def := config.DefaultID(tree)
	if _, ok := ws.Active(); ok || def == "ask" {
		def = ""
	}
	return ws.Resolve(def)
}

// targeted is a command's conversation and the workspace it is in.
func (a *app) targeted(args []string) (*workspace.Workspace, conversation.ID, error) {
	ws, err := a.open()
	if err != nil {
		return nil, 0, err
	}
	target := ""
	if len(args) > 0 {
		target = args[0]
	}
	id, err := a.conversationID(ws, a.standing(ws), target)
	return ws, id, err
}

// standing is the configuration of files and environment or, while that
// cannot be read, the built-in one: looking at conversations and mending them
// must work all the same.
func (a *app) standing(ws *workspace.Workspace) config.Tree {
	if a.config != nil {
		return a.config
	}
	base, err := a.loader(ws).Base()
	if err == nil {
		a.config, err = config.Finalize(base.Merged())
	}
	if err != nil {
		a.note("the configuration cannot be read: " + err.Error())
		a.config = config.Defaults()
	}
	return a.config
}

func (a *app) lsCommand() *cobra.Command {
	var limit int
	var archived bool
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the conversations, the latest last",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.ls(limit, archived) },
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "only the last `N`")
	cmd.Flags().BoolVar(&archived, "archived", false, "those in the archive")
	return cmd
}

func (a *app) ls(limit int, archived bool) error {
	if limit < 0 {
		return fault.New(fault.Usage, "--limit counts conversations, %d is no count", limit)
	}
	ws, err := a.open()
	if err != nil {
		return err
	}
	items, err := ws.List()
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(it workspace.Item) bool { return it.Archived != archived })
	active, _ := ws.Active()
	slices.SortStableFunc(items, func(x, y workspace.Item) int { return activity(x).Compare(activity(y)) })
	if limit > 0 && len(items) > limit {
		items = items[len(items)-limit:]
	}
	if a.json() {
		return a.printJSON(listed(items, active))
	}
	table := term.Table{Header: []string{"ID", "#", "Activity", "Local", "Title"}, Right: []bool{false, true}, Repeat: len(items) > 20}
	for _, it := range items {
		mark, local := "", ""
		if it.ID == active {
			mark = "* "
		}
		if it.Local {
			local = "yes"
		}
		title, events, age := it.Title, strconv.Itoa(it.Events), term.Age(activity(it), a.Now())
		if it.Broken != "" {
			title, events = "BROKEN: "+it.Broken, ""
		}
		table.Rows = append(table.Rows, []string{mark + it.ID.String(), events, age, local, title})
	}
	if err := table.Draw(a.out()); err != nil {
		return err
	}
	for _, it := range items {
		if it.Unshared > 0 {
			a.note(it.ID.String() + ": a copy in the user's data directory (" + it.Copy + ") holds events that this one lacks; it is ignored")
		}
	}
	return nil
}

// activity is when a conversation was last used or written to.
func activity(it workspace.Item) time.Time {
	if it.LastEvent.After(it.LastActivated) {
		return it.LastEvent
	}
	return it.LastActivated
}

type listItem struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Events   int       `json:"events"`
	Activity time.Time `json:"activity,omitzero"`
	Local    bool      `json:"local"`
	Active   bool      `json:"active"`
	Broken   string    `json:"broken,omitempty"`
	Unshared int       `json:"unshared,omitempty"`
}

func listed(items []workspace.Item, active conversation.ID) []listItem {
	list := []listItem{}
	for _, it := range items {
		list = append(list, listItem{it.ID.String(), it.Title, it.Events, activity(it), it.Local, it.ID == active, it.Broken, it.Unshared})
	}
	return list
}

func (a *app) useCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use TARGET", Aliases: []string{"u"}, Short: "Make a conversation the active one of this session",
		Long: targets, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ws, id, err := a.targeted(args)
			if err != nil {
				return err
			}
			c, err := ws.Read(id)
			if err != nil {
				return err
			}
			before, _ := ws.Active()
			if err := ws.SetActive(id); err != nil {
				return err
			}
			if a.json() {
				return a.printJSON(map[string]any{"action": "use", "id": id.String(), "title": c.Meta.Title})
			}
			from := "none"
			if before != 0 {
				from = before.String()
			}
			a.printf("Switched the active conversation from %s to %s%s\n", from, id, titled(c.Meta.Title))
			return nil
		},
	}
}

// targets explains how conversations are named.
const targets = `A conversation is named by its id (jp-c… or its digits), or by a word: active,
recent (the last one used), newest, session (the one before in this session).`

func titled(title string) string {
	if title == "" {
		return ""
	}
	return ": " + term.Line(title, 0)
}

func (a *app) rmCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm TARGET…", Aliases: []string{"remove", "rem", "delete", "del"}, Short: "Remove conversations for good",
		Long: targets, Args: cobra.MinimumNArgs(1),
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
		ids = append(ids, id)
	}
	var removed []string
	for _, id := range ids {
		c, err := ws.Read(id)
		if err != nil {
			return err
		}
		if !yes {
			ok, err := a.confirm("Remove "+id.String()+titled(c.Meta.Title)+"?", "give --yes to remove it without being asked")
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		if err := ws.Remove(ctx, id, a.wait()); err != nil {
			return err
		}
		removed = append(removed, id.String())
		if !a.json() {
			a.printf("Removed %s%s\n", id, titled(c.Meta.Title))
		}
	}
	if a.json() {
		return a.printJSON(map[string]any{"action": "rm", "ids": removed})
	}
	return nil
}

func (a *app) pathCommand() *cobra.Command {
	var events, metadata, base bool
	cmd := &cobra.Command{
		Use: "path [TARGET]", Short: "Print where a conversation is stored", Long: targets, Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ws, id, err := a.targeted(args)
			if err != nil {
				return err
			}
			c, err := ws.Read(id)
			if err != nil {
				return err
			}
			dir := c.Dir
			var paths []string
			for _, f := range []struct {
				want bool
				name string
			}{{events, conversation.EventsFile}, {base, conversation.BaseFile}, {metadata, conversation.MetadataFile}} {
				if f.want {
					paths = append(paths, filepath.Join(dir, f.name))
				}
			}
			if paths == nil {
				paths = []string{dir}
			}
			if a.json() {
				return a.printJSON(map[string]any{"id": id.String(), "paths": paths})
			}
			a.printf("%s\n", strings.Join(paths, "\n"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&events, "events", false, "the log of events")
	cmd.Flags().BoolVar(&base, "base-config", false, "the configuration it began with")
	cmd.Flags().BoolVar(&metadata, "metadata", false, "its title and times")
	return cmd
}

func (a *app) inviteCommand() *cobra.Command {
	var id, source string
	cmd := &cobra.Command{
		Use: "invite NAME…", Short: "Let assistants join a conversation",
		Long: `Let assistants join a conversation. NAME is looked up in config_load_paths;
a path, name=path or --source names the file itself.`,
		Args: cobra.MinimumNArgs(1),
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
	return a.members(ctx, "invite", target, func(m *query.Members) error {
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
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				if !speaker.ValidID(name) {
					return fault.New(fault.Usage, "%q is not a participant name", name)
				}
			}
			return a.members(cmd.Context(), "uninvite", id, func(m *query.Members) error {
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
func (a *app) members(ctx context.Context, action, target string, change func(*query.Members) error) error {
	ws, id, err := a.targeted(nonEmpty(target))
	if err != nil {
		return err
	}
	run := &query.Run{Workspace: ws, Loader: a.loader(ws), Place: a.place(ws), Notes: a.note}
	roster, err := run.ChangeMembers(ctx, id, a.wait(), change)
	if err != nil {
		return err
	}
	if a.json() {
		return a.printJSON(map[string]any{"action": action, "id": id.String(), "participants": roster})
	}
	who := strings.Join(roster, ", ")
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

// confirm asks a yes-or-no question, which needs a terminal.
func (a *app) confirm(question, hint string) (bool, error) {
	if !a.InTTY {
		return false, fault.New(fault.Usage, "this asks a question, and there is no terminal to ask it at").WithHint("%s", hint)
	}
	return a.ask().Yes(question, false)
}
