package chat

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/lib/host"
)

// Check tells whether the configuration can work, without sending anything: it
// returns the *llm.Error that Stream would, of kind NoKey or Rejected.
func (c Config) Check() error {
	_, err := c.endpoint()
	return err
}

// endpoint is the URL to post to. It refuses a base URL that is none, a key
// that is missing or unfit, and a key that would travel in the clear.
func (c Config) endpoint() (*url.URL, error) {
	base := c.base()
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, c.refuse(fmt.Sprintf("the base URL %q is not an http or https address", base), "set "+c.setting()+" to something like http://127.0.0.1:8080")
	}
	u.Path, u.RawPath = c.Dialect.path(u.Path), ""
	own := u.Scheme+"://"+u.Host == c.Dialect.base
	if own && c.Dialect.keyed && c.Key == "" && !c.authorized() {
		return nil, c.noKey("no API key is set", "set "+c.keyName())
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, c.noKey("the API key holds a space, a line break or another character that no key has", "check "+c.keyName())
	}
	if (c.Key != "" || c.authorized()) && u.Scheme == "http" && !host.Loopback(u.Hostname()) {
		return nil, c.noKey("the API key is not sent unencrypted to "+u.Host, "use an https address as "+c.setting()+", or unset "+c.keyName())
	}
	return u, nil
}

// API is the URL of the server's interface, up to and including its version,
// as other ways of asking it take it. Errors: those of Check, but for a key
// that is missing.
func (c Config) API() (string, error) {
	c.Dialect.keyed = false
	u, err := c.endpoint()
	if err != nil {
		return "", err
	}
	u.Path = strings.TrimSuffix(u.Path, "/chat/completions")
	return u.String(), nil
}

// base is the base URL in force.
func (c Config) base() string {
	if base := strings.TrimSpace(c.BaseURL); base != "" {
		return base
	}
	return c.Dialect.base
}

// capped tells whether max_tokens is called max_completion_tokens.
func (c Config) capped() bool {
	u, err := url.Parse(c.base())
	return err == nil && u.Hostname() == openaiHost
}

// path completes the path of a base URL, which may name the version or the
// whole endpoint already.
func (d Dialect) path(base string) string {
	base = strings.TrimRight(base, "/")
	base = strings.TrimSuffix(base, "/chat/completions")
	switch {
	case base == "/v1":
		base = d.prefix + "/v1"
	case versioned(base):
	case strings.HasSuffix(base, d.prefix):
		base += "/v1"
	default:
		base += d.prefix + "/v1"
	}
	return base + "/chat/completions"
}

// versioned tells whether a segment of the path is a version: v1, v4, v1beta.
func versioned(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9' {
			return true
		}
	}
	return false
}

// authorized tells whether a configured header carries a key.
func (c Config) authorized() bool {
	for name := range c.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

func (c Config) keyName() string {
	if c.KeyEnv != "" {
		return "the environment variable " + c.KeyEnv
	}
	return "the API key of this provider"
}

// setting is what people know the base URL as.
func (c Config) setting() string { return cmp.Or(c.Setting, "base_url") }

func (c Config) noKey(message, hint string) *llm.Error {
	return &llm.Error{Kind: llm.NoKey, Provider: c.Provider, Message: message, Hint: hint}
}

func (c Config) refuse(message, hint string) *llm.Error {
	return &llm.Error{Kind: llm.Rejected, Provider: c.Provider, Message: message, Hint: hint}
}
