package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fanout"
	"jp/internal/lib/sse"
	"jp/internal/scene"
	"jp/internal/scene/sqlstore"
)

// streaming is an API with one conversation.
func streaming(t *testing.T) (a *api, conversation string) {
	t.Helper()
	return streamingIn(t, t.TempDir())
}

// streamingIn has its store in a folder, for tests whose time is their own.
func streamingIn(t *testing.T, dir string) (a *api, conversation string) {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), filepath.Join(dir, "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	scenes := scene.New(scene.Config{Store: store, Now: now, Rand: rand.NewChaCha8([32]byte{})})
	c, err := scenes.CreateConversation(t.Context(), scene.NewConversation{})
	if err != nil {
		t.Fatal(err)
	}
	return newAPI(Config{Scenes: scenes, Log: slog.New(slog.DiscardHandler)}), c.ID
}

// received is what a client got, one event a line, comments and all.
func received(t *testing.T, body string) string {
	t.Helper()
	var b strings.Builder
	for e, err := range sse.Read(strings.NewReader(body), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Comment {
			fmt.Fprintf(&b, ": %s\n", e.Data)
		} else {
			fmt.Fprintf(&b, "%s %s %s\n", e.ID, e.Type, e.Data)
		}
	}
	return b.String()
}

func say(log *fanout.Log[sse.Event], text string) { log.Append(sse.Event{Type: "token", Data: text}) }

func finish(log *fanout.Log[sse.Event]) {
	log.Append(sse.Event{Type: eventDone, Data: "{}"})
	log.Close()
}

func TestReplay(t *testing.T) {
	a, cid := streaming(t)
	get := func(id, last string) *httptest.ResponseRecorder {
		return ask(a, "GET", "/api/conversations/"+id+"/events", nil, "Last-Event-ID", last)
	}
	if w := get("nobody", ""); w.Code != http.StatusNotFound || !strings.HasPrefix(w.Body.String(), `{"detail":"`) {
		t.Errorf("an unknown conversation: %d %s", w.Code, w.Body)
	}
	if w := get(cid, ""); w.Code != http.StatusNoContent || w.Body.Len() > 0 {
		t.Errorf("before the first exchange: %d %s", w.Code, w.Body)
	}
	log := a.streams.Start(cid, "ex")
	say(log, "a")
	say(log, "b")
	finish(log)
	all := "ex.1 token a\nex.2 token b\nex.3 done {}\n"
	for last, want := range map[string]string{
		"": all, "ex.0": all, "ex.1": "ex.2 token b\nex.3 done {}\n", "ex.2": "ex.3 done {}\n",
		"older.2": all, "ex.x": all, "ex.-1": all, "ex": all,
	} {
		w := get(cid, last)
		if diff := cmp.Diff(want, received(t, w.Body.String())); w.Code != 200 || diff != "" {
			t.Errorf("after %q: %d (-want +got):\n%s", last, w.Code, diff)
		}
		if ct := w.Header().Get("Content-Type"); ct != "text/event-stream" {
			t.Errorf("content type %q", ct)
		}
	}
	for _, last := range []string{"ex.3", "ex.99"} {
		if w := get(cid, last); w.Code != http.StatusNoContent {
			t.Errorf("after %q there is nothing: %d", last, w.Code)
		}
	}
}

func TestResyncOnce(t *testing.T) {
	a, cid := streaming(t)
	log := a.streams.Start(cid, "ex")
	big := strings.Repeat("x", mostEvents/2)
	for range 4 {
		say(log, big)
	}
	finish(log)
	w := ask(a, "GET", "/api/conversations/"+cid+"/events", nil, "Last-Event-ID", "ex.1")
	got := strings.ReplaceAll(received(t, w.Body.String()), big, "big")
	if diff := cmp.Diff("ex.3 resync {\"conversation_id\":\""+cid+"\",\"exchange_id\":\"ex\"}\nex.4 token big\nex.5 done {}\n", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// client is a reader whose answer can be looked at while it grows.
type client struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ResponseRecorder.Write(p)
}

func (c *client) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Body.String()
}

// TestFollow has two readers: one from the start who stays, one who leaves.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{streams: newStreams()}
		log := a.streams.Start("c", "ex")
		follow := func(ctx context.Context, after int64) (*client, <-chan struct{}) {
			c, ended := &client{ResponseRecorder: httptest.NewRecorder()}, make(chan struct{})
			r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
			go func() {
				a.follow(humago.NewContext(nil, r, c), "c", log, after)
				close(ended)
			}()
			return c, ended
		}
		leaving, leave := context.WithCancel(t.Context())
		stays, stayed := follow(t.Context(), 0)
		left, gone := follow(leaving, 0)
		say(log, "a")
		synctest.Wait()
		leave()
		<-gone
		time.Sleep(silence + time.Second)
		say(log, "b")
		time.Sleep(2*silence + time.Second)
		late, caughtUp := follow(t.Context(), 1)
		finish(log)
		<-stayed
		<-caughtUp
		for name, tt := range map[string]struct {
			c    *client
			want string
		}{
			"stays": {stays, "ex.1 token a\n: keepalive\nex.2 token b\n: keepalive\n: keepalive\nex.3 done {}\n"},
			"left":  {left, "ex.1 token a\n"},
			"late":  {late, "ex.2 token b\nex.3 done {}\n"},
		} {
			if diff := cmp.Diff(tt.want, received(t, tt.c.text())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// TestStreamEndsWithItsLog is an exchange that the server had to give up.
func TestStreamEndsWithItsLog(t *testing.T) {
	a, cid := streaming(t)
	log := a.streams.Start(cid, "ex")
	say(log, "a")
	log.Close()
	w := ask(a, "GET", "/api/conversations/"+cid+"/events", nil)
	if got := received(t, w.Body.String()); got != "ex.1 token a\n" {
		t.Errorf("%q", got)
	}
}

// TestEventsAreKept looks at an exchange that is over, ten minutes long, and at
// one that lasts longer than that.
func TestEventsAreKept(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a, cid := streamingIn(t, dir)
		code := func() int { return ask(a, "GET", "/api/conversations/"+cid+"/events", nil).Code }
		log := a.streams.Start(cid, "ex")
		say(log, "a")
		time.Sleep(time.Hour)
		finish(log)
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{10*time.Minute - time.Second, http.StatusOK}, {2 * time.Second, http.StatusNoContent}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if got := code(); got != step.want {
				t.Errorf("after another %s: %d, want %d", step.wait, got, step.want)
			}
		}
	})
}
