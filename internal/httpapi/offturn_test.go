package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"jp/internal/httpapi"
	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/lib/sse"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

const secret = "sk-0123456789abcdef"

// wired opens models over the wire that people use.
type wired struct{}

func (wired) Open(e scene.Endpoint, m scene.ModelConfig) (pipeline.Lane, error) {
	dialect, _ := chat.DialectOf("openai")
	return pipeline.Lane{
		Model: chat.New(chat.Config{Provider: "server", BaseURL: e.URL, Key: e.Key, Dialect: dialect}),
		Name:  m.Model, Params: llm.Params{MaxTokens: m.MaxTokens},
	}, nil
}

func (wired) Rehearsal(string) pipeline.Lane { return pipeline.Lane{} }

// onWire is a world whose model "pen" is at a server, with a group of a card
// in it.
func onWire(t *testing.T) (w *world, server *llmtest.Server, cid string) {
	t.Helper()
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	server = llmtest.NewServer()
	t.Cleanup(server.Close)
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	w.handler = httpapi.New(httpapi.Config{
		Scenes: w.scenes, Runner: &pipeline.Runner{Scenes: w.scenes, Models: wired{}, Now: now, Log: log}, Log: log, Now: now,
	})
	made := func(method, path, body string) gjson.Result {
		status, answer := w.call(method, path, body)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, answer)
		}
		return gjson.Parse(answer)
	}
	e := made(http.MethodPost, "/api/endpoints", `{"url":"`+server.URL+`/v1","api_key":"`+secret+`"}`)
	made(http.MethodPut, "/api/models/"+e.Get("active_model_config_id").String(), `{"model_name":"pen"}`)
	made(http.MethodPost, "/api/characters", `{"id":"ada","name":"Ada"}`)
	cid = made(http.MethodPost, "/api/conversations", `{"kind":"group","members":[{"character_card_id":"ada"}]}`).Get("id").String()
	for _, text := range []string{"One.", "Two.", "Three."} {
		if _, err := w.scenes.Append(context.Background(), cid, scene.NewMessage{Role: scene.RoleUser, Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	return w, server, cid
}

// What a server says of a call that it refuses is passed on, but for the key
// that some quote.
func TestRefusedOffTurn(t *testing.T) {
	w, server, cid := onWire(t)
	one := "/api/conversations/" + cid
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{one + "/members/scene-profile/generate", `{"character_card_id":"ada"}`, http.StatusBadGateway},
		{"/api/characters/ada/public-profile/generate", "", http.StatusBadGateway},
		{one + "/autocomplete", `{"draft":"I"}`, http.StatusServiceUnavailable},
		{one + "/summarize", `{"keep_count":2}`, http.StatusOK},
	} {
		server.Script("pen", llmtest.Fail(http.StatusUnauthorized, "Incorrect API key provided: "+secret+"."))
		status, answer := w.call(http.MethodPost, c.path, c.body)
		if status != c.status || !strings.Contains(answer, "server: Incorrect API key provided: ….") {
			t.Errorf("%s: %d %s", c.path, status, answer)
		}
		if all := answer + w.log.take(); strings.Contains(all, secret) {
			t.Errorf("%s: the key is in %s", c.path, all)
		}
	}
}

// A summary that the model's limit cut off says so, since what it stands for
// is about to be left behind. A completion is meant to be short.
func TestCutOffTurn(t *testing.T) {
	w, server, cid := onWire(t)
	limited := llmtest.Raw(llmtest.Delta(map[string]any{"content": "They came and"}), llmtest.Finish("length"), llmtest.Done)
	server.Script("pen", limited, limited)
	_, answer := w.call(http.MethodPost, "/api/conversations/"+cid+"/summarize", `{"keep_count":2}`)
	var got []string
	for e, err := range sse.Read(strings.NewReader(answer), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(e.Type+" "+gjson.Get(e.Data, "headline").String()))
	}
	if diff := cmp.Diff([]string{"token", "warning The summary is cut off", "done"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, answer)
	}
	status, answer := w.call(http.MethodPost, "/api/conversations/"+cid+"/autocomplete", `{"draft":"And "}`)
	if status != http.StatusOK || gjson.Get(answer, "completion").String() != "They came and" {
		t.Errorf("%d %s", status, answer)
	}
}
