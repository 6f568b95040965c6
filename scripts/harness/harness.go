// Package harness is a throw-away workspace with three assistants and a model
// server that answers slowly enough to be killed. The scripts beside it use it
// to try what happens to a conversation when processes die or meet, or have it
// run jp serve and ask that.
//
// It knows jp by its command line, its files and its API alone, so it shares no
// code, and no mistake, with what it tests.
package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Assistants are the participants of the workspace, in roster order.
var Assistants = [...]string{"ada", "bob", "cyd"}

// Workspace is a workspace, its user directories and its model server.
type Workspace struct {
	Dir    string // holds everything; Close removes it
	binary string
	server *Server
}

// Open makes a workspace for the jp at binary, whose model waits for pause between
// two pieces of an answer.
func Open(binary string, pause time.Duration) (*Workspace, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("build jp first: %w", err)
	}
	dir, err := os.MkdirTemp("", "jp-workspace-")
	if err != nil {
		return nil, err
	}
	server, err := Serve(pause)
	if err != nil {
		return nil, err
	}
	r := &Workspace{Dir: dir, binary: binary, server: server}
	if err := r.furnish(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close stops the server and removes the workspace.
func (r *Workspace) Close() {
	r.server.Close()
	os.RemoveAll(r.Dir)
}

func (r *Workspace) workspace() string { return filepath.Join(r.Dir, "workspace") }

func (r *Workspace) furnish() error {
	files := map[string]string{
		".jp.toml": fmt.Sprintf("config_load_paths = [\".jp/config/assistants\"]\n\n"+
			"[user]\nname = \"jean\"\n\n[providers.llm.llamacpp]\nbase_url = %q\n", r.server.URL),
	}
	for _, name := range Assistants {
		files[".jp/config/assistants/"+name+".toml"] =
			fmt.Sprintf("[assistant]\nname = %q\nsystem_prompt = \"You are %s.\"\n", strings.ToUpper(name), name)
	}
	for name, text := range files {
		path := filepath.Join(r.workspace(), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err := r.Run("init", "--model", "llamacpp/slow", ".")
	return err
}

// Command is jp with args in the workspace. Nothing of the caller's environment
// reaches it but PATH.
func (r *Workspace) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.binary, args...)
	cmd.Dir = r.workspace()
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + r.Dir,
		"JP_USER_DATA_DIR=" + filepath.Join(r.Dir, "data"),
		"JP_GLOBAL_CONFIG_DIR=" + filepath.Join(r.Dir, "config"),
		"JP_SESSION=workspace",
	}
	return cmd
}

// Run runs jp to its end and returns its standard output. The error holds what
// it wrote to standard error. A minute is for ever.
func (r *Workspace) Run(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := r.Command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("jp %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// Invitations are the flags that bring all assistants into a new conversation.
func Invitations() []string {
	var flags []string
	for _, name := range Assistants {
		flags = append(flags, "--invite", name)
	}
	return flags
}
