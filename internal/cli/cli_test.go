package cli_test

import (
	"bytes"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"jp/internal/cli"
)

// A command that cannot end, because nobody reads what it writes, ends all
// the same at the second signal. The channel has no room, so that each signal
// has been taken when it was sent.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	unread, stdout := io.Pipe()
	defer unread.Close()
	signals := make(chan os.Signal)
	code := make(chan int)
	go func() {
		code <- cli.Main(cli.Process{
			Args: []string{"--help"}, Dir: t.TempDir(), Stdin: new(bytes.Buffer), Stdout: stdout,
			Stderr: io.Discard, Now: time.Now, Signals: signals,
		})
	}()
	signals <- os.Interrupt
	select {
	case got := <-code:
		t.Fatalf("it ended at the first signal, with %d", got)
	case signals <- os.Interrupt:
	}
	if got := <-code; got != 130 {
		t.Errorf("the exit code is %d, want 130", got)
	}
}

// Waiting for standard input ends at the first.
func TestSignalWhileReadingStdin(t *testing.T) {
	stdin, _ := io.Pipe()
	defer stdin.Close()
	dir := t.TempDir()
	if err := os.MkdirAll(dir+"/.jp", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/.jp/.id", []byte("abcde\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal)
	code := make(chan int)
	var stderr bytes.Buffer
	go func() {
		code <- cli.Main(cli.Process{
			Args: []string{"q", "--new", "hello"}, Dir: dir, Environ: []string{"HOME=" + dir},
			Stdin: stdin, Stdout: io.Discard, Stderr: &stderr, Now: time.Now, Signals: signals,
		})
	}()
	signals <- os.Interrupt
	if got := <-code; got != 130 {
		t.Errorf("the exit code is %d, want 130: %s", got, stderr.String())
	}
}

// shut fails every write, as a closed pipe or a full disk does.
type shut struct{ err error }

func (s shut) Write([]byte) (int, error) { return 0, s.err }

// What cannot be written is no success; a reader that went away ends a run
// without a word, as it ends other programs.
func TestUnwritableOutput(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{syscall.EPIPE, 141, ""},
		{syscall.ENOSPC, 1, "error: cannot write the output: no space left on device\nhint: look at the permissions, and whether there is space left\n"},
	} {
		var stderr bytes.Buffer
		code := cli.Main(cli.Process{
			Args: []string{"--version"}, Dir: t.TempDir(), Stdin: new(bytes.Buffer), Stdout: shut{c.err},
			Stderr: &stderr, Now: time.Now,
		})
		if code != c.code || stderr.String() != c.stderr {
			t.Errorf("%v: code %d, stderr %q", c.err, code, stderr.String())
		}
	}
}
