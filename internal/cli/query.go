package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/query"
)

// queryFlags are the flags of `jp q`.
type queryFlags struct {
	in    query.Input
	id    string
	edit  bool
	local bool
}

func (a *app) queryCommand() *cobra.Command {
	var q queryFlags
	cmd := &cobra.Command{
		Use:         "query [TEXT…]",
		Aliases:     []string{"q"},
		Annotations: map[string]string{takesConfig: "yes"},
		Short:       "Ask the participants of a conversation",
		Long: `Ask the participants of a conversation.

The words are joined by a space. @name at the start of a word asks one
participant instead of everybody; \@name is text. file:PATH attaches a file of
the workspace. Standard input follows below the words. With neither words nor
standard input an editor opens.`,
		Example: `  jp q --new --invite reviewer --invite triager "Is this ready to merge?"
  git diff | jp q "@reviewer what did I miss?"
  jp q --at reviewer --model gpt "again, more briefly"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.query(cmd.Context(), args, q)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&q.in.New, "new", "n", false, "start a new conversation")
	f.StringVarP(&q.id, "id", "i", "", "the conversation to go on with")
	f.BoolVarP(&q.local, "local", "l", false, "with --new: keep it in the user's data directory, not in the workspace")
	f.StringVar(&q.in.Title, "title", "", "with --new: its title")
	f.StringArrayVar(&q.in.At, "at", nil, "ask this participant, and let it join if needed; repeatable")
	f.StringArrayVar(&q.in.Invite, "invite", nil, "let `NAME`, a path or name=path join; repeatable")
	f.VarP(&scoped{into: &q.in.Flags, name: "--model", key: "model.id", op: "="}, "model", "m", "the model of the participant that is asked")
	f.VarP(&scoped{into: &q.in.Flags, name: "--param", key: "model.parameters."}, "param", "p", "a parameter of its model, as KEY=VALUE; repeatable")
	f.VarP(&scoped{into: &q.in.Flags, name: "--reasoning", key: "model.parameters.reasoning", op: "="}, "reasoning", "r", "how long it thinks: off, auto, low, medium, high, max, …")
	f.VarPF(&scoped{into: &q.in.Flags, name: "--no-reasoning", key: "model.parameters.reasoning", op: "=", value: "off"}, "no-reasoning", "R", "it does not think first").NoOptDefVal = "true"
	f.StringArrayVarP(&q.in.Attach, "attachment", "a", nil, "attach a file, a folder or a glob; repeatable")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "attach" {
			name = "attachment"
		}
		return pflag.NormalizedName(name)
	})
	f.BoolVarP(&q.edit, "edit", "e", false, "write in the editor, starting from the words")
	f.BoolVar(&q.in.Resume, "resume", false, "answer the last request for everybody whose reply is missing or broken")
	return cmd
}

// scoped collects assistant-scoped flags in the order they were typed.
type scoped struct {
	into           *[]query.Flag
	name, key, op  string
	value          string // of a flag that takes none
	lastTypedValue string
}

func (s *scoped) String() string { return s.lastTypedValue }
func (s *scoped) Type() string {
	if s.value != "" {
		return "bool" // help shows no value for it
	}
	return "value"
}
func (s *scoped) Set(v string) error {
	f := query.Flag{Name: s.name, Value: v, Assign: s.key + s.op + v}
	switch {
	case s.name == "--reasoning" && v != "off" && v != "auto":
		f.Assign = s.key + ".effort=" + v
	case s.value != "" && v == "true":
		f.Value, f.Assign = "", s.key+s.op+s.value
	case s.value != "":
		return fmt.Errorf("%s takes no value", s.name)
	case s.op == "" && !strings.Contains(v, "="):
		return fmt.Errorf("%s wants KEY=VALUE", s.name)
	}
	s.lastTypedValue = v
	*s.into = append(*s.into, f)
	return nil
}

func (a *app) query(ctx context.Context, args []string, q queryFlags) error {
	if err := mentionAsWord(args); err != nil {
		return err
	}
	if q.local && !q.in.New {
		return fault.New(fault.Usage, "--local chooses where a new conversation lives").WithHint("add --new")
	}
	if q.in.Title != "" && !q.in.New {
		return fault.New(fault.Usage, "--title names a new conversation").WithHint("add --new, or use `jp c edit --title`")
	}
	if q.in.New && q.id != "" {
		return fault.New(fault.Usage, "--new and --id exclude each other").WithHint("leave out one of them")
	}
	ws, err := a.open()
	if err != nil {
		return err
	}
	q.in.Text, q.in.Config = strings.Join(args, " "), a.cfg
	if err := checkText("the query", q.in.Text+q.in.Title, "look at the terminal's encoding: `locale` should name UTF-8"); err != nil {
		return err
	}
	if q.in.Stdin, err = a.stdin(ctx); err != nil {
		return err
	}
	base, err := a.base(ws)
	if err != nil {
		return err
	}
	tree, err := config.Finalize(base.Merged())
	if err != nil {
		return err
	}
	if err := a.target(ws, tree, &q); err != nil {
		return err
	}
	d := a.draft(ws, tree, q.in.ID)
	if !q.in.Resume && (q.edit || strings.TrimSpace(q.in.Text+q.in.Stdin) == "") {
		if q.in.Text, err = d.write(ctx, q.in.Text); err != nil {
			return err
		}
		if err := checkText("the draft", q.in.Text, "set the editor's encoding to UTF-8; the draft is kept"); err != nil {
			return err
		}
		if strings.TrimSpace(q.in.Text+q.in.Stdin) == "" {
			a.note("the query is empty, nothing is sent")
			return nil
		}
	}
	return a.send(ctx, ws, q, d)
}

// mentionAsWord refuses `jp q @dev "please review"`: it looks like an
// address, but a mention is part of the text.
func mentionAsWord(args []string) error {
	if len(args) < 2 || !strings.HasPrefix(args[0], "@") || !speaker.ValidID(args[0][1:]) {
		return nil
	}
	return fault.New(fault.Usage, "%s is a word of its own here, not a mention", args[0]).
		WithHint("quote the whole query: jp q %q, or use --at %s", strings.Join(args, " "), args[0][1:])
}

// stdin reads what is piped in, less one trailing line break: text of at most
// maxStdin bytes. A read cannot be cancelled, so one that is interrupted is
// left behind.
func (a *app) stdin(ctx context.Context) (string, error) {
	if a.InTTY || a.Stdin == nil {
		return "", nil
	}
	data, err := io.ReadAll(io.LimitReader(input{ctx, a.Stdin}, maxStdin+1))
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	if err != nil {
		return "", fault.New(fault.Storage, "cannot read standard input: %w", err)
	}
	if len(data) > maxStdin {
		return "", fault.New(fault.Usage, "standard input is larger than %d MiB", maxStdin>>20).WithHint("send the part that matters")
	}
	text := strings.TrimSuffix(string(data), "\n")
	return strings.TrimSuffix(text, "\r"), checkText("standard input", text, "attach a picture with -a FILE; iconv converts text of another encoding")
}

// target fills in which conversation the query goes to and how long it may
// wait for it.
func (a *app) target(ws *workspace.Workspace, tree config.Tree, q *queryFlags) error {
	q.in.Local = q.local
	q.in.Wait = a.wait()
	if q.in.New {
		return nil
	}
	id, err := a.conversationID(ws, tree, q.id)
	q.in.ID = id
	return err
}

// send runs the exchange and draws it.
func (a *app) send(ctx context.Context, ws *workspace.Workspace, q queryFlags, d *draft) error {
	view := a.view()
	run, err := a.run(ws)
	if err != nil {
		return err
	}
	run.Model = a.model
	run.Author = func() string { return a.gitUser(ctx, ws) }
	run.Notes = view.note
	run.Ready = func(ex query.Exchange) {
		d.done()
		view.ready(ex)
	}
	run.Announce, run.Stored = view.announce, view.stored
	err = run.Do(ctx, q.in)
	if closed := view.close(); err == nil {
		err = closed
	}
	if stopped, ok := errors.AsType[*exchange.Stopped](err); ok {
		return a.stopped(ws, stopped, view.id)
	}
	return err
}

// stopped says who is still to answer, and how to have them asked.
func (a *app) stopped(ws *workspace.Workspace, s *exchange.Stopped, id string) error {
	owing := []string{s.Slot.Speaker}
	for _, slot := range s.Remaining {
		owing = append(owing, slot.Speaker)
	}
	hint := fault.HintOf(s.Err)
	if hint != "" {
		hint += "; "
	}
	hint += "still to answer: " + strings.Join(owing, ", ")
	active, ok := ws.Active()
	switch {
	case a.noPersist: // nothing is stored that could be gone on with
	case ok && active.String() == id:
		hint += "; go on with `jp q --resume`"
	default:
		hint += "; go on with `jp q --resume --id " + id + "`"
	}
	return fault.New(fault.CodeOf(s.Err), "%w", s).WithHint("%s", hint)
}

// gitUser is Git's user.name in the workspace, or "".
func (a *app) gitUser(ctx context.Context, ws *workspace.Workspace) string {
	cmd := exec.CommandContext(ctx, "git", "config", "--get", "user.name")
	cmd.Dir, cmd.Env = ws.Root, a.Environ
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// wait is how long a conversation that is in use is waited for: without limit
// when a person sees it.
func (a *app) wait() workspace.Wait {
	w := workspace.Wait{For: 10 * time.Minute, OnWait: func(holder string) {
		a.note("waiting: the conversation is in use by " + holder)
	}}
	switch {
	case a.waited:
		w.For = a.waiting
	case a.stream(a.Stderr).Live:
		w.For = -1
	}
	return w
}
