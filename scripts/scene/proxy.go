package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// exchangeOf says what the scene is doing, for the requests that come of it.
type exchangeOf struct {
	number int
	doings []string // to the scene, since the exchange before
}

// recorder stands between jp and a model server and keeps what passes.
type recorder struct {
	proxy *httputil.ReverseProxy

	mu       sync.Mutex
	during   exchangeOf
	requests []*request
}

// request is one that jp sent, and what its answer cost.
type request struct {
	during  exchangeOf
	body    []byte
	began   time.Time
	status  int
	refusal string

	first         time.Duration // to the first token; 0 is none
	in, out       int           // tokens as the server counts them
	cached        int           // of in
	counted, kept bool          // the server said in and out; it said cached
}

// newRecorder passes on to the origin of base, path for path.
func newRecorder(base, key string) (*recorder, error) {
	to, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	to = &url.URL{Scheme: to.Scheme, Host: to.Host}
	r := &recorder{}
	r.proxy = &httputil.ReverseProxy{
		FlushInterval: -1, // every token at once
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Header.Set("Accept-Encoding", "identity") // to be read here
			if key != "" {
				p.Out.Header.Set("Authorization", "Bearer "+key)
			}
		},
		ModifyResponse: func(res *http.Response) error {
			if kept, ok := res.Request.Context().Value(requestKey{}).(*request); ok {
				r.answered(kept, res)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, req *http.Request, err error) {
			if kept, ok := req.Context().Value(requestKey{}).(*request); ok && kept.status == 0 {
				kept.refusal = err.Error()
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return r, nil
}

type requestKey struct{}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !strings.HasSuffix(req.URL.Path, "/chat/completions") {
		r.proxy.ServeHTTP(w, req)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	kept := &request{during: r.during, body: body, began: time.Now()}
	r.requests = append(r.requests, kept)
	r.mu.Unlock()
	r.proxy.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), requestKey{}, kept)))
}

// begin says what the next requests come of.
func (r *recorder) begin(e exchangeOf) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.during = e
}

// all are the requests so far.
func (r *recorder) all() []*request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// dump writes the bodies of all requests to a file, one a line.
func (r *recorder) dump(path string) error {
	var b bytes.Buffer
	for _, kept := range r.all() {
		if err := json.Compact(&b, kept.body); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

func (r *recorder) answered(kept *request, res *http.Response) {
	kept.status = res.StatusCode
	res.Body = &listening{ReadCloser: res.Body, kept: kept}
}

// listening reads an answer that passes.
type listening struct {
	io.ReadCloser
	kept *request
	rest []byte // of a line
}

func (l *listening) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.kept.status >= 300 {
		l.kept.refusal += string(p[:min(n, 500-min(500, len(l.kept.refusal)))])
		return n, err
	}
	l.rest = append(l.rest, p[:n]...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return n, err
		}
		l.rest = rest
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			l.kept.hear(bytes.TrimSpace(data))
		}
	}
}

// hear reads one chunk of an answer.
func (r *request) hear(data []byte) {
	var c struct {
		Choices []struct {
			Delta struct {
				Content, Reasoning string
				Thought            string            `json:"reasoning_content"`
				Calls              []json.RawMessage `json:"tool_calls"`
			}
		}
		Usage *struct {
			In      int `json:"prompt_tokens"`
			Out     int `json:"completion_tokens"`
			Details *struct {
				Cached *int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
		Timings *struct { // llama.cpp's
			Cached *int `json:"cache_n"`
			In     int  `json:"prompt_n"`
			Out    int  `json:"predicted_n"`
		}
	}
	if json.Unmarshal(data, &c) != nil {
		return
	}
	for _, choice := range c.Choices {
		d := choice.Delta
		if r.first == 0 && (d.Content != "" || d.Reasoning != "" || d.Thought != "" || len(d.Calls) > 0) {
			r.first = max(1, time.Since(r.began))
		}
	}
	if t := c.Timings; t != nil && t.Cached != nil {
		r.counted, r.kept = true, true
		r.in, r.out, r.cached = *t.Cached+t.In, t.Out, *t.Cached
	}
	if u := c.Usage; u != nil && u.In > 0 {
		r.counted, r.in, r.out = true, u.In, u.Out
		if u.Details != nil && u.Details.Cached != nil {
			r.kept, r.cached = true, max(r.cached, *u.Details.Cached)
		}
	}
}

// refused tells whether the server gave no answer.
func (r *request) refused() error {
	switch r.status {
	case http.StatusOK:
		return nil
	case 0:
		return fmt.Errorf("no answer: %s", r.refusal)
	}
	return fmt.Errorf("status %d: %s", r.status, strings.TrimSpace(r.refusal))
}
