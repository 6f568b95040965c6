package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"jp/internal/lib/fault"
)

// The silo is the user's own directory for one workspace: locks, sessions,
// local conversations, settings that are not shared. It is found by the
// workspace's id, so that it outlives a renamed checkout.

// Silo returns the silo's path, whether it exists or not; empty when the user
// has no data directory.
func (w *Workspace) Silo() string { return w.silo }

// Env returns what the workspace was opened with.
func (w *Workspace) Env() Env { return w.env }

// findSilo returns the directory that ends in -id, or is called id. Of several
// the one named after the workspace is taken, else the one changed last.
func findSilo(data, name, id string) string {
	if data == "" {
		return ""
	}
	parent := filepath.Join(data, "workspace")
	best := filepath.Join(parent, name+"-"+id)
	if isDir(best) {
		return best
	}
	entries, _ := os.ReadDir(parent)
	var latest time.Time
	for _, e := range entries {
		if e.Name() != id && !strings.HasSuffix(e.Name(), "-"+id) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		info, err := os.Stat(path)
		if err == nil && info.IsDir() && (latest.IsZero() || info.ModTime().After(latest)) {
			best, latest = path, info.ModTime()
		}
	}
	return best
}

// makeSilo creates the silo and a directory in it. Errors: fault.Storage.
func (w *Workspace) makeSilo(sub string) error {
	if w.silo == "" {
		return fault.New(fault.Storage, "there is no user data directory").WithHint("set HOME or JP_USER_DATA_DIR")
	}
	if err := os.MkdirAll(filepath.Join(w.silo, sub), 0o700); err != nil {
		return fault.New(fault.Storage, "cannot use the user data directory: %w", err)
	}
	// The link leads from the silo back to the workspace. Another checkout of
	// the same workspace may have made it; one that leads nowhere is replaced.
	link := filepath.Join(w.silo, "storage")
	if _, err := os.Stat(link); err != nil {
		if info, err := os.Lstat(link); err == nil && info.Mode()&os.ModeSymlink != 0 {
			_ = os.Remove(link)
		}
		_ = os.Symlink(filepath.Join(w.Root, Marker), link)
	}
	return nil
}

// scratch returns a directory for files that belong to no conversation: in the
// silo, or in the workspace when there is no silo.
func (w *Workspace) scratch(sub string) string {
	if w.makeSilo(sub) == nil {
		return filepath.Join(w.silo, sub)
	}
	return filepath.Join(w.Root, Marker, sub)
}
