package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace/config"
)

func (a *app) configCommand() *cobra.Command {
	var explain, id string
	var defaults bool
	show := &cobra.Command{
		Use: "show [KEY]", Short: "Print the configuration in force, or of one conversation",
		Args:        cobra.MaximumNArgs(1),
		Annotations: map[string]string{takesConfig: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			key := ""
			if len(args) > 0 {
				key = args[0]
			}
			if explain != "" {
				return a.explain(explain)
			}
			return a.showConfig(key, id, defaults)
		},
	}
	show.Flags().StringVar(&explain, "explain", "", "say where the value of `KEY` comes from")
	show.Flags().StringVarP(&id, "id", "i", "", "the configuration of this conversation")
	show.Flags().BoolVar(&defaults, "defaults", false, "only what is built in")
	return group("config", "Look at the configuration", []string{"cfg"}, show)
}

// stack is the configuration that a new conversation would begin with.
func (a *app) stack() (*config.Stack, error) {
	ws, err := a.open()
	if err != nil {
		return nil, err
	}
	loader := a.loader(ws)
	stack, err := loader.Base()
	if err != nil {
		return nil, err
	}
	scoped, err := loader.Lay(stack, a.cfg)
	if err == nil && len(scoped) > 0 {
		err = fault.New(fault.Usage, "%s changes a participant, and there is no conversation here", scoped[0].Text).
			WithHint("`jp c show` and `jp config show --id` show those of a conversation")
	}
	return stack, err
}

func (a *app) showConfig(key, id string, defaults bool) error {
	var tree config.Tree
	switch {
	case defaults:
		tree = config.Defaults()
	case id != "":
		ws, target, err := a.targeted([]string{id})
		if err != nil {
			return err
		}
		c, err := ws.Read(target)
		if err != nil {
			return err
		}
		if c.Stream == nil {
			return c.Broken
		}
		tree = c.Stream.Config()
	default:
		stack, err := a.stack()
		if err != nil {
			return err
		}
		tree = stack.Merged()
	}
	tree, err := config.Finalize(tree)
	if err != nil {
		return err
	}
	var value any = tree
	if key != "" {
		var ok bool
		if value, ok, err = config.Lookup(tree, key); err != nil {
			return err
		} else if err := config.CheckKey(key); !ok && err != nil {
			return err
		} else if !ok {
			return fault.New(fault.NotFound, "%s has no value", key).WithHint("`jp config show --explain %s` says who could set it", key)
		}
	}
	if a.json() {
		return a.printJSON(value)
	}
	if table, ok := value.(config.Tree); ok {
		a.printf("%s", term.Clean(string(config.Effective(table))))
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	a.printf("%s\n", term.Line(string(text), 0))
	return nil
}

func (a *app) explain(key string) error {
	stack, err := a.stack()
	if err != nil {
		return err
	}
	if err := config.CheckKey(key); err != nil {
		return err
	}
	settings := stack.Explain(key)
	if a.json() {
		list := []any{}
		for _, s := range settings {
			list = append(list, map[string]any{"key": s.Key, "value": s.Value, "origin": s.Origin.String()})
		}
		return a.printJSON(list)
	}
	if len(settings) == 0 {
		a.printf("%s is set nowhere and has no default\n", key)
		return nil
	}
	for _, s := range settings {
		v, err := json.Marshal(s.Value)
		if err != nil {
			return err
		}
		a.printf("%s\n", term.Line(fmt.Sprintf("%s  %s = %s", s.Origin, s.Key, v), 0))
	}
	return nil
}
