package cli_test

import (
	"errors"
	"net/http"
	"testing"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/workspace/config"
)

type posts []string

func (p *posts) RoundTrip(r *http.Request) (*http.Response, error) {
	*p = append(*p, r.URL.String())
	return nil, errors.New("not sent")
}

// The wire knows the server that a key belongs to, the configuration shows
// people where a request goes: both must mean the same one.
func TestServersAreStatedAlike(t *testing.T) {
	providers, _ := config.Defaults()["providers"].(config.Tree)["llm"].(config.Tree)
	found := 0
	for id := range providers {
		dialect, ok := chat.DialectOf(id)
		if !ok {
			continue
		}
		found++
		var p posts
		for _, base := range []string{"", config.Provider(config.Tree{}, id).BaseURL} {
			m := chat.New(chat.Config{BaseURL: base, Key: "k", Dialect: dialect, Transport: &p})
			for range m.Stream(t.Context(), llm.Request{Model: "m"}) {
			}
		}
		if len(p) != 2 || p[0] != p[1] {
			t.Errorf("%s: %q", id, p)
		}
	}
	if found != 4 {
		t.Errorf("%d providers with a wire, want 4", found)
	}
}
