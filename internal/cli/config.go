package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

func (a *app) configCommand() *cobra.Command {
	var explain, id string
	var defaults bool
	show := &cobra.Command{
		Use: "show [KEY]", Short: "Print the configuration in force, or of one conversation",
		Args:        between(0, 1),
		Annotations: map[string]string{takesConfig: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			key := ""
			if len(args) > 0 {
				key = args[0]
			}
			if explain != "" {
				return a.explain(explain, id)
			}
			return a.showConfig(key, id, defaults)
		},
	}
	show.Flags().StringVar(&explain, "explain", "", "say where the value of `KEY` comes from")
	show.Flags().StringVarP(&id, "id", "i", "", "the configuration of this conversation")
	show.Flags().BoolVar(&defaults, "defaults", false, "only what is built in")
	return group("config", "Look at the configuration", []string{"cfg"}, show)
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
		run, err := a.run(ws)
		if err != nil {
			return err
		}
		if tree, err = run.Config(c.Stream, a.cfg); err != nil {
			return err
		}
	default:
		ws, err := a.open()
		if err != nil {
			return err
		}
		run, err := a.run(ws)
		if err != nil {
			return err
		}
		if tree, err = run.Fresh(a.cfg); err != nil {
			return err
		}
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
	value, _ = bare(value)
	if table, ok := value.(config.Tree); ok {
		a.printf("%s", term.Clean(string(config.Effective(table))))
		return nil
	}
	a.printf("%s\n", term.Clean(literal(value, "")))
	return nil
}

func (a *app) explain(key, id string) error {
	ws, err := a.open()
	if err != nil {
		return err
	}
	run, err := a.run(ws)
	if err != nil {
		return err
	}
	var stream *conversation.Stream
	if id != "" {
		_, c, err := a.reading([]string{id})
		if err != nil {
			return err
		}
		if c.Stream == nil {
			return c.Broken
		}
		stream = c.Stream
	}
	if err := config.CheckKey(key); err != nil {
		return err
	}
	settings, err := run.Explain(stream, a.cfg, key)
	if err != nil {
		return err
	}
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
		value, how := bare(s.Value)
		table, ok := value.(config.Tree)
		if !ok || len(table) == 0 {
			if how != "" {
				how = " # " + how
			}
			a.printf("%s\n", term.Clean(fmt.Sprintf("%s  %s = %s%s", s.Origin, s.Key, literal(value, ""), how)))
			continue
		}
		path, err := config.SplitKey(s.Key)
		if err != nil {
			return err
		}
		a.printf("%s\n", term.Clean(s.Origin.String()))
		a.leaves(path, table)
	}
	return nil
}

// leaves prints the values in a table, one below the other.
func (a *app) leaves(path []string, table config.Tree) {
	for _, k := range sortedKeys(table) {
		path := append(slices.Clone(path), k)
		if sub, ok := table[k].(config.Tree); ok && len(sub) > 0 {
			a.leaves(path, sub)
			continue
		}
		a.printf("  %s\n", term.Clean(config.JoinKey(path)+" = "+literal(table[k], "  ")))
	}
}

// bare is a value without what it says about its own merging, in the tables
// and lists below it too, and how it is merged when that is no plain replacing.
func bare(v any) (any, string) {
	switch v := v.(type) {
	case config.Tree:
		value, wraps := v["value"]
		how, strategy := v["strategy"].(string)
		_, discard := v["discard_when_merged"]
		if wraps && (strategy || discard) {
			value, _ = bare(value)
			if how == "replace" {
				how = ""
			}
			return value, how
		}
		t := config.Tree{}
		for k, e := range v {
			t[k], _ = bare(e)
		}
		return t, ""
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i], _ = bare(e)
		}
		return list, ""
	}
	return v, ""
}

// foldLists is the length up to which a list stays on one line.
const foldLists = 60

// literal writes a value as TOML, long lists and texts on several lines of
// which those that are no text begin with indent.
func literal(v any, indent string) string {
	switch v := v.(type) {
	case string:
		if lines := strings.Split(v, "\n"); len(lines) > 1 {
			for i, l := range lines {
				l = quoted(l)
				l = l[1 : len(l)-1]
				if !strings.Contains(l, `\"\"`) && !strings.HasSuffix(l, `"`) { // three would end the text
					l = strings.ReplaceAll(l, `\"`, `"`)
				}
				lines[i] = l
			}
			return `"""` + "\n" + strings.Join(lines, "\n") + `"""`
		}
	case []any:
		items := make([]string, len(v))
		for i, e := range v {
			items[i] = literal(e, indent+"  ")
		}
		if one := "[" + strings.Join(items, ",") + "]"; len(one) <= foldLists && !strings.Contains(one, "\n") {
			return one
		}
		end := "\n" + indent
		return "[" + end + "  " + strings.Join(items, ","+end+"  ") + "," + end + "]"
	case config.Tree:
		var fields []string
		for _, k := range sortedKeys(v) {
			fields = append(fields, config.JoinKey([]string{k})+" = "+literal(v[k], indent))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return quoted(v)
}

// quoted is a value in JSON, which TOML reads as well.
func quoted(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
