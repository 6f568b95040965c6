package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jp/internal/lib/atomicfile"
)

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := atomicfile.Write(path, 0o600, []byte("one "), nil, []byte("two")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "one two" {
		t.Errorf("content %q", got)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("new file has mode %v, want 0600", info.Mode())
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, 0o600, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("existing file has mode %v, want it kept at 0640", info.Mode())
	}
	if got := names(t, dir); got != "a.json" {
		t.Errorf("directory holds %q", got)
	}
}

func TestWriteReplacesWholeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := atomicfile.Write(path, 0o600, []byte("new content")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.ReadFrom(reader)
	if b.String() != "old" {
		t.Errorf("a reader of the old file sees %q: it was written in place", b.String())
	}
}

func TestWriteErrorLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "inside"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, 0o600, []byte("x")); err == nil {
		t.Fatal("a directory was replaced by a file")
	}
	if got := names(t, dir); got != "taken" {
		t.Errorf("directory holds %q", got)
	}
}

func TestWriteFollowsLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if err := atomicfile.Write(link, 0o600, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(real); string(got) != "new" {
		t.Errorf("file behind the link holds %q", got)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

func TestWriteSkipsTakenTempNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	stale := filepath.Join(dir, fmt.Sprintf(".a.%d-0.jp-tmp", os.Getpid()))
	if err := os.WriteFile(stale, []byte("stale"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, 0o600, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(stale); string(got) != "stale" {
		t.Error("another writer's temporary was touched")
	}
	if target, ok := atomicfile.IsTemp(filepath.Base(stale)); !ok || target != "a" {
		t.Errorf("IsTemp = %q, %v", target, ok)
	}
	if err := atomicfile.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "a" {
		t.Errorf("after Sweep: %q", got)
	}
}

func TestSweepKeepsOtherDotFiles(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{".gitignore", ".jp-tmp", ".a.tmp", "a.1-0.jp-tmp"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, dir)
	if err := atomicfile.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != before {
		t.Errorf("Sweep left %q of %q", got, before)
	}
	if err := atomicfile.Sweep(filepath.Join(dir, "absent")); err != nil {
		t.Error(err)
	}
}

func TestWriteDir(t *testing.T) {
	parent := t.TempDir()
	final := filepath.Join(parent, "c")
	fill := func(dir string) error {
		if !strings.HasPrefix(filepath.Base(dir), ".") || filepath.Dir(dir) != parent {
			t.Errorf("built at %s, want a dot name beside the target", dir)
		}
		if _, err := os.Stat(final); err == nil {
			t.Error("visible before it is complete")
		}
		return os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600)
	}
	if err := atomicfile.WriteDir(final, fill); err != nil {
		t.Fatal(err)
	}
	if got := names(t, parent) + "/" + names(t, final); got != "c/f" {
		t.Errorf("got %s", got)
	}
	err := atomicfile.WriteDir(final, func(string) error { t.Error("filled again"); return nil })
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("second WriteDir: %v, want fs.ErrExist", err)
	}
}

func TestWriteDirErrorLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	boom := errors.New("boom")
	err := atomicfile.WriteDir(filepath.Join(parent, "c"), func(dir string) error {
		os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)
		return boom
	})
	if err != boom {
		t.Errorf("error %v, want fill's own", err)
	}
	if got := names(t, parent); got != "" {
		t.Errorf("left %q", got)
	}
}

// A child rewrites one file over and over and is killed in the middle of it.
func TestKilledWriterLeavesOldOrNew(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_CHILD"); path != "" {
		for n := 0; ; n++ {
			line := bytes.Repeat([]byte{byte('a' + n%26)}, 64<<10)
			if err := atomicfile.Write(path, 0o600, line, line); err != nil {
				os.Exit(3)
			}
			if n == 0 {
				fmt.Println("ready")
			}
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	for round := range 8 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriterLeavesOldOrNew$")
		cmd.Env = append(os.Environ(), "ATOMICFILE_CHILD="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.Read(make([]byte, 6))
		for range round * 3 { // some work, so that the kill falls elsewhere each round
			if got, err := os.ReadFile(path); err != nil || len(got) != 128<<10 || bytes.Count(got, got[:1]) != len(got) {
				t.Errorf("while written: %d bytes, %v", len(got), err)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		got, err := os.ReadFile(path)
		if err != nil || len(got) != 128<<10 || bytes.Count(got, got[:1]) != len(got) {
			t.Fatalf("round %d: %d bytes, %v", round, len(got), err)
		}
	}
}
