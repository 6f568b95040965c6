package httpapi_test

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jp/internal/scene"
)

// Whatever a conversation is called, its exports go out under a name that is
// one file's name, in a header of printable ASCII.
func TestTitlesInHeaders(t *testing.T) {
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	cid, _ := w.told(t)
	title := rapid.OneOf(rapid.String(), rapid.StringMatching(`(\.\.|/|\\|CON|"|\r\n|;|=|%|[a-zé🦊\x{202e}]| ){1,12}`))
	rapid.Check(t, func(t *rapid.T) {
		name := title.Draw(t, "title")
		if strings.TrimSpace(name) == "" {
			return
		}
		_, err := w.scenes.ChangeConversation(context.Background(), cid, scene.ConversationChange{Title: scene.To(name)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for route, ending := range map[string]string{"/export": ".jsonl", "/export-group": ".json"} {
			r := httptest.NewRequest(http.MethodGet, "/api/conversations/"+cid+route, nil)
			r.Host = loopback
			answer := httptest.NewRecorder()
			w.handler.ServeHTTP(answer, r)
			checkFileHeader(t, answer, ending)
		}
	})
}

// A title of which nothing can be in a name is not called like an ending.
func TestTitlesWithoutAName(t *testing.T) {
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	cid, _ := w.told(t)
	for _, title := range []string{"\ufffd", "...", "\x00\u202e"} {
		if _, err := w.scenes.ChangeConversation(context.Background(), cid, scene.ConversationChange{Title: scene.To(title)}, nil); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/api/conversations/"+cid+"/export", nil)
		r.Host = loopback
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, r)
		if head := answer.Header().Get("Content-Disposition"); head != "attachment; filename=file.jsonl" {
			t.Errorf("%q: %s", title, head)
		}
	}
}

// What is broken off, by the client or by the end of the server, is no defect
// to be logged, and says whether anything was done.
func TestBrokenOff(t *testing.T) {
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/conversations", nil)
	r.Host = loopback
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	logged := w.log.take()
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "nothing of it was saved") || logged != "" {
		t.Errorf("%d %s, log %q", answer.Code, answer.Body, logged)
	}
}

func checkFileHeader(t *rapid.T, answer *httptest.ResponseRecorder, ending string) {
	head := answer.Header().Get("Content-Disposition")
	if strings.ContainsFunc(head, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Fatalf("Content-Disposition: %q", head)
	}
	kind, params, err := mime.ParseMediaType(head)
	if err != nil || answer.Code != http.StatusOK || kind != "attachment" {
		t.Fatalf("%d %q: %v", answer.Code, head, err)
	}
	name := params["filename"]
	if name == ending || strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ending) ||
		strings.ContainsAny(name, "/\\:*?\"<>|\r\n\x00\u202e") || len([]rune(name)) > 200 {
		t.Fatalf("%q is no name for a file: %q", name, head)
	}
}

// Text that is no UTF-8 is refused or mended on its way in; what goes out is
// always valid.
func TestInvalidText(t *testing.T) {
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	cid, _ := w.told(t)
	for _, text := range []string{"a\xffb", "\xc3", "\xed\xa0\x80", `\ud800`, `\udfff\ud800x`, "\xf8\x88\x80\x80\x80"} {
		for _, field := range []string{"title", "character_scenario", "post_history_instructions"} {
			w.call(http.MethodPut, "/api/conversations/"+cid, `{"`+field+`":"x`+text+`"}`)
		}
		w.call(http.MethodPut, "/api/conversations/"+cid+"/members", `{"members":[{"display_name":"x`+text+`","card_sheet_override":"`+text+`"}]}`)
		for _, path := range []string{"", "/members", "/messages", "/export", "/export-group"} {
			code, body := w.call(http.MethodGet, "/api/conversations/"+cid+path, "")
			if code != http.StatusOK || !utf8.ValidString(body) || path != "/export" && !json.Valid([]byte(body)) {
				t.Errorf("%q: %s: %d %q", text, path, code, body)
			}
		}
	}
}
