package lock_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/lib/lock"
)

// TestMain lets the test binary play the other process.
func TestMain(m *testing.M) {
	switch path := os.Getenv("LOCK_PATH"); os.Getenv("LOCK_CHILD") {
	case "hold": // until standard input ends
		l, err := lock.Acquire(context.Background(), path, lock.Options{Pid: os.Getpid(), Note: "jp query"})
		if err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		fmt.Println("held")
		bufio.NewReader(os.Stdin).ReadString('\n')
		l.Release()
		os.Exit(0)
	case "count": // read, add one, write, many times
		for range 50 {
			l, err := lock.Acquire(context.Background(), path+".lock", lock.Options{Wait: -1, Pid: os.Getpid()})
			if err != nil {
				os.Exit(3)
			}
			b, _ := os.ReadFile(path)
			n, _ := strconv.Atoi(string(b))
			os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
			l.Release()
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func hold(t *testing.T, path string) (release func(), pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCK_CHILD=hold", "LOCK_PATH="+path)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("child said %q", line)
	}
	release = func() { in.Close(); cmd.Wait() }
	t.Cleanup(release)
	return release, cmd.Process.Pid
}

func TestExcludesOtherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks", "x.lock")
	release, pid := hold(t, path)
	want := fmt.Sprintf("%d (jp query)", pid)

	_, err := lock.Acquire(t.Context(), path, lock.Options{Note: "me"})
	var held *lock.Held
	if !errors.As(err, &held) || held.Holder != want || fault.CodeOf(err) != fault.Busy {
		t.Fatalf("got %v, want Held by %s", err, want)
	}
	if lock.Free(path) {
		t.Error("Free while held")
	}
	_, err = lock.Acquire(t.Context(), path, lock.Options{Wait: time.Millisecond})
	if !errors.As(err, &held) || held.Waited != time.Millisecond {
		t.Errorf("after waiting: %v", err)
	}
	if got := lock.Holder(path); got != want {
		t.Errorf("the losers changed the holder's line to %q", got)
	}

	var told []string
	l, err := lock.Acquire(t.Context(), path, lock.Options{Wait: -1, Pid: 7, Note: "jp ls", OnWait: func(h string) {
		told = append(told, h)
		release()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || told[0] != want {
		t.Errorf("told %q, want once %q", told, want)
	}
	if got := lock.Holder(path); got != "7 (jp ls)" {
		t.Errorf("holder %q", got)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
	if !lock.Free(path) {
		t.Error("not free after Release")
	}
}

func TestExcludesWithinProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	l, err := lock.Acquire(t.Context(), path, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if _, err := lock.Acquire(t.Context(), path, lock.Options{}); fault.CodeOf(err) != fault.Busy {
		t.Fatalf("second handle: %v", err)
	}
}

func TestCancel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	hold(t, path)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	_, err := lock.Acquire(ctx, path, lock.Options{Wait: -1, OnWait: func(string) { cancel(stop) }})
	if err != stop {
		t.Fatalf("got %v, want the cause", err)
	}
	if l, err := lock.Acquire(ctx, path+"2", lock.Options{}); err != stop {
		t.Fatalf("cancelled before: %v, %v", l, err)
	}
}

func TestHolderLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte(strings.Repeat("older and longer\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := lock.Holder(path); got != "" {
		t.Errorf("holder of a foreign file %q", got)
	}
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	l, err := lock.Acquire(t.Context(), path, lock.Options{Pid: 12, Note: "jp q \"x\"", Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	data, _ := os.ReadFile(path)
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
	if got["pid"] != 12.0 || got["command"] != `jp q "x"` || got["acquired_at"] != "2026-05-01T12:00:00Z" {
		t.Errorf("line %v", got)
	}
}

// The other tool at this path removes its lock file on release: a waiter must
// not take an orphaned file for the lock.
func TestRemovedFileIsNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	release, _ := hold(t, path)
	l, err := lock.Acquire(t.Context(), path, lock.Options{Wait: -1, OnWait: func(string) {
		os.Remove(path)
		release()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if lock.Free(path) {
		t.Fatal("a third process gets in: the lock is held on a removed file")
	}
}

func TestSerialises(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	var procs []*exec.Cmd
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LOCK_CHILD=count", "LOCK_PATH="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		procs = append(procs, cmd)
	}
	for _, p := range procs {
		if err := p.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "150" {
		t.Errorf("counted to %s, want 150", got)
	}
}
