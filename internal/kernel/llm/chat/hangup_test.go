package chat_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
)

// TestLeavingHangsUp: the server notices when the loop is left.
func TestLeavingHangsUp(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, delta(`"content":"Hi"`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer server.Close()
	for _, err := range chat.New(chat.Config{BaseURL: server.URL}).Stream(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	<-gone
}

// hanging is a body that never ends by itself.
type hanging struct {
	io.Reader
	ctx context.Context
}

func (h hanging) Read(p []byte) (int, error) {
	if n, err := h.Reader.Read(p); err == nil {
		return n, nil
	}
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

func (hanging) Close() error { return nil }

// TestFarewell: a server that does not hang up after the finish is not waited
// for, and the answer is whole.
func TestFarewell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		carrier := transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: hanging{strings.NewReader(delta(`"content":"Hi"`) + finish("stop")), r.Context()}}, nil
		})
		g := read(t, chat.New(chat.Config{BaseURL: "http://127.0.0.1:1", Transport: carrier}), hello())
		if diff := cmp.Diff(got{Text: "Hi", Finish: llm.FinishStop}, g); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
