// Command jp holds conversations in which several language models and people
// take part. All of it is in internal/cli; this file hands it the process.
package main

import (
	"crypto/rand"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"jp/internal/cli"
)

func main() {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A closed pipe is an error of the write then, and no sudden end: what was
	// shown is saved first. Unlike ignoring it, this does not reach children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(cli.Main(cli.Process{
		Args:    os.Args[1:],
		Dir:     dir,
		Environ: os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		InTTY:   term.IsTerminal(int(os.Stdin.Fd())),
		Pid:     os.Getpid(),
		SID:     sessionID(),
		Now:     time.Now,
		Rand:    rand.Reader,
		HTTP:    http.DefaultTransport.(*http.Transport).Clone(),
		Signals: signals,
	}))
}
