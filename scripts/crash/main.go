// Command crash kills jp at random moments of a broadcast and looks at what is
// left: every conversation must open, hold each announced event once, and be
// finished by jp q --resume.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"jp/scripts/harness"
)

func main() {
	kills := flag.Int("n", 200, "how often to kill")
	binary := flag.String("jp", "bin/jp", "the program to kill")
	seed := flag.Uint64("seed", rand.Uint64(), "seed of the moments")
	flag.Parse()
	if err := run(*binary, *kills, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

// trial is one run of the script.
type trial struct {
	workspace *harness.Workspace
	random    *rand.Rand
	full      time.Duration              // the shortest time an undisturbed broadcast took
	announced map[string][]harness.Event // by conversation
	asked     int

	kills, late, lost, doubled, resumed int
}

func run(binary string, kills int, seed uint64) (err error) {
	r, err := harness.Open(binary, 2*time.Millisecond)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nseed %d; the workspace is left in %s", err, seed, r.Dir)
			return
		}
		r.Close()
	}()
	t := &trial{workspace: r, random: rand.New(rand.NewPCG(seed, 0)), announced: map[string][]harness.Event{}}
	t.full = time.Minute
	if err := t.ask(true, t.full); err != nil {
		return err
	}
	for t.late = 0; t.kills < kills && t.late < 10*kills; {
		// Mostly the newest conversation goes on; now and then one is killed
		// while it is being made.
		delay := time.Duration(t.random.Int64N(int64(t.full)))
		if err := t.ask(t.kills%5 == 4, delay); err != nil {
			return fmt.Errorf("kill %d after %v: %w", t.kills, delay, err)
		}
	}
	fmt.Printf("%d kills (%d more came too late), %d lost, %d doubled, %d resumed\n", t.kills, t.late, t.lost, t.doubled, t.resumed)
	if t.kills < kills {
		return errors.New("jp was too fast to be killed")
	}
	if t.lost+t.doubled > 0 {
		return errors.New("the conversations do not hold what was announced")
	}
	return nil
}

// ask sends one request to everybody, kills jp after delay, checks all that
// may have changed, and resumes.
func (t *trial) ask(fresh bool, delay time.Duration) error {
	before, err := t.workspace.Conversations()
	if err != nil {
		return err
	}
	t.asked++
	args := []string{"q", "-F", "json"}
	target := ""
	if fresh {
		args = append(append(args, "--new"), harness.Invitations()...)
	} else {
		target = before[len(before)-1]
		args = append(args, "--id", target)
	}
	out, err := t.kill(append(args, fmt.Sprintf("request %d", t.asked)), delay)
	if err != nil {
		return err
	}
	lines, err := harness.Lines(out)
	if err != nil {
		return err
	}
	after, err := t.workspace.Conversations()
	if err != nil {
		return err
	}
	created := slices.DeleteFunc(after, func(id string) bool { return slices.Contains(before, id) })
	switch {
	case fresh && len(created) == 1:
		target = created[0]
	case fresh && len(lines) > 0:
		t.lost += len(lines)
		return fmt.Errorf("%d events were announced, %d conversations made", len(lines), len(created))
	case fresh:
		return nil // killed before there was anything
	}
	t.announced[target] = append(t.announced[target], lines...)
	return t.check(target)
}

// kill runs jp and kills it after delay. It returns what jp had announced.
func (t *trial) kill(args []string, delay time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), delay)
	defer cancel()
	cmd := t.workspace.Command(ctx, args...) // CommandContext kills by SIGKILL
	cmd.WaitDelay = time.Second              // should a child of it keep the pipes open
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	switch {
	case err == nil:
		t.late++
		t.full = min(t.full, time.Since(start))
	case ctx.Err() == nil:
		return nil, fmt.Errorf("jp %q: %w\n%s", args, err, stderr.Bytes())
	default:
		t.kills++
	}
	return stdout.Bytes(), nil
}

func (t *trial) check(id string) error {
	stored, err := t.workspace.Events(id)
	if err != nil {
		return err
	}
	if err := t.compare(id, stored); err != nil || len(harness.Unanswered(stored)) == 0 {
		return err
	}
	out, err := t.workspace.Run("q", "-F", "json", "--id", id, "--resume")
	if err != nil {
		return err
	}
	lines, err := harness.Lines(out)
	if err != nil {
		return err
	}
	t.announced[id] = append(t.announced[id], slices.DeleteFunc(lines, harness.Event.IsRequest)...)
	if stored, err = t.workspace.Events(id); err != nil {
		return err
	}
	if left := harness.Unanswered(stored); len(left) > 0 {
		return fmt.Errorf("%s: %v did not answer after --resume", id, left)
	}
	t.resumed++
	return t.compare(id, stored)
}

func (t *trial) compare(id string, stored []harness.Event) error {
	lost, doubled := harness.Compare(t.announced[id], stored)
	t.lost += lost
	t.doubled += doubled
	if lost+doubled > 0 {
		return fmt.Errorf("%s: %d lost, %d doubled", id, lost, doubled)
	}
	return nil
}
