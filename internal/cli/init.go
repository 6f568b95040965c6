package cli

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"jp/internal/lib/atomicfile"
	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
)

//go:embed init.toml
var initTOML string

func (a *app) initCommand() *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use:         "init [PATH]",
		Short:       "Make a folder a workspace",
		Args:        between(0, 1),
		Annotations: map[string]string{changes: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.init(cmd.Context(), append(args, ".")[0], model)
		},
	}
	cmd.Flags().StringVar(&model, "model", "", "the model that assistants use unless they name their own, as provider/name")
	return cmd
}

func (a *app) init(ctx context.Context, path, model string) error {
	if a.workspace != "" {
		return fault.New(fault.Usage, "-w names a workspace that is there; `jp init` makes one").WithHint("jp init PATH")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Dir, path)
	}
	file := filepath.Join(path, workspace.Marker, "config.toml")
	_, err := os.Stat(file)
	create := errors.Is(err, fs.ErrNotExist)
	if create && model == "" {
		if model, err = a.chooseModel(ctx); err != nil {
			return err
		}
	}
	if model != "" {
		if err := usable(model); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fault.New(fault.Storage, "cannot make %s: %w", path, err)
	}
	ws, _, err := workspace.Init(path, a.places())
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := template.Must(template.New("init").Parse(initTOML)).Execute(&text, model); err != nil {
		return err
	}
	if create {
		if err := atomicfile.Write(file, 0o644, []byte(text.String())); err != nil {
			return err
		}
	}
	if a.json() {
		return a.printJSON(map[string]any{"action": "init", "workspace": ws.Root, "id": ws.ID, "config": file, "created": create})
	}
	a.printf("Workspace %s is ready.\n", ws.Root)
	switch {
	case !create && model != "":
		a.note(file + " was there already and is left as it is; its model is not changed")
	case !create:
		a.note(file + " was there already and is left as it is")
	case model == "":
		a.note("no model is chosen yet: set assistant.model.id in " + file)
	default:
		a.note("ask something: jp q --new \"…\"")
	}
	return nil
}

// usable refuses a model that no query could be sent to.
func usable(model string) error {
	id, err := config.ResolveModel(config.Tree{}, model)
	if err != nil {
		return err
	}
	return supported(id)
}

// chooseModel asks for a model at a terminal; elsewhere none is chosen.
func (a *app) chooseModel(ctx context.Context) (string, error) {
	if !a.InTTY {
		return "", nil
	}
	models := append(a.ollamaModels(ctx), "offline/rehearsal")
	a.note("models seen here: " + strings.Join(models, ", ") + " (embedded, it only pretends)")
	for _, provider := range []string{"openai", "openrouter"} {
		if key := config.Provider(config.Tree{}, provider).KeyEnv; a.Getenv(key) != "" {
			a.note(key + " is set: any " + provider + "/NAME can be asked")
		}
	}
	return a.ask(ctx).Line("Model (provider/name)", models[0])
}

// ollamaModels lists what a local Ollama has, if there is one.
func (a *app) ollamaModels(ctx context.Context) []string {
	if _, err := exec.LookPath("ollama"); err != nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "ollama", "list")
	cmd.Env = a.Environ
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	var names []string
	for i, line := range strings.Split(string(out), "\n") {
		if f := strings.Fields(line); i > 0 && len(f) > 0 {
			names = append(names, "ollama/"+strings.TrimSuffix(f[0], ":latest"))
		}
	}
	return names
}
