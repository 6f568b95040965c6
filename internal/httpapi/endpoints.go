package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"jp/internal/kernel/llm/catalog"
	"jp/internal/scene"
)

func (a *api) endpoints() {
	route(a, http.MethodGet, "/endpoints", "list-endpoints", "List the servers of models", a.listEndpoints)
	route(a, http.MethodPost, "/endpoints", "create-endpoint", "Add a server of models", a.createEndpoint)
	route(a, http.MethodGet, "/endpoints/found", "find-endpoints", "Look for model servers on this machine", a.findEndpoints)
	route(a, http.MethodGet, "/endpoints/{id}", "get-endpoint", "Read an endpoint", a.getEndpoint)
	route(a, http.MethodPut, "/endpoints/{id}", "change-endpoint", "Change fields of an endpoint", a.changeEndpoint)
	route(a, http.MethodDelete, "/endpoints/{id}", "delete-endpoint", "Delete an endpoint with its models", a.deleteEndpoint)
	route(a, http.MethodPost, "/endpoints/{id}/test", "test-endpoint", "Ask an endpoint what models it has", a.testEndpoint)
}

// Endpoint is a server of models. Its key is never told.
type Endpoint struct {
	ID           string  `json:"id"`
	Source       string  `json:"source" enum:"database,config,env" doc:"Only those of the database can be changed here"`
	URL          string  `json:"url"`
	KeySet       bool    `json:"api_key_set"`
	Mode         string  `json:"completion_mode"`
	Proxy        string  `json:"proxy" doc:"An http, https or socks5 URL"`
	Provider     string  `json:"provider" enum:",openai,openrouter,llamacpp,ollama" doc:"What the server is; empty is told from the URL"`
	WriterConfig *string `json:"active_model_config_id"`
	AgentConfig  *string `json:"agent_active_model_config_id"`
}

func wireEndpoint(e scene.Endpoint) Endpoint {
	return Endpoint{
		ID: e.ID, Source: e.Source, URL: e.URL, KeySet: e.Key != "", Mode: e.Mode, Proxy: e.Proxy,
		Provider: e.Provider, WriterConfig: e.WriterConfig, AgentConfig: e.AgentConfig,
	}
}

// NewEndpoint is what creating an endpoint takes.
type NewEndpoint struct {
	URL   string       `json:"url" doc:"Up to and including /v1"`
	Key   string       `json:"api_key,omitempty"`
	Mode  Enum[string] `json:"completion_mode,omitzero" enum:"chat"`
	Proxy string       `json:"proxy,omitempty" doc:"An http, https or socks5 URL"`

	Provider Enum[string] `json:"provider,omitzero" enum:",openai,openrouter,llamacpp,ollama" doc:"What the server is; empty is told from the URL"`
}

// EndpointChange is a partial update. An absent key stays, an empty one clears
// it.
type EndpointChange struct {
	URL          Opt[string]  `json:"url,omitzero"`
	Key          Opt[string]  `json:"api_key,omitzero"`
	Mode         Enum[string] `json:"completion_mode,omitzero" enum:"chat"`
	Proxy        Opt[string]  `json:"proxy,omitzero" doc:"An http, https or socks5 URL"`
	Provider     Enum[string] `json:"provider,omitzero" enum:",openai,openrouter,llamacpp,ollama" doc:"What kind of server it is; empty is told from the URL"`
	WriterConfig Opt[string]  `json:"active_model_config_id,omitzero"`
	AgentConfig  Opt[string]  `json:"agent_active_model_config_id,omitzero"`
}

func (a *api) listEndpoints(ctx context.Context, _ *struct{}) (*body[[]Endpoint], error) {
	es, err := a.Scenes.Endpoints(ctx)
	return results(es, err, wireEndpoint)
}

func (a *api) getEndpoint(ctx context.Context, in *ByID) (*body[Endpoint], error) {
	e, err := a.Scenes.Endpoint(ctx, in.ID)
	return resulting(e, err, wireEndpoint)
}

func (a *api) createEndpoint(ctx context.Context, in *struct{ Body NewEndpoint }) (*body[Endpoint], error) {
	b := in.Body
	e, err := a.Scenes.CreateEndpoint(ctx, scene.Endpoint{
		URL: b.URL, Key: b.Key, Mode: or(b.Mode.Opt, "chat"), Proxy: b.Proxy, Provider: or(b.Provider.Opt, ""),
	})
	return resulting(e, err, wireEndpoint)
}

func (a *api) changeEndpoint(ctx context.Context, in *struct {
	ByID
	Body EndpointChange
}) (*body[Endpoint], error) {
	b := in.Body
	e, err := a.Scenes.ChangeEndpoint(ctx, in.ID, scene.EndpointChange{
		URL: value(b.URL), Key: value(b.Key), Mode: value(b.Mode.Opt), Proxy: value(b.Proxy),
		Provider: value(b.Provider.Opt), WriterConfig: clearable(b.WriterConfig), AgentConfig: clearable(b.AgentConfig),
	})
	return resulting(e, err, wireEndpoint)
}

func (a *api) deleteEndpoint(ctx context.Context, in *ByID) (*body[Done], error) {
	return done(), a.Scenes.DeleteEndpoint(ctx, in.ID)
}

// Found is a model server on this machine.
type Found struct {
	Name   string   `json:"name"`
	URL    string   `json:"url" doc:"As creating an endpoint takes it"`
	Models []string `json:"models"`
}

func (a *api) findEndpoints(ctx context.Context, _ *struct{}) (*body[[]Found], error) {
	return results(catalog.Found(ctx, a.HTTP), nil, func(s catalog.Server) Found { return Found(s) })
}

// Check is what came of asking an endpoint for its models.
type Check struct {
	OK     bool     `json:"ok"`
	Detail string   `json:"detail" doc:"What went wrong, or how many models there are"`
	Models []string `json:"models"`
}

func (a *api) testEndpoint(ctx context.Context, in *ByID) (*body[Check], error) {
	e, err := a.Scenes.Endpoint(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	models, err := catalog.List(ctx, through(a.HTTP, e.Proxy), e.URL, e.Key)
	if err != nil {
		detail := sentence(err)
		if e.Key != "" { // servers like to quote it
			detail = strings.ReplaceAll(detail, e.Key, "…")
		}
		return &body[Check]{Check{Detail: detail}}, nil
	}
	return &body[Check]{Check{OK: true, Detail: "it answers", Models: models}}, nil
}

// through sends requests by way of a proxy. A transport that is not Go's own
// has its own way.
func through(rt http.RoundTripper, proxy string) http.RoundTripper {
	own, ok := rt.(*http.Transport)
	u, err := url.Parse(proxy)
	if !ok || proxy == "" || err != nil {
		return rt
	}
	own = own.Clone()
	own.Proxy = http.ProxyURL(u)
	own.DisableKeepAlives = true // it is used once
	return own
}
