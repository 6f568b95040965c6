// Command race lets two processes query one conversation at the same time and
// checks that every request is stored once, in an order that fits both.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"jp/scripts/harness"
)

func main() {
	rounds := flag.Int("n", 100, "queries of each process")
	binary := flag.String("jp", "bin/jp", "the program to run")
	flag.Parse()
	if err := run(*binary, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "race:", err)
		os.Exit(1)
	}
}

func run(binary string, rounds int) (err error) {
	r, err := harness.Open(binary, 0)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nthe workspace is left in %s", err, r.Dir)
			return
		}
		r.Close()
	}()
	if _, err := r.Run("q", "--new", "--invite", harness.Assistants[0], "hello"); err != nil {
		return err
	}
	ids, err := r.Conversations()
	if err != nil {
		return err
	}
	if len(ids) != 1 {
		return fmt.Errorf("%d conversations after the first query, want one", len(ids))
	}
	writers := []string{"left", "right"}
	done := make(chan error)
	for _, name := range writers {
		go func() { done <- write(r, ids[0], name, rounds) }()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		return err
	}
	stored, err := r.Events(ids[0])
	if err != nil {
		return err
	}
	return judge(stored, writers, rounds)
}

func write(r *harness.Workspace, id, name string, rounds int) error {
	for i := range rounds {
		if _, err := r.Run("q", "--id", id, fmt.Sprintf("%s %d", name, i)); err != nil {
			return err
		}
	}
	return nil
}

// judge checks that each writer's requests are all there, once, in its order,
// and that every request has its one reply.
func judge(stored []harness.Event, writers []string, rounds int) error {
	next := map[string]int{}
	replies := 0
	for _, e := range stored {
		if e.IsReply() {
			replies++
		}
		name, number, ok := strings.Cut(e.Content, " ")
		if !e.IsRequest() || !ok {
			continue
		}
		if want := fmt.Sprint(next[name]); number != want {
			return fmt.Errorf("request %q where %s %s belongs", e.Content, name, want)
		}
		next[name]++
	}
	for _, name := range writers {
		if next[name] != rounds {
			return fmt.Errorf("%d requests of %s are stored, want %d", next[name], name, rounds)
		}
	}
	if want := len(writers)*rounds + 1; replies != want {
		return fmt.Errorf("%d replies are stored, want %d", replies, want)
	}
	if _, doubled := harness.Compare(nil, stored); doubled > 0 {
		return fmt.Errorf("%d doubled", doubled)
	}
	fmt.Printf("%d processes, %d queries each: all %d requests stored once, in order\n", len(writers), rounds, len(writers)*rounds)
	return nil
}
