package httpapi_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// TestOneKeyRunsOnce sends the same request many times at the same instant.
func TestOneKeyRunsOnce(t *testing.T) {
	w := freshWorld(t)
	cid := gjson.GetBytes(w.want(t, http.MethodPost, "/api/conversations", []byte(`{"character_name":"Eve"}`)), "id").String()
	w.player.answers = map[string][][]string{"writer": {{"Once."}, {"Twice."}}}
	answers := make([]string, 16)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() {
			answers[i] = w.ask(t, http.MethodPost, "/api/conversations/"+cid+"/send", []byte(`{"content":"Hello"}`), "Idempotency-Key", "k").Body.String()
		})
	}
	all.Wait()
	for _, a := range answers {
		if a != answers[0] || !strings.Contains(a, "event: done") {
			t.Errorf("one was answered\n%s\nand another\n%s", answers[0], a)
		}
	}
	if n := len(w.player.sent); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if n := gjson.GetBytes(w.want(t, http.MethodGet, "/api/conversations/"+cid+"/messages", nil), "#").Int(); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// TestKeyOutlivesTheServer asks again after a restart: nothing is run, and the
// client is told to read the messages.
func TestKeyOutlivesTheServer(t *testing.T) {
	dir := t.TempDir()
	w, done, err := newWorld(dir)
	if err != nil {
		t.Fatal(err)
	}
	cid := gjson.GetBytes(w.want(t, http.MethodPost, "/api/conversations", []byte(`{"character_name":"Eve"}`)), "id").String()
	w.player.answers = map[string][][]string{"writer": {{"Once."}}}
	w.ask(t, http.MethodPost, "/api/conversations/"+cid+"/send", []byte(`{"content":"Hello"}`), "Idempotency-Key", "k")
	done()
	if w, done, err = newWorld(dir); err != nil {
		t.Fatal(err)
	}
	defer done()
	again := w.ask(t, http.MethodPost, "/api/conversations/"+cid+"/send", []byte(`{"content":"Hello"}`), "Idempotency-Key", "k")
	var names []string
	for line := range strings.Lines(again.Body.String()) {
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	if got := strings.Join(names, " "); again.Code != http.StatusOK || got != "resync done" || len(w.player.sent) > 0 {
		t.Errorf("%d %s", again.Code, again.Body)
	}
	if other := w.ask(t, http.MethodPost, "/api/conversations/"+cid+"/send", []byte(`{"content":"Other"}`), "Idempotency-Key", "k"); other.Code != http.StatusUnprocessableEntity {
		t.Errorf("another body: %d %s", other.Code, other.Body)
	}
}
