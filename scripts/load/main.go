// Command load lets many conversations of one jp serve speak at the same time,
// each at the pace of a real model, and tells how long a token takes from the
// model's server to the reader.
//
// Server, readers and clock are in this process, so that both ends of a token's
// way are seen by one clock.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	binary := flag.String("jp", "bin/jp", "the program")
	many := flag.Int("n", 200, "exchanges at the same time")
	rate := flag.Int("rate", 30, "tokens a second of each")
	tokens := flag.Int("tokens", 150, "tokens of a reply")
	flag.Parse()
	if err := run(*binary, *many, *rate, *tokens); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(binary string, many, rate, tokens int) error {
	dir, err := os.MkdirTemp("", "jp-load-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	models := httptest.NewServer(model(began, rate, tokens))
	defer models.Close()
	s, err := start(binary, dir)
	if err != nil {
		return err
	}
	defer s.stop()
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
type server struct {
	cmd  *exec.Cmd
	url  string
	http *http.Client
}

func start(binary, dir string) (*server, error) {
	cmd := exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--data", dir)
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("jp serve gave no address: %w", err)
	}
	all := &http.Transport{MaxIdleConnsPerHost: 1000}
	return &server{cmd: cmd, url: strings.TrimRight(strings.TrimSpace(line), "/"), http: &http.Client{Transport: all}}, nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// memory is what the server holds, where the system tells.
func (s *server) memory() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
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

func (s *server) call(method, path string, body, answer any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, s.url+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, got)
	}
	return cmp.Or(err, json.Unmarshal(got, answer))
}

// connect makes the endpoint that everybody asks.
func (s *server) connect(url string) error {
	var e struct {
		Writer string `json:"active_model_config_id"`
	}
	if err := s.call("POST", "/api/endpoints", map[string]any{"url": url}, &e); err != nil {
		return err
	}
	return s.call("PUT", "/api/models/"+e.Writer, map[string]any{"model_name": "load"}, &struct{}{})
}

func (s *server) group(i int) (id string, err error) {
	var c struct{ ID string }
	err = s.call("POST", "/api/conversations", map[string]any{
		"kind": "group", "title": fmt.Sprint("scene ", i), "group_turn_mode": "round_robin",
		"members": []map[string]any{{"display_name": "Ann", "member_kind": "narrator"}, {"display_name": "Bob", "member_kind": "narrator"}},
	}, &c)
	return c.ID, err
}

// speak sends to every conversation, spread over one token's time, and returns
// how long each token took.
func (s *server) speak(ids []string, began time.Time, rate int) (all []time.Duration, err error) {
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
func (s *server) read(id string, began time.Time) (delays []time.Duration, err error) {
	res, err := s.http.Post(s.url+"/api/conversations/"+id+"/send", "application/json", strings.NewReader(`{"content":"Go."}`))
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
				return delays, fmt.Errorf("%s: a token is %q", res.Status, left)
			}
			delays = append(delays, time.Since(began)-time.Duration(sent)*time.Microsecond)
		}
	}
	if !done {
		return delays, fmt.Errorf("%s: an exchange ended without done", res.Status)
	}
	return delays, lines.Err()
}
