package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// server is one run of jp serve.
type server struct {
	cmd *exec.Cmd
	url string
}

// start runs the server and waits for its address.
func start(binary, dir string) (*server, error) {
	cmd := exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--data", dir)
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			s.url = strings.TrimRight(strings.Fields(lines.Text()[at:])[0], "/")
			return s, nil
		}
	}
	s.kill()
	return nil, fmt.Errorf("jp serve gave no address:\n%s", log.String())
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // SIGKILL: nothing is put in order
	_ = s.cmd.Wait()
}

// client writes rosters. Every roster is of one generation, which stands in
// each of its members.
type client struct {
	n           int
	own, shared string // conversations
	generation  int    // the newest that was sent
	kept        int    // the newest that was answered
	answered    int
	wrong       error
}

// newGroup makes a group whose roster client n wrote.
func newGroup(base string, n int) (id string, err error) {
	var made struct{ ID string }
	body := map[string]any{"kind": "group", "title": fmt.Sprint("group ", n), "members": roster(0, n)}
	err = call(base, "POST", "/api/conversations", body, &made)
	return made.ID, err
}

// roster is five members, all of a generation.
func roster(generation, n int) []map[string]any {
	var list []map[string]any
	for i := range 5 {
		list = append(list, map[string]any{
			"display_name": fmt.Sprint("Member ", i), "member_kind": "narrator",
			"card_sheet_override": fmt.Sprintf("%d of %d", generation, n), "muted": generation%2 == 1,
		})
	}
	return list
}

// write puts one roster after another, forks and deletes between, until the
// server is gone.
func (c *client) write(base string) {
	for {
		c.generation++
		err := call(base, "PUT", "/api/conversations/"+c.own+"/members", map[string]any{"members": roster(c.generation, c.n)}, nil)
		if c.note(err) {
			return
		}
		c.kept = c.generation
		var fork struct{ ID string }
		if c.note(call(base, "POST", "/api/conversations/"+c.own+"/checkpoint", map[string]any{}, &fork)) {
			return
		}
		if c.note(call(base, "PUT", "/api/conversations/"+c.shared+"/members", map[string]any{"members": roster(c.generation, c.n)}, nil)) {
			return
		}
		if c.note(call(base, "DELETE", "/api/conversations/"+fork.ID, nil, nil)) {
			return
		}
	}
}

// note counts an answer. It tells whether the server is gone; a refusal is
// wrong.
func (c *client) note(err error) (gone bool) {
	if err == nil {
		c.answered++
		return false
	}
	if refused, ok := err.(refusal); ok {
		c.wrong = refused
	}
	return true
}

// check reads both rosters back.
func (c *client) check(base string) error {
	got, by, err := generation(base, c.own)
	if err != nil {
		return err
	}
	if by != c.n || got < c.kept || got > c.generation {
		return fmt.Errorf("client %d was answered generation %d, sent %d, and %d of %d is there", c.n, c.kept, c.generation, got, by)
	}
	c.kept, c.generation = got, got
	_, _, err = generation(base, c.shared)
	return err
}

// generation is that of a roster, which must be whole.
func generation(base, conversation string) (generation, by int, err error) {
	var members []struct {
		Sheet string `json:"card_sheet_override"`
	}
	if err := call(base, "GET", "/api/conversations/"+conversation+"/members", nil, &members); err != nil {
		return 0, 0, err
	}
	if len(members) != 5 {
		return 0, 0, fmt.Errorf("a roster has %d members", len(members))
	}
	for _, m := range members {
		if m.Sheet != members[0].Sheet {
			return 0, 0, fmt.Errorf("half a roster: %q beside %q", m.Sheet, members[0].Sheet)
		}
	}
	_, err = fmt.Sscanf(members[0].Sheet, "%d of %d", &generation, &by)
	return generation, by, err
}

// refusal is an answer that is none of success.
type refusal struct {
	status int
	body   string
}

func (r refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.body) }

// call sends one request. An error that is no refusal means the server is gone.
func call(base, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, base+path, sent)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: 30 * time.Second}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return refusal{res.StatusCode, string(got)}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(got, answer)
}
