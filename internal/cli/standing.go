package cli

import (
	"context"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"jp/internal/kernel/llm/chat"
	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/workspace/config"
)

// endpoints are the servers of models that files and environment name: a
// provider that a file configures, and one that is only known here, if its key
// is set. Inside of a workspace its files count, outside only the user's. Their
// ids follow from the provider, so that settings may name them. The one whose
// model assistants have by default is used with that model. Errors:
// fault.Config.
func (a *app) endpoints() ([]scene.Endpoint, error) {
	files, err := a.nearby()
	if err != nil {
		return nil, err
	}
	tree := files.Merged()
	set, _, _ := config.Lookup(tree, "providers.llm")
	table, _ := set.(config.Tree)
	known, _, _ := config.Lookup(config.Defaults(), "providers.llm")
	builtIn, _ := known.(config.Tree)
	as, err := config.ParticipantConfig(tree, config.Reserved) // who answers where nobody is named
	if err != nil {
		return nil, err
	}
	ids := slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(table)), slices.Collect(maps.Keys(builtIn))))))
	var out []scene.Endpoint
	for _, id := range ids {
		dialect, ok := chat.DialectOf(id)
		if !ok {
			continue
		}
		p := config.Provider(tree, id)
		if base := a.Getenv(p.BaseURLEnv); p.BaseURLEnv != "" && base != "" {
			p.BaseURL = base
		}
		key := ""
		if p.KeyEnv != "" {
			key = a.Getenv(p.KeyEnv)
		}
		source := scene.SourceEnv
		if table[id] != nil {
			source = scene.SourceConfig
		} else if key == "" {
			continue
		}
		url, err := chat.Config{Provider: id, BaseURL: p.BaseURL, Key: key, KeyEnv: p.KeyEnv, Dialect: dialect}.API()
		if err != nil {
			return nil, err
		}
		e := scene.Endpoint{ID: source + "-" + id, Source: source, URL: url, Key: key, Mode: "chat", Provider: id}
		if as.Model.Provider == id {
			e.WriterConfig = new(e.ID + "/" + as.Model.Name)
			e.AgentConfig = e.WriterConfig
		}
		out = append(out, e)
	}
	return out, nil
}

// nearby reads the configuration around the working directory.
func (a *app) nearby() (*config.Stack, error) {
	ws, err := a.open()
	if err == nil {
		return a.base(ws)
	}
	if fault.CodeOf(err) != fault.NotFound || a.workspace != "" {
		return nil, err
	}
	user := config.Loader{UserDir: a.places().ConfigDir(), Environ: a.Environ, Note: a.note}
	return user.Base()
}

// browse opens a URL in the person's browser and does not wait for it. The
// token stays here.
func (a *app) browse(ctx context.Context, url string) error {
	opener := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if opener == nil {
		opener = []string{"xdg-open"}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), opener[0], append(opener[1:], url)...)
	cmd.Env = slices.DeleteFunc(slices.Clone(a.Environ), func(e string) bool { return strings.HasPrefix(e, tokenVariable+"=") })
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
