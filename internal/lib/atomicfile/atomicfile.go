// Package atomicfile replaces whole files and creates whole directories so
// that a reader, and a machine that comes up again after a crash, finds the
// previous state or the next one and never a mix.
//
// Everything is written under a dot name beside the target, synced, renamed,
// and the directory is synced. It does not serialise writers: two that write
// the same path at once both succeed and the later rename stays. What must not
// be lost needs a lock around read, change and write.
//
// A process that is killed may leave its temporary behind. Sweep removes such
// leftovers and may only be called by whoever keeps other writers out.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const suffix = ".jp-tmp"

// Write makes path hold data, the slices one after another. An existing file
// keeps its permission bits, a new one gets perm less the umask. A symbolic
// link is followed, so that the file it leads to is replaced and not the link.
// On error the old file is untouched and no temporary is left.
func Write(path string, perm fs.FileMode, data ...[]byte) (err error) {
	path = target(path)
	f, err := createTemp(path, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if old, statErr := os.Stat(path); statErr == nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	for _, d := range data {
		if _, err := f.Write(d); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteDir creates the directory final with what fill puts into the directory
// it is given. The directory appears complete or not at all. The error wraps
// fs.ErrExist when final is there already; fill's errors come back as they are.
func WriteDir(final string, fill func(dir string) error) (err error) {
	if _, err := os.Lstat(final); err == nil {
		return &fs.PathError{Op: "create", Path: final, Err: fs.ErrExist}
	}
	tmp, err := mkdirTemp(final)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(tmp)
		}
	}()
	if err := fill(tmp); err != nil {
		return err
	}
	if err := syncTree(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, final); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(final))
}

// RemoveDir removes a directory with all that is in it. It disappears whole
// before it is taken apart.
func RemoveDir(dir string) error {
	tmp, err := mkdirTemp(dir)
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(tmp, filepath.Base(dir))); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := SyncDir(filepath.Dir(dir)); err != nil {
		return err
	}
	return os.RemoveAll(tmp)
}

// SyncDir makes renames and removals in dir durable.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // has no such call and journals renames itself
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

// IsTemp reports whether name is one that Write or WriteDir uses until it is
// done, and for which target.
func IsTemp(name string) (target string, ok bool) {
	if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, suffix) {
		return "", false
	}
	name = strings.TrimSuffix(name[1:], suffix)
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i], true
	}
	return "", false
}

// Sweep removes the temporaries that killed writers left in dir. A dir that
// does not exist holds none.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		if _, ok := IsTemp(e.Name()); ok {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

func target(path string) string {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// tempName counts instead of drawing random names: O_EXCL and Mkdir refuse a
// name that is taken, so the next number is tried.
func tempName(path string, n int) string {
	dir, base := filepath.Split(path)
	return filepath.Join(dir, fmt.Sprintf(".%s.%d-%d%s", base, os.Getpid(), n, suffix))
}

func createTemp(path string, perm fs.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		f, err := os.OpenFile(tempName(path, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

func mkdirTemp(final string) (string, error) {
	for n := 0; ; n++ {
		name := tempName(final, n)
		err := os.Mkdir(name, 0o777)
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return SyncDir(path)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		err = f.Sync()
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		return err
	})
}
