package harness

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Server is a model server that speaks chat completions on the loopback
// interface. It numbers its answers, so that no two are the same.
type Server struct {
	URL   string
	pause time.Duration
	count atomic.Int64
	http  *http.Server
}

// Serve starts a server that waits for pause between two pieces of an answer.
func Serve(pause time.Duration) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + listener.Addr().String(), pause: pause}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.http = &http.Server{Handler: mux}
	go s.http.Serve(listener) // ends with Close
	return s, nil
}

// Close stops the server at once.
func (s *Server) Close() { s.http.Close() }

func (s *Server) complete(w http.ResponseWriter, req *http.Request) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	text := fmt.Sprintf("This is reply number %d of the workspace's model, said slowly.", s.count.Add(1))
	for _, word := range strings.SplitAfter(text, " ") {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word)
		w.(http.Flusher).Flush()
		select {
		case <-time.After(s.pause):
		case <-req.Context().Done():
			return
		}
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}
