package scene_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// standing is a service with endpoints of a file and of the environment.
func standing(t testing.TB) *scene.Service {
	s := newService(t)
	s.Standing = []scene.Endpoint{
		{ID: "config:llamacpp", Source: scene.SourceConfig, URL: "http://localhost:8080/v1", Mode: "chat"},
		{ID: "env:openai", Source: scene.SourceEnv, URL: "https://api.openai.com/v1", Key: "secret", Mode: "chat"},
	}
	return s
}

func TestCreateEndpoint(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	e, err := s.CreateEndpoint(ctx, scene.Endpoint{ID: "ignored", Source: "env", URL: " http://localhost:8080/v1/ ", Key: "k", Proxy: "socks5://127.0.0.1:1080", Provider: "llamacpp"})
	ok(t, e, err)
	want := scene.Endpoint{
		ID: e.ID, Source: scene.SourceDatabase, URL: "http://localhost:8080/v1", Key: "k", Mode: "chat", Proxy: "socks5://127.0.0.1:1080",
		Provider: "llamacpp", WriterConfig: e.WriterConfig, AgentConfig: e.AgentConfig,
	}
	if diff := cmp.Diff(want, e); diff != "" || e.ID == "ignored" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(e, must(s.Endpoint(ctx, e.ID))); diff != "" {
		t.Errorf("stored (-made +got)\n%s", diff)
	}
	models := must(s.Models(ctx, e.ID))
	if len(models) != 2 || models[0].ID != *e.WriterConfig || models[1].ID != *e.AgentConfig || *models[0].Temperature != 0.8 || *models[1].MaxTokens != 4096 {
		t.Errorf("models %+v", models)
	}
	if models[0].Lane != scene.LaneWriter || models[1].Lane != scene.LaneAgent {
		t.Errorf("lanes %s %s", models[0].Lane, models[1].Lane)
	}
	if id := must(s.Settings(ctx)).ActiveEndpointID; id == nil || *id != e.ID {
		t.Error("the first endpoint is not the active one")
	}
	must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "https://example.com/v1"}))
	if id := must(s.Settings(ctx)).ActiveEndpointID; *id != e.ID {
		t.Error("the second endpoint took over")
	}
	for _, url := range []string{"", "localhost:8080", "ftp://h/v1", "http://", "http://me:pw@h/v1", "http://h/v1?key=x", "http://h/v1#x", "http://h\r\nX: y/", "javascript:alert(1)"} {
		_, err := s.CreateEndpoint(ctx, scene.Endpoint{URL: url})
		misfit(t, err, "url")
	}
	for _, proxy := range []string{"localhost:1080", "ftp://h", "socks4://h:1", "http://", "file:///etc/passwd"} {
		_, err := s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://h/v1", Proxy: proxy})
		misfit(t, err, "proxy")
	}
	_, err = s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://h/v1", Key: "a\r\nX-Evil: 1"})
	misfit(t, err, "api_key")
	_, err = s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://h/v1", Mode: "text"})
	misfit(t, err, "completion_mode")
	_, err = s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://h/v1", Provider: "OpenAI"})
	misfit(t, err, "provider")
	if all := must(s.Endpoints(ctx)); len(all) != 2 {
		t.Errorf("what was refused left %d endpoints", len(all))
	}
}

// A key goes only to the server that it was given for.
func TestEndpointKeys(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	for name, c := range map[string]struct {
		change scene.EndpointChange
		key    string
	}{
		"absent keeps":         {scene.EndpointChange{Proxy: scene.To("http://p:1")}, "old"},
		"empty clears":         {scene.EndpointChange{Key: scene.To("")}, ""},
		"new":                  {scene.EndpointChange{Key: scene.To("new")}, "new"},
		"other path":           {scene.EndpointChange{URL: scene.To("https://h.example/other/v1")}, "old"},
		"same port said":       {scene.EndpointChange{URL: scene.To("https://H.example:443/v1")}, "old"},
		"other host":           {scene.EndpointChange{URL: scene.To("https://evil.example/v1")}, ""},
		"other scheme":         {scene.EndpointChange{URL: scene.To("http://h.example:443/v1")}, ""},
		"other port":           {scene.EndpointChange{URL: scene.To("https://h.example:8443/v1")}, ""},
		"other host, new key":  {scene.EndpointChange{URL: scene.To("https://o.example/v1"), Key: scene.To("new")}, "new"},
		"other host, same key": {scene.EndpointChange{URL: scene.To("https://o.example/v1"), Key: scene.To("old")}, "old"},
	} {
		e := must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "https://h.example/v1", Key: "old"}))
		got, err := s.ChangeEndpoint(ctx, e.ID, c.change)
		if ok(t, got, err).Key != c.key || must(s.Endpoint(ctx, e.ID)).Key != c.key {
			t.Errorf("%s: the key is %q", name, got.Key)
		}
	}
}

func TestChangeEndpoint(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	e, other := must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://a/v1", Key: "k"})), must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://b/v1"}))
	m := scene.DefaultModel(e.ID, scene.LaneWriter)
	m, err := s.CreateModel(ctx, m)
	ok(t, m, err)
	got, err := s.ChangeEndpoint(ctx, e.ID, scene.EndpointChange{WriterConfig: scene.To(&m.ID), AgentConfig: scene.To[*string](nil)})
	if *ok(t, got, err).WriterConfig != m.ID || got.AgentConfig != nil {
		t.Errorf("got %+v", got)
	}
	for _, c := range []scene.EndpointChange{
		{WriterConfig: scene.To(other.WriterConfig)}, {AgentConfig: scene.To(&m.ID)}, {WriterConfig: scene.To(ptr("none"))},
		{URL: scene.To("nonsense"), Key: scene.To("lost")}, {Proxy: scene.To("nonsense")}, {Key: scene.To("é")}, {Mode: scene.To("text")},
		{Provider: scene.To("other")},
	} {
		_, err := s.ChangeEndpoint(ctx, e.ID, c)
		refuse(t, err, fault.Invalid)
	}
	if diff := cmp.Diff(got, must(s.Endpoint(ctx, e.ID))); diff != "" {
		t.Errorf("what was refused changed (-want +got)\n%s", diff)
	}
	for _, provider := range append(scene.Providers(), "") {
		got, err := s.ChangeEndpoint(ctx, e.ID, scene.EndpointChange{Provider: scene.To(provider)})
		if ok(t, got, err).Provider != provider || must(s.Endpoint(ctx, e.ID)).Provider != provider {
			t.Errorf("%q became %q", provider, got.Provider)
		}
	}
	_, err = s.ChangeEndpoint(ctx, "none", scene.EndpointChange{})
	refuse(t, err, fault.NotFound)
}

func TestStandingEndpoints(t *testing.T) {
	ctx, s := context.Background(), standing(t)
	e := must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://a/v1"}))
	all := must(s.Endpoints(ctx))
	if diff := cmp.Diff(append([]scene.Endpoint{e}, s.Standing...), all); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, id := range []string{"config:llamacpp", "env:openai"} {
		if got := must(s.Endpoint(ctx, id)); got.ID != id {
			t.Errorf("got %+v", got)
		}
		if models := must(s.Models(ctx, id)); len(models) != 0 {
			t.Errorf("models %+v", models)
		}
		refuse(t, second(s.ChangeEndpoint(ctx, id, scene.EndpointChange{Key: scene.To("x")})), fault.Conflict)
		refuse(t, s.DeleteEndpoint(ctx, id), fault.Conflict)
		refuse(t, second(s.CreateModel(ctx, scene.DefaultModel(id, scene.LaneWriter))), fault.Conflict)
	}
}

func TestDeleteEndpoint(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	e, other := must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://a/v1"})), must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://b/v1"}))
	patch(t, s, `{"agent_endpoint_id":"`+e.ID+`"}`)
	group, revision := castOf(t, s, *e.WriterConfig, *other.WriterConfig)
	if err := s.DeleteEndpoint(ctx, e.ID); err != nil {
		t.Fatal(err)
	}
	set := must(s.Settings(ctx))
	if set.ActiveEndpointID != nil || set.AgentEndpointID != nil {
		t.Errorf("the settings still name it: %v %v", set.ActiveEndpointID, set.AgentEndpointID)
	}
	_, err := s.Models(ctx, e.ID)
	refuse(t, err, fault.NotFound)
	refuse(t, second(s.ChangeModel(ctx, *e.WriterConfig, scene.ModelChange{})), fault.NotFound)
	refuse(t, s.DeleteEndpoint(ctx, e.ID), fault.NotFound)
	members := roster(t, s, group, false)
	if members[0].Model != nil || members[1].Model == nil {
		t.Errorf("the members have %v and %v", members[0].Model, members[1].Model)
	}
	if got := conversation(t, s, group).RosterRevision; got != revision+1 {
		t.Errorf("the roster is at revision %d, not %d", got, revision+1)
	}
}

// castOf makes a group whose members have models of their own.
func castOf(t failing, s *scene.Service, models ...string) (group string, revision int64) {
	t.Helper()
	n := scene.NewConversation{Kind: scene.Group, Title: "The inn"}
	for _, m := range models {
		n.Members = append(n.Members, scene.MemberSpec{Name: "X", Model: scene.To(&m)})
	}
	c, err := s.CreateConversation(context.Background(), n)
	return ok(t, c, err).ID, c.RosterRevision
}

func TestModels(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	e := must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://a/v1"}))
	m, err := s.CreateModel(ctx, scene.ModelConfig{ID: "ignored", EndpointID: e.ID, Model: "qwen"})
	want := scene.ModelConfig{ID: m.ID, EndpointID: e.ID, Lane: scene.LaneWriter, Model: "qwen"}
	if diff := cmp.Diff(want, ok(t, m, err)); diff != "" || m.ID == "ignored" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err := s.ChangeModel(ctx, m.ID, scene.ModelChange{
		Model: scene.To("glm"), SystemPrompt: scene.To("S"), Temperature: scene.To(ptr(0.0)), MinP: scene.To(ptr(0.1)), TopP: scene.To(ptr(1.0)),
		RepetitionPenalty: scene.To(ptr(1.1)), TopK: scene.To(ptr(0)), MaxTokens: scene.To(ptr(1)), ReasoningEffort: scene.To("low"),
		ReasoningParam: scene.To("p"), ReasoningValue: scene.To("v"), ExtraHeaders: scene.To("X-Title: a: b\r\n\nX-Two:"), ExtraBody: scene.To(`{"a": 1}`),
	})
	want = scene.ModelConfig{
		ID: m.ID, EndpointID: e.ID, Lane: scene.LaneWriter, Model: "glm", SystemPrompt: "S", Temperature: ptr(0.0), MinP: ptr(0.1), TopP: ptr(1.0),
		RepetitionPenalty: ptr(1.1), TopK: ptr(0), MaxTokens: ptr(1), ReasoningEffort: "low", ReasoningParam: "p", ReasoningValue: "v",
		ExtraHeaders: "X-Title: a: b\r\n\nX-Two:", ExtraBody: `{"a": 1}`,
	}
	if diff := cmp.Diff(want, ok(t, got, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for field, changes := range map[string][]scene.ModelChange{
		"extra_headers": {
			{ExtraHeaders: scene.To("no colon")}, {ExtraHeaders: scene.To(": value")}, {ExtraHeaders: scene.To("X Y: value")},
			{ExtraHeaders: scene.To("X: é")}, {ExtraHeaders: scene.To("X: a\rY: b")}, {ExtraHeaders: scene.To("Fine: 1\nX: \x00")},
		},
		"extra_body":         {{ExtraBody: scene.To("[]")}, {ExtraBody: scene.To("{")}, {ExtraBody: scene.To("x")}, {ExtraBody: scene.To(`{} {}`)}},
		"temperature":        {{Temperature: scene.To(ptr(-0.1))}, {Temperature: scene.To(ptr(10.5))}},
		"min_p":              {{MinP: scene.To(ptr(1.1))}},
		"top_p":              {{TopP: scene.To(ptr(-1.0))}},
		"repetition_penalty": {{RepetitionPenalty: scene.To(ptr(-1.0))}},
		"top_k":              {{TopK: scene.To(ptr(-2))}},
		"max_tokens":         {{MaxTokens: scene.To(ptr(0))}},
	} {
		for _, c := range changes {
			_, err := s.ChangeModel(ctx, m.ID, c)
			misfit(t, err, field)
		}
	}
	if diff := cmp.Diff(want, must(s.Models(ctx, e.ID))[2]); diff != "" {
		t.Errorf("what was refused changed (-want +got)\n%s", diff)
	}
	if got, err := s.ChangeModel(ctx, m.ID, scene.ModelChange{Temperature: scene.To[*float64](nil)}); ok(t, got, err).Temperature != nil {
		t.Error("null is sent")
	}
	_, err = s.CreateModel(ctx, scene.ModelConfig{EndpointID: e.ID, Lane: "judge"})
	misfit(t, err, "role")
	_, err = s.CreateModel(ctx, scene.ModelConfig{EndpointID: "none"})
	refuse(t, err, fault.NotFound)
}

func TestDeleteModel(t *testing.T) {
	ctx, s := context.Background(), newService(t)
	e := must(s.CreateEndpoint(ctx, scene.Endpoint{URL: "http://a/v1"}))
	spare := must(s.CreateModel(ctx, scene.DefaultModel(e.ID, scene.LaneWriter)))
	group, _ := castOf(t, s, *e.WriterConfig, spare.ID)
	if err := s.DeleteModel(ctx, *e.WriterConfig); err != nil {
		t.Fatal(err)
	}
	got := must(s.Endpoint(ctx, e.ID))
	if got.WriterConfig == nil || *got.WriterConfig != spare.ID || *got.AgentConfig != *e.AgentConfig {
		t.Errorf("in use are %v and %v", got.WriterConfig, got.AgentConfig)
	}
	if m := roster(t, s, group, false); m[0].Model != nil || *m[1].Model != spare.ID {
		t.Errorf("the members have %v and %v", m[0].Model, m[1].Model)
	}
	if err := s.DeleteModel(ctx, spare.ID); err != nil {
		t.Fatal(err)
	}
	if got := must(s.Endpoint(ctx, e.ID)); got.WriterConfig != nil {
		t.Errorf("in use is %v", *got.WriterConfig)
	}
	fresh := must(s.CreateModel(ctx, scene.DefaultModel(e.ID, scene.LaneWriter)))
	if got := must(s.Endpoint(ctx, e.ID)); got.WriterConfig == nil || *got.WriterConfig != fresh.ID {
		t.Error("the only model of its lane is not in use")
	}
	refuse(t, s.DeleteModel(ctx, "none"), fault.NotFound)
}
