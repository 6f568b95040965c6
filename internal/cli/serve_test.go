package cli

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/sqlstore"
)

// TestStopSavesWhatRuns stops a server while an exchange runs: it is told to
// end, waited for, and nothing begins any more.
func TestStopSavesWhatRuns(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var out bytes.Buffer
	a := &app{Process: Process{Now: time.Now, Rand: rand.NewChaCha8([32]byte{}), Stdout: &out}}
	scenes := scene.New(scene.Config{Store: store, Now: a.Now, Rand: a.Rand})
	c, err := scenes.CreateConversation(t.Context(), scene.NewConversation{})
	if err != nil {
		t.Fatal(err)
	}
	told, saved := make(chan struct{}), false
	claim, err := scenes.Claim(t.Context(), c.ID, func() { close(told) })
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-told
		saved = true
		claim.Release()
	}()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if err := a.answer(ctx, serving{log: slog.New(slog.DiscardHandler)}, ln, scenes); err != nil {
		t.Errorf("the end is a failure: %v", err)
	}
	if !saved {
		t.Error("the exchange was not waited for")
	}
	if want := "http://" + ln.Addr().String() + "/\n"; out.String() != want {
		t.Errorf("stdout %q, want %q", out.String(), want)
	}
	if _, err := scenes.Claim(t.Context(), c.ID, func() {}); fault.CodeOf(err) != fault.Busy {
		t.Errorf("a new exchange: %v", err)
	}
	if _, err := http.Get("http://" + ln.Addr().String() + "/healthz"); err == nil {
		t.Error("it still answers")
	}
}

func TestAddresses(t *testing.T) {
	for at, want := range map[string]string{
		"127.0.0.1:80": "http://127.0.0.1:80/", "[::1]:80": "http://[::1]:80/",
		"0.0.0.0:80": "http://localhost:80/", "[::]:80": "http://localhost:80/",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if got := address(tcp); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}

// TestWhoMayListenWhere is the table of addresses with and without a token.
func TestWhoMayListenWhere(t *testing.T) {
	for addr, want := range map[string][2]string{ // without and with a token: what is allowed, or the refusal
		"127.0.0.1:1":      {"127.0.0.1", "127.0.0.1"},
		"[::1]:1":          {"::1", "::1"},
		"localhost:1":      {"localhost", "localhost"},
		"jp.localhost:1":   {"jp.localhost", "jp.localhost"},
		"0.0.0.0:1":        {"refused", ""},
		"[::]:1":           {"refused", ""},
		":1":               {"refused", ""},
		"192.0.2.1:1":      {"refused", "192.0.2.1"},
		"jp.example.com:1": {"refused", "jp.example.com"},
		"127.0.0.1":        {"refused", "refused"},
		"1":                {"refused", "refused"},
		"":                 {"refused", "refused"},
	} {
		for i, token := range []string{"", "t"} {
			s := serving{addr: addr, token: token}
			got := "refused"
			if err := s.checkAddress(); err == nil {
				got = strings.Join(s.allowHosts, " ")
			} else if fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" {
				t.Errorf("%q: %v", addr, err)
			}
			if got != want[i] {
				t.Errorf("%q with token %q: %q, want %q", addr, token, got, want[i])
			}
		}
	}
}
