package cli_test

import (
	"bytes"
	"io"
	"os"
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
