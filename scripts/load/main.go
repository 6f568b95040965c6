// Command load lets many conversations of one jp serve speak at the same time,
// each at the pace of a real model, and tells how long a token takes from the
// model's server to the reader.
//
// Server, readers and clock are in this process, so that both ends of a token's
// way are seen by one clock.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"jp/scripts/harness"
)

func main() {
	binary := flag.String("jp", "bin/jp", "the program")
	many := flag.Int("n", 200, "exchanges at the same time")
	rate := flag.Int("rate", 30, "tokens a second of each")
	tokens := flag.Int("tokens", 150, "tokens of a reply")
	flag.Parse()
	err := harness.WithFolder("load", func(dir string) error { return run(*binary, dir, *many, *rate, *tokens) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(binary, dir string, many, rate, tokens int) error {
	began := time.Now()
	models := httptest.NewServer(model(began, rate, tokens))
	defer models.Close()
	web, err := harness.StartWeb(binary, dir)
	if err != nil {
		return err
	}
	defer web.Stop()
	web.HTTP.Transport = &http.Transport{MaxIdleConnsPerHost: 1000}
	s := server{web}
	idle := s.memory()
	if err := s.connect(models.URL + "/v1"); err != nil {
		return err
	}
	ids := make([]string, many)
	for i := range ids {
		if ids[i], err = s.group(i); err != nil {
			return err
		}
	}
	delays, err := s.speak(ids, began, rate)
	if err != nil {
		return err
	}
	if want := many * tokens; len(delays) != want {
		return fmt.Errorf("%d of %d tokens arrived", len(delays), want)
	}
	slices.Sort(delays)
	at := func(q float64) time.Duration {
		return delays[int(q*float64(len(delays)-1))].Round(10 * time.Microsecond)
	}
	fmt.Printf("%d exchanges, %d tokens/s each: median %v, 90 %% %v, 99 %% %v, longest %v\n", many, rate, at(.5), at(.9), at(.99), at(1))
	fmt.Printf("memory: idle %s, at the end %s\n", idle, s.memory())
	return nil
}

// model answers every request with numbered tokens that say when they left.
func model(began time.Time, rate, tokens int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for range tokens {
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%d \"}}]}\n\n", time.Since(began).Microseconds())
			_ = flush.Flush()
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
}

// server is a run of jp serve.
type server struct{ *harness.Web }

// memory is what the server holds, where the system tells.
func (s server) memory() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}

// connect makes the endpoint that everybody asks.
func (s server) connect(url string) error {
	var e struct {
		Writer string `json:"active_model_config_id"`
	}
	if err := s.Call("POST", "/api/endpoints", map[string]any{"url": url}, &e); err != nil {
		return err
	}
	return s.Call("PUT", "/api/models/"+e.Writer, map[string]any{"model_name": "load"}, nil)
}

func (s server) group(i int) (id string, err error) {
	var c struct{ ID string }
	err = s.Call("POST", "/api/conversations", map[string]any{
		"kind": "group", "title": fmt.Sprint("scene ", i), "group_turn_mode": "round_robin",
		"members": []map[string]any{{"display_name": "Ann", "member_kind": "narrator"}, {"display_name": "Bob", "member_kind": "narrator"}},
	}, &c)
	return c.ID, err
}

// speak sends to every conversation, spread over one token's time, and returns
// how long each token took.
func (s server) speak(ids []string, began time.Time, rate int) (all []time.Duration, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * time.Second / time.Duration(rate*len(ids)))
			delays, failed := s.read(id, began)
			mu.Lock()
			defer mu.Unlock()
			all, err = append(all, delays...), errors.Join(err, failed)
		})
	}
	wg.Wait()
	return all, err
}

// read follows one exchange.
func (s server) read(id string, began time.Time) (delays []time.Duration, err error) {
	res, err := s.Ask("POST", "/api/conversations/"+id+"/send", map[string]any{"content": "Go."})
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	lines, event, done := bufio.NewScanner(res.Body), "", false
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			event, done = name, done || name == "done"
			continue
		}
		left, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || event != "token" {
			continue
		}
		for stamp := range strings.FieldsSeq(left) {
			sent, err := strconv.ParseInt(stamp, 10, 64)
			if err != nil {
				return delays, fmt.Errorf("a token is %q", left)
			}
			delays = append(delays, time.Since(began)-time.Duration(sent)*time.Microsecond)
		}
	}
	if !done {
		return delays, errors.New("an exchange ended without done")
	}
	return delays, lines.Err()
}
