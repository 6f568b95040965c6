package httpapi

import (
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const testToken = "correct-horse-battery"

// faces are the web face without and with a token, and a cookie for the second.
func faces(t *testing.T) (map[string]http.Handler, *http.Cookie) {
	t.Helper()
	cfg := Config{
		Version: "test", Log: slog.New(slog.DiscardHandler),
		AllowHosts: []string{"jp.example.com"}, Rand: rand.NewChaCha8([32]byte{}),
	}
	free := New(cfg)
	cfg.Token = testToken
	locked := New(cfg)
	w := login(locked, testToken, "")
	if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 {
		t.Fatalf("login: %d, %v", w.Code, w.Result().Cookies())
	}
	return map[string]http.Handler{"free": free, "locked": locked}, w.Result().Cookies()[0]
}

func login(h http.Handler, token, origin string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Host = "localhost:8787"
	if origin != "" {
		r.Host = strings.TrimPrefix(origin, "https://")
		r.Header.Set("Origin", origin)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestGuards runs testdata/guard.txt, which says what its columns are.
func TestGuards(t *testing.T) {
	faces, session := faces(t)
	data, err := os.ReadFile("testdata/guard.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 8 {
			t.Fatalf("line %d has %d columns", n+1, len(f))
		}
		r := httptest.NewRequest(f[1], "http://x/", nil)
		r.URL.Path, r.Host = f[2], f[3]
		if f[4] != "-" {
			r.Header.Set("Origin", f[4])
		}
		fetchedFrom(r, f[5])
		authorize(r, f[6], session)
		w := httptest.NewRecorder()
		faces[f[0]].ServeHTTP(w, r)
		if strconv.Itoa(w.Code) != f[7] {
			t.Errorf("line %d: %d, want %s\n%s", n+1, w.Code, f[7], line)
		}
		for name, want := range headers {
			if got := w.Header().Get(name); got == "" || name == "Content-Security-Policy" && got != want {
				t.Errorf("line %d: %s: %q", n+1, name, got)
			}
		}
		if w.Code == http.StatusOK && strings.Contains(w.Body.String(), testToken) {
			t.Errorf("line %d: the answer holds the token", n+1)
		}
		count++
	}
	if count < 100 {
		t.Errorf("only %d pairs were read", count)
	}
}

func fetchedFrom(r *http.Request, site string) {
	if site == "-" {
		return
	}
	if how, from, ok := strings.Cut(site, ":"); ok {
		site = from
		mode := map[string][2]string{"nav": {"navigate", "document"}, "emb": {"navigate", "iframe"}, "img": {"no-cors", "image"}}[how]
		r.Header.Set("Sec-Fetch-Mode", mode[0])
		r.Header.Set("Sec-Fetch-Dest", mode[1])
	}
	r.Header.Set("Sec-Fetch-Site", site)
}

func authorize(r *http.Request, how string, session *http.Cookie) {
	kind, value, _ := strings.Cut(how, ":")
	value = map[string]string{"good": testToken, "GOOD": strings.ToUpper(testToken), "token": testToken, "bad": "x"}[value]
	switch kind {
	case "bearer":
		r.Header.Set("Authorization", "Bearer "+value)
	case "basic":
		r.Header.Set("Authorization", "Basic "+value)
	case "raw":
		r.Header.Set("Authorization", value)
	case "cookie":
		if how == "cookie:good" {
			value = session.Value
		}
		r.AddCookie(&http.Cookie{Name: session.Name, Value: value})
	}
}

// TestNoRouteIsOpen walks every operation with a foreign host, a foreign origin
// and without the token.
func TestNoRouteIsOpen(t *testing.T) {
	faces, session := faces(t)
	paths := newAPI(Config{Log: slog.New(slog.DiscardHandler)}).huma.OpenAPI().Paths
	if len(paths) == 0 {
		t.Fatal("there are no routes")
	}
	step := regexp.MustCompile(`\{\w+\}`)
	for path := range paths {
		path = step.ReplaceAllString(path, "1")
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"} {
			try := func(what, face, host, origin, auth string, want int) {
				r := httptest.NewRequest(method, path, nil)
				r.Host = host
				if origin != "" {
					r.Header.Set("Origin", origin)
				}
				authorize(r, auth, session)
				w := httptest.NewRecorder()
				faces[face].ServeHTTP(w, r)
				if w.Code != want {
					t.Errorf("%s %s with a %s: %d, want %d", method, path, what, w.Code, want)
				}
			}
			try("foreign host", "free", "evil.example", "", "-", 421)
			try("foreign host and the session", "locked", "evil.example", "", "cookie:good", 421)
			try("foreign origin", "free", "localhost", "http://evil.example", "-", 403)
			try("foreign origin and the session", "locked", "localhost", "http://evil.example", "cookie:good", 403)
			try("missing token", "locked", "localhost", "", "-", 401)
		}
	}
}

func TestSession(t *testing.T) {
	faces, session := faces(t)
	locked := faces["locked"]
	if !session.HttpOnly || session.SameSite != http.SameSiteStrictMode || session.Secure || session.Path != "/" {
		t.Errorf("cookie %+v", session)
	}
	sum := sha256.Sum256([]byte(testToken))
	if strings.Contains(session.Value, testToken) || strings.Contains(session.Value, string(sum[:])) {
		t.Error("the cookie tells the token")
	}
	if w := login(locked, "wrong <token>", ""); w.Code != 401 || len(w.Result().Cookies()) != 0 || strings.Contains(w.Body.String(), "wrong <token>") {
		t.Errorf("a wrong token: %d %s", w.Code, w.Body)
	}
	if w := login(faces["free"], "", ""); w.Code != 401 || len(w.Result().Cookies()) != 0 {
		t.Errorf("without a token there is nothing to log in to: %d", w.Code)
	}
	if w := login(locked, testToken, "https://jp.example.com"); w.Code != 303 || !w.Result().Cookies()[0].Secure {
		t.Errorf("behind TLS: %d, %v", w.Code, w.Result().Cookies())
	}
	out := ask(locked, "POST", "http://localhost/logout", nil, "Cookie", session.Name+"="+session.Value)
	if out.Code != 303 || out.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d %v", out.Code, out.Result().Cookies())
	}
	if w := ask(locked, "GET", "http://localhost/", nil, "Cookie", session.Name+"="+session.Value); w.Code != 303 {
		t.Errorf("after logging out the cookie still works: %d", w.Code)
	}
}

func TestOldSessionsEnd(t *testing.T) {
	s := &sessions{rand: rand.NewChaCha8([32]byte{})}
	first, err := s.begin()
	if err != nil {
		t.Fatal(err)
	}
	var last string
	for range mostSessions {
		if last, err = s.begin(); err != nil {
			t.Fatal(err)
		}
	}
	if s.has(first) || !s.has(last) || s.has("") {
		t.Errorf("first %t, last %t, none %t", s.has(first), s.has(last), s.has(""))
	}
}
