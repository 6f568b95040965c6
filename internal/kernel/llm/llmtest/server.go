package llmtest

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Recorded is a request that reached a Server.
type Recorded struct {
	Method string
	Path   string
	Header http.Header
	Body   []byte
}

// Server is a fake chat-completions server on the loopback address. A request
// for a model gets the responses scripted for that name, then what Scenario
// says for it. Anything but a POST to …/chat/completions is answered 404;
// every request is recorded, whatever its answer. Its methods may be called
// from any goroutine.
type Server struct {
	URL string // scheme, host and port, without /v1

	http    *httptest.Server
	steps   chan struct{}
	release chan struct{}
	closing chan struct{}

	mu      sync.Mutex
	arrived *sync.Cond
	seen    []Recorded
	chats   int            // chat requests so far
	calls   map[string]int // the same by model
	script  map[string][]Response
	closed  bool
	open    sync.Once // closes release
}

// NewServer starts a server. Close ends it.
func NewServer() *Server {
	s := &Server{
		steps:   make(chan struct{}),
		release: make(chan struct{}),
		closing: make(chan struct{}),
		calls:   map[string]int{},
		script:  map[string][]Response{},
	}
	s.arrived = sync.NewCond(&s.mu)
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close breaks every open connection and stops the server.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
		s.arrived.Broadcast()
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Script queues responses for the next requests of model.
func (s *Server) Script(model string, responses ...Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script[model] = append(s.script[model], responses...)
}

// Requests returns what has arrived so far, in order.
func (s *Server) Requests() []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recorded(nil), s.seen...)
}

// Await returns once n requests have arrived since the start, or when the
// server is closed.
func (s *Server) Await(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.seen) < n && !s.closed {
		s.arrived.Wait()
	}
}

// Step lets one frame that waits for a step go out. It returns when a response
// has taken the step, or when the server is closed.
func (s *Server) Step() {
	select {
	case s.steps <- struct{}{}:
	case <-s.closing:
	}
}

// Release lets everything that waits or hangs, now or later, go on.
func (s *Server) Release() { s.open.Do(func() { close(s.release) }) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away while it was sending
	}
	rec := Recorded{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	isChat := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions")
	s.play(w, r, s.choose(rec, isChat))
}

// choose records a request and decides its response.
func (s *Server) choose(rec Recorded, isChat bool) Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, rec)
	s.arrived.Broadcast()
	if !isChat {
		return Fail(http.StatusNotFound, "no such path: "+rec.Path)
	}
	var call Call
	if err := json.Unmarshal(rec.Body, &call); err != nil {
		return Fail(http.StatusBadRequest, "the body is not JSON: "+err.Error())
	}
	s.chats++
	s.calls[call.Model]++
	call.N, call.Nth = s.chats, s.calls[call.Model]
	if queue := s.script[call.Model]; len(queue) > 0 {
		s.script[call.Model] = queue[1:]
		return queue[0]
	}
	return Scenario(call)
}

// play sends a response.
func (s *Server) play(w http.ResponseWriter, r *http.Request, resp Response) {
	if resp.Drop {
		drop(w)
	}
	w.Header().Set("Content-Type", resp.contentType())
	for name, value := range resp.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(resp.status())
	out := http.NewResponseController(w)
	_ = out.Flush()
	for _, f := range resp.Frames {
		if !s.wait(r, f) {
			return
		}
		if _, err := io.WriteString(w, f.Text); err != nil {
			return
		}
		_ = out.Flush()
	}
	switch resp.End {
	case EndCut:
		panic(http.ErrAbortHandler)
	case EndReset:
		drop(w)
	}
}

// wait holds a frame back as it asks; false when nobody is left to send it to.
func (s *Server) wait(r *http.Request, f Frame) bool {
	var step <-chan struct{}
	var after <-chan time.Time
	switch {
	case f.Step:
		step = s.steps
	case f.Delay > 0:
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		after = timer.C
	case !f.Hold:
		return true
	}
	select {
	case <-step:
	case <-after:
	case <-s.release:
	case <-s.closing:
		return false
	case <-r.Context().Done():
		return false
	}
	return true
}

// drop resets the connection and ends the handler.
func drop(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a close becomes a reset
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}
