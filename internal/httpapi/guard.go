package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"jp/internal/lib/host"
)

// policy is what pages may load: their own files and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// headers go out with every answer, errors included. The referrer policy is
// not no-referrer, with which browsers hide the origin of our own forms.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

// open are the paths that need no token: who is to log in needs them.
var open = []string{"/healthz", "/login", "/static/style.css"}

// guard stands in front of every route. A browser brings requests here that
// its user never meant, so the questions are asked in this order: is this
// server the one that was addressed (or a name of somebody else's that
// resolves to it), does one of its own pages ask, and does the caller know the
// token.
type guard struct {
	next     http.Handler
	foreign  *http.CrossOriginProtection
	hosts    []string // allowed beside this machine's own, lower case
	token    [sha256.Size]byte
	locked   bool // a token is set
	sessions *sessions
}

func newGuard(cfg Config, s *sessions, next http.Handler) *guard {
	g := &guard{
		next: next, foreign: http.NewCrossOriginProtection(),
		token: sha256.Sum256([]byte(cfg.Token)), locked: cfg.Token != "", sessions: s,
	}
	for _, name := range cfg.AllowHosts {
		g.hosts = append(g.hosts, strings.ToLower(name))
	}
	return g
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	switch {
	case !g.addressed(r.Host):
		writeProblem(w, &Problem{Status: http.StatusMisdirectedRequest,
			Detail: "this server is not known by that name: start it with --allow-host NAME if it should be"})
	case !g.own(r):
		writeProblem(w, &Problem{Status: http.StatusForbidden, Detail: "requests of other sites are refused"})
	case g.locked && !slices.Contains(open, r.URL.Path) && !g.known(r):
		g.refuse(w, r)
	default:
		g.next.ServeHTTP(w, r)
	}
}

// addressed tells whether a Host header names this server.
func (g *guard) addressed(header string) bool {
	name := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		name = h
	} else if strings.HasPrefix(header, "[") && strings.HasSuffix(header, "]") {
		name = header[1 : len(header)-1]
	}
	name = strings.ToLower(name)
	return host.Loopback(name) || slices.Contains(g.hosts, name)
}

// own tells whether a request is not the doing of another site's page. Only
// following a link to here is nobody's business.
func (g *guard) own(r *http.Request) bool {
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		u, err := url.Parse(origins[0])
		if len(origins) > 1 || err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		if !link {
			return false
		}
	}
	return g.foreign.Check(r) == nil
}

// known tells whether a request carries the token or a session that began
// with it.
func (g *guard) known(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") && g.matches(strings.TrimSpace(token)) {
		return true
	}
	c, err := r.Cookie(sessionCookie)
	return err == nil && g.sessions.has(c.Value)
}

// matches compares sums, so that neither length nor content shows in the time.
func (g *guard) matches(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// refuse sends people to the login form and tells programs what is missing.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && !isAPI(r.URL.Path) {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="jp"`)
	writeProblem(w, &Problem{Status: http.StatusUnauthorized, Detail: "the token is missing or wrong: send it as Authorization: Bearer TOKEN"})
}

// isAPI tells the paths of the API from those of pages. Its documentation is
// a page.
func isAPI(path string) bool {
	return (path == "/api" || strings.HasPrefix(path, "/api/")) && path != "/api/docs"
}
