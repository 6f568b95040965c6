package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// listener is a handler on a port of the loopback interface.
type listener struct {
	*http.Server
	url string
}

func listen(h http.Handler) (*listener, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &listener{&http.Server{Handler: h}, "http://" + ln.Addr().String()}
	go l.Serve(ln) // ends with Close
	return l, nil
}

// server is a run of jp serve.
type server struct {
	cmd *exec.Cmd
	url string
	log bytes.Buffer
}

// start runs the server and waits for its address.
func start(binary, dir string) (*server, error) {
	s := &server{cmd: exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--data", dir)}
	// Nothing of the caller's reaches it: no keys, no configuration.
	s.cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	s.cmd.Stderr = &s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("build jp first: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			s.url = strings.TrimRight(strings.Fields(lines.Text()[at:])[0], "/")
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("jp serve gave no address:\n%s", s.log.String())
}

// stop lets the server end by itself, and ends it if it does not.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	late.Stop()
}

// ask sends a request, body as JSON unless nil. An answer that is none of
// success is an error.
func (s *server) ask(method, path string, body any) (*http.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(method, s.url+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if body == nil {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		defer res.Body.Close()
		detail, _ := io.ReadAll(res.Body)
		return nil, fmt.Errorf("%s %s: status %d: %s", method, path, res.StatusCode, bytes.TrimSpace(detail))
	}
	return res, nil
}

// call sends a request and decodes the answer, unless answer is nil.
func (s *server) call(method, path string, body, answer any) error {
	res, err := s.ask(method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if answer == nil {
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
	return json.NewDecoder(res.Body).Decode(answer)
}

// outcome is how an exchange went.
type outcome struct {
	speakers int // that were planned
	replies  int
	warnings []string
	failed   string // what error said
	status   string // of done
}

// exchange runs one and follows its events to the end.
func (s *server) exchange(path string, body any) (outcome, error) {
	res, err := s.ask("POST", path, body)
	if err != nil {
		return outcome{}, err
	}
	defer res.Body.Close()
	var o outcome
	err = events(res.Body, func(name string, data []byte) error { return o.take(name, data) })
	if err != nil {
		return o, fmt.Errorf("POST %s: %w", path, err)
	}
	switch {
	case o.failed != "":
		return o, fmt.Errorf("POST %s: %s", path, o.failed)
	case o.status != "completed":
		return o, fmt.Errorf("POST %s: the stream ended with status %q", path, o.status)
	case o.replies < o.speakers:
		return o, fmt.Errorf("POST %s: %d speakers were planned, %d replied", path, o.speakers, o.replies)
	}
	return o, nil
}

func (o *outcome) take(name string, data []byte) error {
	var e struct {
		Plan               []json.RawMessage
		Headline, Sentence string
		Incomplete         bool
		Status             any // a number in problems
	}
	if name == "token" {
		return nil
	}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("the event %s is no JSON: %w", name, err)
		}
	}
	switch name {
	case "speaking_plan":
		o.speakers = len(e.Plan)
	case "speaker_done":
		o.replies++
		if e.Incomplete {
			o.failed = "a reply is incomplete"
		}
	case "warning":
		o.warnings = append(o.warnings, e.Headline+": "+e.Sentence)
	case "error":
		o.failed = e.Headline + ": " + e.Sentence
	case "done":
		o.status = fmt.Sprint(e.Status)
	}
	return nil
}

// events reads a stream of server-sent events.
func events(r io.Reader, take func(name string, data []byte) error) error {
	lines := bufio.NewReader(r)
	var name string
	var data []byte
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if name != "" || data != nil {
				if err := take(name, data); err != nil {
					return err
				}
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
	}
}
