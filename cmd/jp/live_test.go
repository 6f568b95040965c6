package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"jp/internal/kernel/llm/llmtest"
)

// exits is a program for scripts: it runs another, passes its output through,
// and fails unless that one ends with the exit code CODE. As soon as TEXT has
// appeared in its output, -int TEXT interrupts the other, -hup TEXT hangs up
// its terminal, and -close TEXT closes the pipe that it writes its answer to.
//
//	exec exits [-int|-hup|-close TEXT] CODE COMMAND [ARG…]
func exits() {
	args := os.Args[1:]
	act, text := "", ""
	if len(args) > 1 && strings.HasPrefix(args[0], "-") {
		act, text, args = args[0], args[1], args[2:]
	}
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: exits [-int|-hup|-close TEXT] CODE COMMAND [ARG…]")
		os.Exit(1)
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin = os.Stdin
	var answer *os.File // the reading end, when we are to close it
	var once sync.Once
	found := func() {
		once.Do(func() {
			switch act { // the other may have ended, which its code shows
			case "-int":
				_ = cmd.Process.Signal(os.Interrupt)
			case "-hup":
				_ = cmd.Process.Signal(syscall.SIGHUP)
			case "-close":
				_ = answer.Close()
			}
		})
	}
	out := &watch{to: os.Stdout, text: text, found: found}
	cmd.Stdout, cmd.Stderr = out, &watch{to: os.Stderr, text: text, found: found}
	if act == "-close" {
		r, w, err := os.Pipe()
		if err != nil {
			fmt.Fprintln(os.Stderr, "exits:", err)
			os.Exit(1)
		}
		answer, cmd.Stdout = r, w
		go func() { _, _ = io.Copy(out, r) }() // ends when we close it
	}
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "exits:", err)
		os.Exit(1)
	}
	if got := cmd.ProcessState.ExitCode(); strconv.Itoa(got) != args[0] {
		fmt.Fprintf(os.Stderr, "exits: the exit code is %d, not %s\n", got, args[0])
		os.Exit(1)
	}
}

// watch passes output on and calls found once text was in it.
type watch struct {
	to    io.Writer
	text  string
	found func()
	seen  bytes.Buffer
}

func (w *watch) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if w.text != "" {
		w.seen.Write(p)
		if strings.Contains(w.seen.String(), w.text) {
			w.found()
		}
	}
	return n, err
}

func server(ts *testscript.TestScript) *llmtest.Server {
	return ts.Value(serverKey{}).(*llmtest.Server)
}

func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: says MODEL TEXT")
	}
	server(ts).Script(args[0], llmtest.Reply(args[1]))
}

func thinks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: thinks MODEL TEXT")
	}
	whole := llmtest.ThinkingReply(args[1], "the answer")
	said := 1 + len(strings.SplitAfter(args[1], " "))
	frames := append([]llmtest.Frame(nil), whole.Frames[:said]...)
	whole.Frames = append(append(frames, llmtest.Frame{Hold: true}), whole.Frames[said:]...)
	server(ts).Script(args[0], whole)
}

func calls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: calls MODEL ID TOOL")
	}
	server(ts).Script(args[0], llmtest.ToolReply(args[1], args[2], `{"path":"README.md"}`))
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(strings.Join(args, ""))
	if neg || err != nil {
		ts.Fatalf("usage: await N")
	}
	server(ts).Await(n)
}

func release(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: release")
	}
	server(ts).Release()
}
