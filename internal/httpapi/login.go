package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	sessionCookie = "jp_session"
	sessionTime   = 30 * 24 * time.Hour // that a browser keeps it
	mostSessions  = 100
)

// sessions are the browsers that showed the token to this process. The cookie
// holds a random value that says nothing about the token; only its sum is kept
// here. They end with the process, by logging out, or when mostSessions newer
// ones have begun.
type sessions struct {
	rand io.Reader

	mu   sync.Mutex
	sums [][sha256.Size]byte // oldest first
}

// begin makes a session and returns the cookie's value.
func (s *sessions) begin() (string, error) {
	var id [32]byte
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.rand, id[:]); err != nil {
		return "", err
	}
	value := base64.RawURLEncoding.EncodeToString(id[:])
	if len(s.sums) == mostSessions {
		s.sums = s.sums[1:]
	}
	s.sums = append(s.sums, sha256.Sum256([]byte(value)))
	return value, nil
}

// has looks a cookie's value up by its sum: what the time of comparing sums
// tells is of no use for finding a value.
func (s *sessions) has(value string) bool {
	sum := sha256.Sum256([]byte(value))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.sums {
		if known == sum {
			return true
		}
	}
	return false
}

func (s *sessions) end(value string) {
	sum := sha256.Sum256([]byte(value))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, known := range s.sums {
		if known == sum {
			s.sums = append(s.sums[:i:i], s.sums[i+1:]...)
			return
		}
	}
}

// loginForm is what the login page shows.
type loginForm struct{ Wrong bool }

// getLogin shows the form, where there is something to log in to.
func (g *guard) getLogin(w http.ResponseWriter, r *http.Request) {
	if !g.locked || g.known(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	writePage(w, http.StatusOK, "login.html", loginForm{})
}

// postLogin takes the token and begins a session.
func (g *guard) postLogin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if !g.locked || !g.matches(strings.TrimSpace(r.PostFormValue("token"))) {
		writePage(w, http.StatusUnauthorized, "login.html", loginForm{Wrong: true})
		return
	}
	value, err := g.sessions.begin()
	if err != nil {
		writeProblem(w, &Problem{Status: http.StatusInternalServerError, Detail: "no randomness for a session"})
		return
	}
	http.SetCookie(w, cookie(r, value, int(sessionTime/time.Second)))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// postLogout ends the session.
func (g *guard) postLogout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(sessionCookie); err == nil {
		g.sessions.end(c.Value)
	}
	http.SetCookie(w, cookie(r, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// cookie is the session's. It is Secure where the browser itself says that it
// came by TLS: a proxy's word for that can be anybody's.
func cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie, Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
}
