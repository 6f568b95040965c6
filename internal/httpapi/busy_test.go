package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"jp/internal/scene"
)

// call sends a request and returns status and body.
func (w *world) call(method, path, body string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = loopback
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	return answer.Code, answer.Body.String()
}

// told makes a conversation with a message in it.
func (w *world) told(t *testing.T) (cid string, mid int64) {
	t.Helper()
	c, err := w.scenes.CreateConversation(context.Background(), scene.NewConversation{
		Kind: scene.Group, Members: []scene.MemberSpec{{Name: "Ada"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.scenes.Append(context.Background(), c.ID, scene.NewMessage{Role: scene.RoleUser, Content: "Hello."})
	if err != nil {
		t.Fatal(err)
	}
	return c.ID, m.ID
}

// While an exchange holds a conversation, what changes its tree waits for 15
// seconds and is then refused as busy; what else changes applies at once.
func TestBusy(t *testing.T) {
	for _, route := range []struct{ method, path, body string }{
		{http.MethodPost, "/messages/%d/edit", `{"content":"x"}`},
		{http.MethodPost, "/messages/%d/switch-branch", ""},
		{http.MethodDelete, "/messages/%d", ""},
	} {
		t.Run(route.method+route.path, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w, done, err := newWorld(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer done()
				cid, mid := w.told(t)
				claim, err := w.scenes.Claim(t.Context(), cid, func() {})
				if err != nil {
					t.Fatal(err)
				}
				path := "/api/conversations/" + cid
				if code, body := w.call(http.MethodPut, path, `{"title":"At once"}`); code != http.StatusOK {
					t.Errorf("settings: %d %s", code, body)
				}

				began := time.Now()
				code, body := w.call(route.method, path+fmt.Sprintf(route.path, mid), route.body)
				got := []any{code, gjson.Get(body, "code").String(), time.Since(began)}
				if diff := cmp.Diff([]any{http.StatusConflict, "busy", 15 * time.Second}, got); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, body)
				}

				time.AfterFunc(5*time.Second, claim.Release)
				if code, body := w.call(route.method, path+fmt.Sprintf(route.path, mid), route.body); code != http.StatusOK {
					t.Errorf("after the exchange: %d %s", code, body)
				}
			})
		})
	}
}

// Deleting a conversation or a group stops what runs in it first.
func TestDeletingStops(t *testing.T) {
	for _, route := range []string{"", "/group"} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			w, done, err := newWorld(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer done()
			cid, _ := w.told(t)
			stopped := make(chan struct{})
			claim, err := w.scenes.Claim(t.Context(), cid, sync.OnceFunc(func() { close(stopped) }))
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				<-stopped
				claim.Release()
			}()
			if code, body := w.call(http.MethodDelete, "/api/conversations/"+cid+route, ""); code != http.StatusOK {
				t.Errorf("%d %s", code, body)
			}
		})
	}
}
