package host

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// URL is what the text of an absolute URL says about where it leads.
type URL struct {
	Scheme string // lower case
	Name   string // of the host, lower case, without brackets
	Port   string // the scheme's own if the text has none; empty if neither
	Login  bool   // it carries a user's name or password
	Rest   bool   // it has a query or a fragment
}

// Parse takes the text of a URL apart; ok is false for what is none, or names
// no host, or a port that cannot be.
func Parse(text string) (u URL, ok bool) {
	p, err := url.Parse(text)
	if err != nil || p.Hostname() == "" {
		return URL{}, false
	}
	u = URL{
		Scheme: p.Scheme, Name: strings.ToLower(p.Hostname()), Port: p.Port(),
		Login: p.User != nil, Rest: p.RawQuery != "" || p.ForceQuery || strings.Contains(text, "#"),
	}
	switch {
	case u.Port != "":
		_, err = strconv.ParseUint(u.Port, 10, 16)
	case u.Scheme == "http":
		u.Port = "80"
	case u.Scheme == "https":
		u.Port = "443"
	}
	return u, err == nil
}

// Origin is the server alone: scheme, host and port.
func (u URL) Origin() string { return u.Scheme + "://" + net.JoinHostPort(u.Name, u.Port) }
