// Command outage kills jp serve at random moments while several clients write,
// and looks at what is left: the database must open and be sound, what was
// answered must be there, and no roster may be half of one and half of another.
package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite"

	"jp/scripts/harness"
)

// writers is how many clients write at the same time, each to a group of its
// own and to one that all share.
const writers = 4

func main() {
	kills := flag.Int("n", 200, "how often to kill")
	binary := flag.String("jp", "bin/jp", "the program to kill")
	seed := flag.Uint64("seed", rand.Uint64(), "seed of the moments")
	flag.Parse()
	err := harness.WithFolder("outage", func(dir string) error { return run(*binary, dir, *kills, *seed) })
	if err != nil {
		fmt.Fprintf(os.Stderr, "outage: %v\nseed %d\n", err, *seed)
		os.Exit(1)
	}
}

func run(binary, dir string, kills int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 0))
	clients, err := prepare(binary, dir)
	if err != nil {
		return err
	}
	for i := range kills {
		if err := outage(binary, dir, clients, time.Duration(random.Int64N(int64(120*time.Millisecond)))); err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
	}
	answered := 0
	for _, c := range clients {
		answered += c.answered
	}
	fmt.Printf("%d kills, %d writes were answered, none lost, no half roster, the database is sound\n", kills, answered)
	if answered < kills {
		return errors.New("hardly anything was written between the kills")
	}
	return nil
}

// prepare makes a group for each client.
func prepare(binary, dir string) ([]*client, error) {
	s, err := start(binary, dir)
	if err != nil {
		return nil, err
	}
	defer s.Kill()
	shared, err := newGroup(s, writers)
	if err != nil {
		return nil, err
	}
	clients := make([]*client, writers)
	for i := range clients {
		own, err := newGroup(s, i)
		if err != nil {
			return nil, err
		}
		clients[i] = &client{n: i, own: own, shared: shared}
	}
	return clients, nil
}

// start runs the server, whose clients do not wait for ever.
func start(binary, dir string) (*harness.Web, error) {
	s, err := harness.StartWeb(binary, dir)
	if err == nil {
		s.HTTP.Timeout = 30 * time.Second
	}
	return s, err
}

// outage starts the server, lets the clients write, kills it and looks.
func outage(binary, dir string, clients []*client, after time.Duration) error {
	s, err := start(binary, dir)
	if err != nil {
		return fmt.Errorf("the server does not come up again: %w", err)
	}
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() { c.write(s) })
	}
	time.Sleep(after)
	s.Kill()
	wg.Wait()
	for _, c := range clients {
		if c.wrong != nil {
			return c.wrong
		}
	}
	if err := sound(filepath.Join(dir, "scenes.db")); err != nil {
		return err
	}
	if s, err = start(binary, dir); err != nil {
		return fmt.Errorf("the server does not come up again: %w", err)
	}
	defer s.Kill()
	for _, c := range clients {
		if err := c.check(s); err != nil {
			return err
		}
	}
	return nil
}

// sound asks the database itself.
func sound(path string) error {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath())
	if err != nil {
		return err
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		return fmt.Errorf("the integrity check says %q: %w", verdict, err)
	}
	rows, err := db.Query("PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		return errors.New("a foreign key leads nowhere")
	}
	return rows.Err()
}
