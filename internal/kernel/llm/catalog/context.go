package catalog

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"jp/internal/lib/host"
)

// contextTime is how long a server may take to say how much it holds: it is
// asked before a reply, and its silence only costs a check.
const contextTime = 2 * time.Second

// Context asks a llama.cpp server whose API is at base, up to and including
// /v1, how many tokens a request may hold; 0 when it does not say.
func Context(ctx context.Context, rt http.RoundTripper, base, key string) int {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || key != "" && u.Scheme == "http" && !host.Loopback(u.Hostname()) {
		return 0
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + "/props"
	ctx, cancel := context.WithTimeout(ctx, contextTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes))
	if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(data, &props) != nil {
		return 0
	}
	return max(0, props.Settings.Context)
}
