package workspace

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"jp/internal/lib/atomicfile"
	"jp/internal/lib/fault"
	"jp/internal/workspace/conversation"
)

// A session is one terminal, as far as it can be told apart. Its file
// remembers the conversations that were active in it, the newest first.

type session struct {
	History []visit       `json:"history"`
	ID      string        `json:"id"`
	Source  sessionSource `json:"source"`
}

type visit struct {
	ID          conversation.ID `json:"id"`
	ActivatedAt time.Time       `json:"activated_at"`
}

type sessionSource struct {
	Type string `json:"type"` // getsid | env
	Key  string `json:"key,omitempty"`
}

// sessionDepth bounds the history; only its first entries are ever wanted.
const sessionDepth = 100

// terminalKeys are the variables by which terminals name their panes.
var terminalKeys = []string{"TMUX_PANE", "WEZTERM_PANE", "TERM_SESSION_ID", "ITERM_SESSION_ID"}

// who returns the session's name and source; ok is false when there is none.
func (e Env) who() (id string, source sessionSource, ok bool) {
	if v := e.Getenv("JP_SESSION"); v != "" {
		return v, sessionSource{"env", "JP_SESSION"}, true
	}
	if e.SID > 0 {
		return strconv.Itoa(e.SID), sessionSource{Type: "getsid"}, true
	}
	for _, key := range terminalKeys {
		if v := e.Getenv(key); v != "" {
			return v, sessionSource{"env", key}, true
		}
	}
	return "", sessionSource{}, false
}

// fileName keeps what others chose out of the path.
func (s sessionSource) fileName(id string) string {
	if s.Type == "getsid" {
		return "getsid-" + id + ".json"
	}
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("env-%s-%x.json", s.Key, sum[:8])
}

const sessionsDir = "sessions"

func (w *Workspace) session() session {
	id, source, ok := w.env.who()
	s := session{ID: id, Source: source}
	if !ok || w.silo == "" {
		return s
	}
	data, err := os.ReadFile(filepath.Join(w.silo, sessionsDir, source.fileName(id)))
	var there session
	if err == nil && json.Unmarshal(data, &there) == nil {
		s.History = there.History
	}
	return s
}

// Active returns the conversation that this session works on: the one it
// activated last that still exists. One that was archived ends the search.
func (w *Workspace) Active() (conversation.ID, bool) { return w.visited(0) }

// Previous returns the conversation that was active in this session before.
func (w *Workspace) Previous() (conversation.ID, bool) { return w.visited(1) }

func (w *Workspace) visited(skip int) (conversation.ID, bool) {
	for _, v := range w.session().History {
		at, err := w.locate(v.ID)
		if err != nil {
			continue
		}
		if at.archived {
			return 0, false
		}
		if skip == 0 {
			return v.ID, true
		}
		skip--
	}
	return 0, false
}

// InSession reports whether there is a session that can be told from others.
func (w *Workspace) InSession() bool {
	_, _, ok := w.env.who()
	return ok
}

// SetActive makes a conversation the one this session works on. Without a
// session, or with NoPersist, nothing happens. Errors: fault.Storage, also
// when there is no user data directory to remember it in.
func (w *Workspace) SetActive(id conversation.ID) error {
	s := w.session()
	if s.ID == "" || w.env.NoPersist {
		return nil
	}
	if err := w.makeSilo(sessionsDir); err != nil {
		return forgotten(err)
	}
	if len(s.History) > 0 && s.History[0].ID == id {
		return nil // it is already, and each request would write the file again
	}
	history := []visit{{id, w.env.Now().UTC()}}
	for _, v := range s.History {
		if v.ID != id && len(history) < sessionDepth {
			history = append(history, v)
		}
	}
	s.History = history
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	dir := filepath.Join(w.silo, sessionsDir)
	w.forgetDead(dir)
	if err := atomicfile.Write(filepath.Join(dir, s.Source.fileName(s.ID)), 0o600, append(data, '\n')); err != nil {
		return forgotten(err)
	}
	return nil
}

func forgotten(err error) error {
	return fault.New(fault.Storage, "cannot remember the active conversation: %w", err).WithHint("%s", fault.HintOf(err))
}

// forgetDead removes the sessions of processes that ended: their numbers are
// given to other terminals, which would find a stranger's conversation active.
func (w *Workspace) forgetDead(dir string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		text, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".json"), "getsid-")
		pid, err := strconv.Atoi(text)
		if ok && err == nil && pid > 0 && pid != w.env.SID && dead(pid) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func dead(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
