package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"jp/scripts/harness"
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

// server is a run of jp serve that exchanges are asked of.
type server struct{ *harness.Web }

// outcome is how an exchange went.
type outcome struct {
	speakers int // that were planned
	replies  int
	warnings []string
	failed   string // what error said
	status   string // of done
}

// exchange runs one and follows its events to the end.
func (s server) exchange(path string, body any) (outcome, error) {
	res, err := s.Ask("POST", path, body)
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
