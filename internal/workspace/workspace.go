// Package workspace finds the workspace around a directory and keeps its
// conversations: it creates, finds, lists, opens and removes them, and
// remembers which one a terminal session works on.
//
// A conversation has one home: `.jp/conversations` or, when it is local, the
// user's data directory. It is written by whoever holds its lock, a state at a
// time; readers take no lock and see a whole state. Nothing is scanned but what
// a call needs: opening one conversation reads the names of its directory's
// siblings, not their files. Damaged conversations are listed with the reason
// and can be read in part; nothing here repairs, moves or deletes one unasked.
//
// A Workspace may be used from several goroutines at once, a Conversation from
// one.
package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"jp/internal/lib/atomicfile"
	"jp/internal/lib/fault"
	"jp/internal/workspace/conversation"
)

// Marker is the directory that makes its parent a workspace.
const Marker = ".jp"

// Env is what a workspace needs of the world.
type Env struct {
	Getenv  func(string) string
	Home    string // the user's home directory, may be empty
	Now     func() time.Time
	Rand    io.Reader
	Pid     int
	Command string // for those who wait for a lock, e.g. "jp query"
	// SID is the id of the process session (getsid), which tells terminals
	// apart; 0 when there is none.
	SID int
	// NoPersist makes everything read only: nothing is written or locked, and
	// saving changes nothing.
	NoPersist bool
}

// Writable refuses a change of files with NoPersist. Errors: fault.Invalid.
func (e Env) Writable() error {
	if e.NoPersist {
		return fault.New(fault.Invalid, "`--no-persist` keeps everything as it is")
	}
	return nil
}

// DataDir returns the user's data directory, empty when there is none.
func (e Env) DataDir() string {
	if d := e.Getenv("JP_USER_DATA_DIR"); d != "" {
		return d
	}
	return e.xdg("XDG_DATA_HOME", ".local/share")
}

// ConfigDir returns the user's configuration directory, empty when there is
// none.
func (e Env) ConfigDir() string {
	if d := e.Getenv("JP_GLOBAL_CONFIG_DIR"); d != "" {
		return d
	}
	return e.xdg("XDG_CONFIG_HOME", ".config")
}

func (e Env) xdg(key, below string) string {
	if d := e.Getenv(key); filepath.IsAbs(d) {
		return filepath.Join(d, "jp")
	}
	if e.Home == "" {
		return ""
	}
	return filepath.Join(e.Home, filepath.FromSlash(below), "jp")
}

// Workspace is a directory with conversations.
type Workspace struct {
	Root string // the directory that holds .jp
	ID   string
	env  Env
	silo string // the user's directory for this workspace; empty without a data directory
}

// Find returns the workspace that cwd is in: its nearest ancestor, itself
// included, that holds .jp. Errors: fault.NotFound, and fault.Damaged for an
// id that is none.
func Find(cwd string, env Env) (*Workspace, error) {
	for dir := cwd; ; {
		if isDir(filepath.Join(dir, Marker)) {
			return open(dir, env)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, fault.New(fault.NotFound, "%s is in no workspace", cwd).
				WithHint("create one with `jp init`")
		}
		dir = parent
	}
}

func open(root string, env Env) (*Workspace, error) {
	id, err := readID(filepath.Join(root, Marker, idFile))
	if err != nil {
		return nil, err
	}
	w := &Workspace{Root: root, ID: id, env: env}
	w.silo = findSilo(env.DataDir(), filepath.Base(root), id)
	return w, nil
}

const idFile = ".id"

var idForm = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

// readID takes the last line. Anything else than an id, such as what a merge
// left, must not pass for the id of a new workspace.
func readID(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(fault.NotFound, "%s is missing", path).
			WithHint("restore it from Git, or run `jp init` to give the workspace a new id")
	}
	if err != nil {
		return "", fault.New(fault.Storage, "cannot read the workspace's id: %w", err)
	}
	text := strings.TrimRight(string(data), "\r\n")
	line := 1 + strings.Count(text, "\n")
	id := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if d := conversation.Conflict(path, data); d != nil {
		return "", fault.New(fault.Damaged, "%w", d).
			WithHint("keep one of the ids, remove the marker lines, then `git add` the file")
	}
	if !idForm.MatchString(id) {
		return "", fault.New(fault.Damaged, "%s:%d: %q is no workspace id", path, line, id).
			WithHint("the last line must be an id of lower-case letters and digits; restore the file from Git")
	}
	return id, nil
}

const idNotice = "This file holds the id of this workspace. Do not edit or remove it.\n"

// Init makes dir a workspace, and returns it. A workspace that is one already
// is opened; created says whether it is new. Errors: those of Find,
// fault.Storage, and fault.Invalid with NoPersist when it is none yet.
func Init(dir string, env Env) (w *Workspace, created bool, err error) {
	path := filepath.Join(dir, Marker, idFile)
	if _, err := os.Lstat(path); err == nil {
		w, err := open(dir, env)
		return w, false, err
	}
	if err := env.Writable(); err != nil {
		return nil, false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, false, fault.New(fault.Storage, "cannot create the workspace: %w", err)
	}
	id := strconv.FormatInt(env.Now().UnixMilli(), 36)
	id = id[max(0, len(id)-5):]
	if err := atomicfile.Write(path, 0o644, []byte(idNotice+id+"\n")); err != nil {
		return nil, false, fault.New(fault.Storage, "cannot create the workspace: %w", err)
	}
	w, err = open(dir, env)
	return w, true, err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
