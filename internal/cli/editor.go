package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"jp/internal/lib/atomicfile"
	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// cut separates a draft from what is shown below it and never sent.
const cut = "------------------------ >8 ------------------------"

const cutNote = cut + `
Write your request above. This line and all below it are not sent.
@name asks one participant, \@name is text, file:PATH attaches a file.
`

// draft is the file that a request is written in. It outlives a query that
// failed, so that nothing a person typed is lost.
type draft struct {
	app    *app
	path   string
	editor []string
	used   bool
}

func (a *app) draft(ws *workspace.Workspace, tree config.Tree, id conversation.ID) *draft {
	name := "QUERY_MESSAGE.md"
	if id != 0 {
		name = id.String() + "-" + name
	}
	dir := ws.Silo()
	if dir == "" {
		dir = filepath.Join(ws.Root, ".jp")
	}
	return &draft{app: a, path: filepath.Join(dir, name), editor: a.editor(tree)}
}

// editor is the command that opens files, or nil: the configured one, else
// the first of the configured environment variables that names an installed
// program. JP_EDITOR is for us alone; the others need a terminal.
func (a *app) editor(tree config.Tree) []string {
	e := config.Editor(tree)
	if c := e.Cmd; c != nil && c.Shell {
		return []string{"sh", "-c", c.Program + ` "$@"`, "editor"}
	} else if c != nil {
		return append([]string{c.Program}, c.Args...)
	}
	for _, env := range e.Envs {
		v := a.Getenv(env)
		if v == "" || env != "JP_EDITOR" && !a.InTTY {
			continue
		}
		if words := strings.Fields(v); len(words) == 0 {
			continue
		} else if _, err := exec.LookPath(words[0]); err == nil {
			return []string{"sh", "-c", v + ` "$@"`, "editor"}
		}
	}
	return nil
}

// write lets a person write the request, starting from text or from the draft
// of an earlier query that failed.
func (d *draft) write(ctx context.Context, text string) (string, error) {
	if d.editor == nil {
		way := "set EDITOR to an installed program"
		if !d.app.InTTY {
			way = "set JP_EDITOR to an installed program: without a terminal no other is opened"
		}
		return "", fault.New(fault.Usage, "there is nothing to send, and no editor to write it in").
			WithHint("give the text: jp q \"…\", pipe it in, or %s", way)
	}
	if old, err := os.ReadFile(d.path); err == nil {
		text = joinDraft(text, aboveCut(string(old)))
	}
	if d.app.noPersist { // a file that an editor can open, and nobody finds later
		dir, err := os.MkdirTemp("", "jp-draft-")
		if err != nil {
			return "", fault.New(fault.Storage, "cannot make a file to write in: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		d.path = filepath.Join(dir, filepath.Base(d.path))
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return "", fault.New(fault.Storage, "cannot keep the draft: %w", err)
	}
	if err := atomicfile.Write(d.path, 0o600, []byte(text+"\n\n"+cutNote)); err != nil {
		return "", err
	}
	if err := d.app.edit(ctx, d.editor, d.path, "nothing is sent"); err != nil {
		return "", err
	}
	d.used = true
	data, err := os.ReadFile(d.path)
	if err != nil {
		return "", fault.New(fault.Storage, "cannot read the draft: %w", err)
	}
	return aboveCut(string(data)), nil
}

// joinDraft puts a draft that waits behind new words, so that nobody's words
// are written over; a draft of the same words is not put there twice.
func joinDraft(text, old string) string {
	switch {
	case strings.Contains(text, old):
		return text
	case strings.Contains(old, text):
		return old
	}
	return text + "\n\n" + old
}

// done forgets the draft once its request is saved.
func (d *draft) done() {
	if !d.used {
		return
	}
	if err := os.Remove(d.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.app.note("the draft " + d.path + " stays: " + err.Error())
	}
}

func aboveCut(text string) string {
	text, _, _ = strings.Cut(text, cut)
	return strings.Trim(text, "\r\n\t ")
}

// edit opens a file in the editor and waits for it; otherwise says what follows
// when the editor fails.
func (a *app) edit(ctx context.Context, editor []string, path, otherwise string) error {
	cmd := exec.CommandContext(ctx, editor[0], append(editor[1:len(editor):len(editor)], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, a.Stderr, a.Stderr
	cmd.Env, cmd.Dir = a.Environ, a.Dir
	if a.InTTY && a.out().Live {
		cmd.Stdout = a.terminal
	}
	if err := cmd.Run(); err != nil {
		return fault.New(fault.Invalid, "the editor ended with an error, %s: %w", otherwise, err)
	}
	return nil
}
