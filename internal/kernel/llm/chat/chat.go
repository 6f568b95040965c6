// Package chat is the wire to servers that speak the chat-completions
// protocol: llama.cpp, Ollama, OpenAI, OpenRouter and whatever is compatible.
//
// One request is one POST. Nothing is asked before it, so a server that lists
// no models, or not this one, still decides by its own answer. The body is a
// function of the request alone: fields in a fixed order, one leading system
// message, held by golden files. What a dialect cannot express is left out
// (reasoning on OpenAI, top_k there), except that stop strings above its limit
// are enforced here.
//
// The answer may be a stream or, from a server that ignores "stream", one JSON
// object. It is whole when a finish reason or the end marker came; anything
// else is llm.Broken, except a web page: that is llm.Rejected, for a wrong base
// URL is not mended by asking again. An error inside a stream with status 200
// is an error.
//
// A key goes to the configured host only, never over plain http to another
// machine, and redirects are not followed. There is no overall timeout: how
// long silence may last is for the caller's context.
package chat

import (
	"bytes"
	"context"
	"iter"
	"mime"
	"net/http"

	"jp/internal/kernel/llm"
)

// Config is a server and how to talk to it.
type Config struct {
	Provider string            // names the server in errors
	BaseURL  string            // empty: the dialect's own; a trailing /v1 is not doubled
	Setting  string            // what BaseURL is called where people set it; empty: base_url
	Key      string            // sent as a bearer token; empty sends none
	KeyEnv   string            // where Key is expected to be set; only named in hints
	Headers  map[string]string // sent as they are, over our own
	Dialect  Dialect
	// Transport carries the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
}

// New returns the model server of cfg; the model itself is named by each
// request. A configuration that cannot work is reported by Check and by Stream.
func New(cfg Config) llm.Model {
	return &model{cfg: cfg, client: &http.Client{
		Transport:     cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

type model struct {
	cfg    Config
	client *http.Client
}

var _ llm.Model = (*model)(nil)

// Stream implements llm.Model.
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(llm.Chunk{}, context.Cause(ctx))
			return
		}
		within, cancel := context.WithCancel(ctx)
		defer cancel()
		yield = m.discreet(yield)
		resp, err := m.send(within, req)
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			yield(llm.Chunk{}, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // without one: not html
		s := stream{answer: newAnswer(req, m.cfg.Dialect), hangUp: cancel, ctx: ctx, yield: yield, html: kind == "text/html"}
		s.read(m.cfg, resp.Body)
	}
}

// send posts the request and returns an answer with status 200.
func (m *model) send(ctx context.Context, req llm.Request) (*http.Response, error) {
	to, err := m.cfg.endpoint()
	if err != nil {
		return nil, err
	}
	body, err := m.cfg.Body(req)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, m.cfg.refuse(err.Error(), "check "+m.cfg.setting())
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Accept", "text/event-stream")
	post.Header.Set("User-Agent", "jp")
	if m.cfg.Key != "" {
		post.Header.Set("Authorization", "Bearer "+m.cfg.Key)
	}
	for name, value := range m.cfg.Headers {
		post.Header.Set(name, value)
	}
	resp, err := m.client.Do(post)
	if err != nil {
		return nil, m.unreachable(to, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer func() { _ = resp.Body.Close() }()
		return nil, m.status(to, req.Model, resp)
	}
	return resp, nil
}
