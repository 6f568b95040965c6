package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace"
	"jp/internal/workspace/attach"
	"jp/internal/workspace/config"
	"jp/internal/workspace/query"
)

// app is one run: the process and the flags that every command takes.
type app struct {
	Process
	terminal  io.Writer // standard output itself, for an editor to draw on
	cfg       []string
	format    string
	quiet     bool
	noPersist bool
	workspace string
	width     int
	waiting   time.Duration
	waited    bool        // --wait was given
	asks      *term.Ask   // see ask; nil until a question is asked
	command   string      // that runs, for those who wait for it
	config    config.Tree // see standing; nil until it is needed
	files     *config.Loader
	stack     *config.Stack // see base
	stackErr  error
}

// version is the release that is being worked towards.
const version = "0.1.0-dev"

// takesConfig marks the commands that -c means something to.
const takesConfig = "config"

// changes marks the commands that do nothing else than change files or the
// session, which --no-persist forbids.
const changes = "changes"

var formats = []string{"auto", "text", "text-pretty", "json", "json-pretty"}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "jp",
		Version:       version,
		Short:         "Conversations in which several language models and people take part",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.command, a.waited = cmd.CommandPath(), cmd.Flags().Changed("wait")
			if id := cmd.Flags().Lookup("id"); id != nil && id.Changed && id.Value.String() == "" {
				return emptyTarget()
			}
			if a.waiting < 0 {
				return fault.New(fault.Usage, "--wait %s is no time to wait", a.waiting)
			}
			if a.width < 0 {
				return fault.New(fault.Usage, "--width %d is no width", a.width)
			}
			if len(a.cfg) > 0 && cmd.Annotations[takesConfig] == "" {
				return fault.New(fault.Usage, "-c changes nothing about `%s`", a.command).
					WithHint("it goes with `jp query` and `jp config show`")
			}
			if cmd.Annotations[changes] != "" {
				if err := a.places().Writable(); err != nil {
					return err
				}
			}
			if !slices.Contains(formats, a.format) {
				return fault.New(fault.Usage, "unknown format %q", a.format).
					WithHint("one of %s", strings.Join(formats, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.New(fault.Usage, "unknown command %q", args[0]).WithHint("%s", didYouMean(cmd, args[0]))
			}
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(usage)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	f := root.PersistentFlags()
	f.StringArrayVarP(&a.cfg, "cfg", "c", nil, "configuration: KEY=VALUE, @name:KEY=VALUE, a `NAME` or a path; repeatable")
	f.StringVarP(&a.format, "format", "F", "auto", "output: auto, text, text-pretty, json or json-pretty")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no notes and headings on stderr")
	f.BoolVarP(&a.noPersist, "no-persist", "P", false, "change no file and no session")
	f.StringVarP(&a.workspace, "workspace", "w", "", "workspace `path`, instead of the one around the working directory")
	f.IntVar(&a.width, "width", 0, "columns to write in, instead of the terminal's")
	f.DurationVar(&a.waiting, "wait", 0, "how long to wait for a conversation that is in use; 0 fails at once")
	root.AddCommand(a.initCommand(), a.configCommand(), a.queryCommand(), a.conversationCommand(), a.serveCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	return root
}

// between takes any number of arguments from least to most; most below 0 is any.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least && least == 1:
			return fault.New(fault.Usage, "an argument is missing").WithHint("usage: %s", cmd.UseLine())
		case n < least:
			return fault.New(fault.Usage, "%d arguments are missing", least-n).WithHint("usage: %s", cmd.UseLine())
		case most == 0 && n > 0:
			return fault.New(fault.Usage, "`%s` takes no arguments, %q is one too many", cmd.CommandPath(), args[0]).WithHint("usage: %s", cmd.UseLine())
		case most >= 0 && n > most:
			return fault.New(fault.Usage, "%q is one argument too many", args[most]).WithHint("usage: %s", cmd.UseLine())
		}
		return nil
	}
}

func didYouMean(cmd *cobra.Command, word string) string {
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return fmt.Sprintf("did you mean `%s %s`?", cmd.CommandPath(), near[0])
	}
	return fmt.Sprintf("see `%s --help`", cmd.CommandPath())
}

// group is a command that only holds others.
func group(use, short string, aliases []string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Aliases: aliases,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.New(fault.Usage, "unknown command %q", args[0]).WithHint("%s", didYouMean(cmd, args[0]))
			}
			return cmd.Help()
		},
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(subs...)
	return cmd
}

func (a *app) json() bool { return strings.HasPrefix(a.format, "json") }

// open finds the workspace that the command works in.
func (a *app) open() (*workspace.Workspace, error) {
	dir := a.Dir
	if a.workspace != "" {
		dir = a.workspace
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.Dir, dir)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fault.New(fault.NotFound, "there is no folder %s", dir).WithHint("-w takes the path of a workspace")
		}
	}
	return workspace.Find(dir, a.places())
}

// loader reads configuration for the workspace, one for the whole run.
func (a *app) loader(ws *workspace.Workspace) *config.Loader {
	if a.files == nil {
		a.files = &config.Loader{
			UserDir: ws.Env().ConfigDir(),
			Root:    ws.Root,
			Cwd:     a.Dir,
			SiloDir: ws.Silo(),
			Environ: a.Environ,
			Note:    a.note,
		}
	}
	return a.files
}

// base is what files and environment say, read once: its notes are said once.
func (a *app) base(ws *workspace.Workspace) (*config.Stack, error) {
	if a.stack == nil && a.stackErr == nil {
		a.stack, a.stackErr = a.loader(ws).Base()
	}
	return a.stack, a.stackErr
}

// run is a use case on the workspace, told about in notes.
func (a *app) run(ws *workspace.Workspace) (*query.Run, error) {
	base, err := a.base(ws)
	return &query.Run{Workspace: ws, Loader: a.loader(ws), Base: base, Place: a.place(ws), Notes: a.note}, err
}

func (a *app) place(ws *workspace.Workspace) attach.Place {
	return attach.Place{Root: ws.Root, Dir: a.Dir}
}
