// Package cli is the command tree of jp: one file per command, flags and exit
// codes, and the only place that wires packages together.
//
// A command reads everything it needs from a Process and from flags; it never
// touches the process's own streams, environment or clock. What a command
// answers goes to stdout, everything else to stderr.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"jp/internal/kernel/exchange"
	"jp/internal/lib/fault"
	"jp/internal/term"
)

// Process is what the operating system gives a run.
type Process struct {
	Args           []string // without the program's name
	Dir            string   // working directory, absolute
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	InTTY          bool // standard input is a terminal
	Pid            int
	SID            int // id of the process session; 0 is none
	Now            func() time.Time
	Rand           io.Reader
	HTTP           http.RoundTripper
	Signals        <-chan os.Signal // the first stops, the second ends the run
}

// Getenv returns the last value of an environment variable, or "".
func (p Process) Getenv(key string) string {
	for i := len(p.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(p.Environ[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// closedPipe is the exit code of a program whose reader went away.
const closedPipe = 141

// exitCodes maps fault codes to exit codes; what is not listed is 1.
var exitCodes = map[fault.Code]int{
	fault.Usage:       2,
	fault.Interrupted: 130,
}

// Main runs one command and returns the exit code. A second signal ends it at
// once, whatever the command is doing.
func Main(p Process) int {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	done := make(chan int, 1)
	out := &outlet{w: p.Stdout, lost: stop}
	p.Stdout = out
	go func() { done <- run(ctx, p, out) }()
	for stopped := false; ; {
		select {
		case code := <-done:
			return code
		case <-p.Signals:
			if stopped {
				return hurry(done)
			}
			stopped = true
			stop(fault.New(fault.Interrupted, "interrupted"))
		}
	}
}

// lastSave is how long a second interrupt lets a save that runs come to its
// end; nobody notices, and what was shown is kept.
const lastSave = 300 * time.Millisecond

func hurry(done <-chan int) int {
	select {
	case code := <-done:
		return code
	case <-time.After(lastSave):
		return exitCodes[fault.Interrupted]
	}
}

func run(ctx context.Context, p Process, out *outlet) int {
	a := &app{Process: p, terminal: out.w}
	root := a.root()
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	if lost := out.failure(); lost != nil {
		if _, stopped := errors.AsType[*exchange.Stopped](err); stopped {
			lost = err // it says who is still to answer
		} else if out.closed() {
			return closedPipe // as other programs end then: without a word
		}
		term.Fault(a.stream(p.Stderr), a.advised(lost), a.json())
		if out.closed() {
			return closedPipe
		}
		return 1
	}
	if err == nil {
		return 0
	}
	term.Fault(a.stream(p.Stderr), a.advised(err), a.json())
	code, ok := exitCodes[fault.CodeOf(err)]
	if !ok {
		code = 1
	}
	return code
}

// advice is the hint of an error that brings none of its own.
var advice = map[fault.Code]string{
	fault.Usage:    "see `jp --help`",
	fault.Config:   "mend it there; nothing was saved",
	fault.Damaged:  "nothing was changed; restore the file, for example from Git",
	fault.Storage:  "look at the permissions, and whether there is space left",
	fault.Provider: "try again, or go on with another model: jp q -m PROVIDER/NAME",
	fault.Internal: "this is a fault of jp; what was saved before it is kept",
}

func (a *app) advised(err error) error {
	hint, ok := advice[fault.CodeOf(err)]
	if fault.CodeOf(err) == fault.Usage && a.command != "" {
		hint = "see `" + a.command + " --help`"
	}
	if !ok || fault.HintOf(err) != "" {
		return err
	}
	return fault.New(fault.CodeOf(err), "%w", err).WithHint("%s", hint)
}

// usage marks cobra's own complaints about a call.
func usage(cmd *cobra.Command, err error) error {
	if _, ok := errors.AsType[fault.Coded](err); ok {
		return err
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if _, parse := errors.AsType[*strconv.NumError](err); parse {
			err = fmt.Errorf("--%s wants a number, not %q", bad.GetFlag().Name, bad.GetValue())
		}
	} else if strings.HasPrefix(cmd.Use, "query") {
		hint += "; words that begin with a dash stand behind --"
	}
	return fault.New(fault.Usage, "%w", err).WithHint("%s", hint)
}
