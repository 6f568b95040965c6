package httpapi_test

import (
	"encoding/base64"
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

// TestClosingSavesWhatIsWritten ends the service while a reply streams: its part
// is stored, whoever listens gets the end, and nothing begins any more.
func TestClosingSavesWhatIsWritten(t *testing.T) {
	w := freshWorld(t)
	cid := gjson.GetBytes(w.want(t, http.MethodPost, "/api/conversations", []byte(`{"character_name":"Eve"}`)), "id").String()
	w.player.answers = map[string][][]string{"writer": {{"Half of ", "hold:never"}}}
	c := w.dispatch(t.Context(), http.MethodPost, "/api/conversations/"+cid+"/send", http.Header{"Content-Type": {"application/json"}}, []byte(`{"content":"Hello"}`))
	for !strings.Contains(string(c.body()), "event: token") {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if !strings.Contains(string(c.body()), "event: token") {
			<-changed
		}
	}
	if err := w.scenes.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-c.ended
	if got := string(c.body()); !strings.Contains(got, `"status":"stopped"`) {
		t.Errorf("the stream ends with %s", got)
	}
	last := gjson.GetBytes(w.want(t, http.MethodGet, "/api/conversations/"+cid+"/messages", nil), "1")
	if last.Get("content").String() != "Half of" || last.Get("incomplete").String() != "interrupted" {
		t.Errorf("stored: %s", last)
	}
	if again := w.ask(t, http.MethodPost, "/api/conversations/"+cid+"/continue", nil); again.Code != http.StatusConflict {
		t.Errorf("another exchange: %d %s", again.Code, again.Body)
	}
}

// TestAttachmentsHaveALimit sends the largest file there may be, and one byte
// more.
func TestAttachmentsHaveALimit(t *testing.T) {
	w := freshWorld(t)
	cid := gjson.GetBytes(w.want(t, http.MethodPost, "/api/conversations", []byte(`{"kind":"group","group_turn_mode":"manual","members":[{"display_name":"Ada"}]}`)), "id").String()
	for size, want := range map[int]int{10 << 20: http.StatusOK, 10<<20 + 1: http.StatusUnprocessableEntity, 0: http.StatusUnprocessableEntity} {
		data := base64.StdEncoding.EncodeToString(make([]byte, size))
		answer := w.ask(t, http.MethodPost, "/api/conversations/"+cid+"/send", []byte(`{"content":"x","attachments":[{"b64":"`+data+`","mime":"image/png","filename":"zero.png"}]}`))
		if answer.Code != want {
			t.Errorf("%d bytes: %d %.200s", size, answer.Code, answer.Body)
		}
	}
	list := gjson.GetBytes(w.want(t, http.MethodGet, "/api/conversations/"+cid+"/messages", nil), "#.user_attachments.0")
	if list.Get("#").Int() != 1 || list.Get("0.size").Int() != 10<<20 || list.Get("0.mime_type").String() != "application/octet-stream" {
		t.Errorf("stored: %s", list)
	}
}
