package httpapi

import (
	"regexp"
	"strings"
	"testing"
)

// TestPages holds pages to their policy: nothing inline, nothing foreign, and
// every file that they name is there.
func TestPages(t *testing.T) {
	faces, session := faces(t)
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:[^>]*)>[^<]|javascript:`)
	named := regexp.MustCompile(`(?:href|src|action)="([^"]+)"`)
	for _, page := range []struct{ path, cookie string }{{"/", session.String()}, {"/api/docs", session.String()}, {"/login", ""}} {
		w := ask(faces["locked"], "GET", "http://localhost"+page.path, nil, "Cookie", page.cookie)
		body := w.Body.String()
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %s", page.path, w.Code, w.Header().Get("Content-Type"))
		}
		if found := inline.FindString(body); found != "" {
			t.Errorf("%s has %q inline", page.path, found)
		}
		links := named.FindAllStringSubmatch(body, -1)
		if len(links) == 0 {
			t.Errorf("%s names no file", page.path)
		}
		for _, m := range links {
			if m[1] == "data:," {
				continue
			}
			if !strings.HasPrefix(m[1], "/") || strings.HasPrefix(m[1], "//") {
				t.Errorf("%s names %s", page.path, m[1])
			}
			got := ask(faces["locked"], "GET", "http://localhost"+m[1], nil, "Cookie", session.String())
			if got.Code != 200 && got.Code != 303 && got.Code != 405 { // 405: a form's
				t.Errorf("%s of %s: %d", m[1], page.path, got.Code)
			}
		}
	}
}

func TestFilesOfPages(t *testing.T) {
	free, _ := faces(t)
	for path, want := range map[string]string{
		"/static/style.css":                "text/css; charset=utf-8",
		"/api/docs/swagger-ui.css":         "text/css; charset=utf-8",
		"/api/docs/swagger-ui-bundle.js":   "text/javascript; charset=utf-8",
		"/api/docs/start.js":               "text/javascript; charset=utf-8",
		"/api/openapi.json":                "application/json",
		"/api/docs/index.html":             "",
		"/api/docs/swagger-ui.css.map":     "",
		"/api/docs/oauth2-redirect.html":   "",
		"/static/":                         "",
		"/static/index.html":               "",
		"/static/..%2f..%2fguard.go":       "",
		"/api/docs/..%2f..%2fopenapi.go":   "",
		"/api/docs/swagger-initializer.js": "",
	} {
		w := ask(free["free"], "GET", "http://localhost"+path, nil)
		got := w.Header().Get("Content-Type")
		if want == "" && (w.Code != 404 || got != "application/json") || want != "" && (w.Code != 200 || got != want) {
			t.Errorf("%s: %d %s, want %q", path, w.Code, got, want)
		}
	}
}

// TestHostOnThePage shows that a host's name is text on the page.
func TestHostOnThePage(t *testing.T) {
	free, _ := faces(t)
	r := ask(free["free"], "GET", "http://a.localhost:1234/", nil)
	if !strings.Contains(r.Body.String(), "http://a.localhost:1234/api/conversations") {
		t.Error("the page does not say how it is reached")
	}
}
