// Package catalog asks servers which models they have.
//
// List asks one that somebody named; Found asks the ports of this machine at
// which the usual local servers listen, and nothing else. Both are bounded in
// time and size, follow no redirects, and send a key only where it was meant
// for. What a server says is data: names come back as they are, but for those
// that are empty, too long or hold control characters, and are for whoever
// shows them to filter.
package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"jp/internal/lib/fault"
	"jp/internal/lib/host"
)

const (
	listTime  = 15 * time.Second
	foundTime = 2 * time.Second
	mostBytes = 4 << 20
	mostNames = 5000
	longest   = 300 // bytes of a name
)

// Server is a server of models on this machine.
type Server struct {
	Name   string // of the program, as people know it
	URL    string // up to and including /v1
	Models []string
}

// List returns the models of an OpenAI-compatible server whose API is at base,
// up to and including /v1, sorted. An empty key sends none. Errors:
// fault.Invalid for a base that is no URL and for a key that would travel in
// the clear, fault.Provider for a server that cannot be reached or answers
// something else.
func List(ctx context.Context, rt http.RoundTripper, base, key string) ([]string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fault.New(fault.Invalid, "%q is no http or https address", base).WithHint("take one like http://127.0.0.1:8080/v1")
	}
	if key != "" && u.Scheme == "http" && !host.Loopback(u.Hostname()) {
		return nil, fault.New(fault.Invalid, "the key is not sent unencrypted to %s", u.Host).WithHint("use an https address")
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("models").String(), nil)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%q is no address: %w", base, err)
	}
	r.Header.Set("Accept", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return nil, unreachable(ctx, u.Host, err)
	}
	defer resp.Body.Close()
	return read(ctx, u.Host, resp)
}

// read takes the names out of an answer.
func read(ctx context.Context, server string, resp *http.Response) ([]string, error) {
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fault.New(fault.Provider, "%s refused the key (status %d)", server, resp.StatusCode).WithHint("check the endpoint's key")
	default:
		return nil, fault.New(fault.Provider, "%s answered status %d when asked for its models", server, resp.StatusCode).WithHint("check that the address ends in /v1")
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	if err != nil {
		return nil, unreachable(ctx, server, err)
	}
	var list struct {
		Data []struct{ ID string }
	}
	if len(data) > mostBytes || json.Unmarshal(data, &list) != nil || list.Data == nil {
		return nil, fault.New(fault.Provider, "what %s answered is no list of models", server).WithHint("check that the address ends in /v1")
	}
	names := []string{}
	for _, m := range list.Data {
		if m.ID != "" && len(m.ID) <= longest && !strings.ContainsFunc(m.ID, unicode.IsControl) && len(names) < mostNames {
			names = append(names, m.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func unreachable(ctx context.Context, server string, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.New(fault.Provider, "%s did not answer in time", server).WithHint("check that the server runs")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fault.New(fault.Provider, "%s cannot be reached: %s", server, host.Reason(err)).WithHint("check that the server runs, and its address")
}

// usual are the programs that people serve models with, at the ports that they
// come with.
var usual = []Server{
	{Name: "Ollama", URL: "http://127.0.0.1:11434/v1"},
	{Name: "llama.cpp", URL: "http://127.0.0.1:8080/v1"},
	{Name: "LM Studio", URL: "http://127.0.0.1:1234/v1"},
}

// Found returns the usual servers that answer on this machine right now, with
// their models. One that does not is left out; nothing is an error.
func Found(ctx context.Context, rt http.RoundTripper) []Server {
	ctx, cancel := context.WithTimeout(ctx, foundTime)
	defer cancel()
	answers := make([][]string, len(usual))
	var all sync.WaitGroup
	for i, s := range usual {
		all.Go(func() {
			if names, err := List(ctx, rt, s.URL, ""); err == nil {
				answers[i] = names
			}
		})
	}
	all.Wait()
	found := []Server{}
	for i, s := range usual {
		if answers[i] != nil {
			s.Models = answers[i]
			found = append(found, s)
		}
	}
	return found
}
