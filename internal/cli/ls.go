package cli

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace"
	"jp/internal/workspace/conversation"
)

func (a *app) lsCommand() *cobra.Command {
	var limit int
	var archived bool
	cmd := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List the conversations, the latest last",
		Args: between(0, 0),
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
	slices.SortStableFunc(items, func(x, y workspace.Item) int { return x.Activity().Compare(y.Activity()) })
	if limit > 0 && len(items) > limit {
		items = items[len(items)-limit:]
	}
	if a.json() {
		return a.printJSON(listed(items, active))
	}
	table := term.Table{
		Header: []string{"ID", "#", "Activity", "Local", "Title"},
		Right:  []bool{false, true},
		Drop:   []int{3, 2, 1},
		Repeat: len(items) > 20,
	}
	for _, it := range items {
		mark, local := "", ""
		if it.ID == active {
			mark = "* "
		}
		if it.Local {
			local = "yes"
		}
		title, events, age := it.Title, strconv.Itoa(it.Events), term.Age(it.Activity(), a.Now())
		if title == "" && it.Opening != "" {
			title = "“" + it.Opening + "”"
		}
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

type listItem struct {
	ID       string    `json:"id"`
	Title    string    `json:"title,omitempty"`
	Opening  string    `json:"opening,omitempty"`
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
		list = append(list, listItem{it.ID.String(), it.Title, it.Opening, it.Events, it.Activity(), it.Local, it.ID == active, it.Broken, it.Unshared})
	}
	return list
}
