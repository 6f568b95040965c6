// Package httpapi is the web face: the routes under /api, their wire types,
// the event stream, and the guards in front of them.
//
// It decodes, calls scene.Service and encodes; it holds no rule about scenes.
// The Go types here are the one description of the API: OpenAPI and the page's
// TypeScript types are generated from them. Every error is {"detail": …}, the
// status follows from the error's code by one table. Nothing from a request
// reaches a path, a header or a page unfiltered.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"jp/internal/scene"
)

// Config is what the API works with.
type Config struct {
	Scenes  *scene.Service
	Version string
	Log     *slog.Logger
	HTTP    http.RoundTripper // for asking model servers what they have
}

// api is one API while its routes are registered and served.
type api struct {
	Config
	huma huma.API
}

// newAPI registers every route on mux.
func newAPI(cfg Config, mux *http.ServeMux) *api {
	hc := huma.DefaultConfig("jp", cfg.Version)
	hc.CreateHooks = nil // no $schema in bodies
	hc.DocsPath, hc.OpenAPIPath, hc.SchemasPath = "", "", ""
	// Unknown fields are ignored and, in bodies, what is not required may be
	// left out.
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	hc.Components.Schemas = registry
	hc.Transformers = []huma.Transformer{detail}
	a := &api{Config: cfg, huma: humago.New(mux, hc)}
	return a
}

// route registers one operation: in and out are structs as huma reads them.
// Errors of serve become a status and a detail.
func route[In, Out any](a *api, method, path, id, summary string, serve func(context.Context, *In) (*Out, error), with ...func(*huma.Operation)) {
	op := huma.Operation{OperationID: id, Method: method, Path: "/api" + path, Summary: summary}
	for _, change := range with {
		change(&op)
	}
	huma.Register(a.huma, op, func(ctx context.Context, in *In) (*Out, error) {
		out, err := serve(ctx, in)
		if err != nil {
			return nil, a.refuse(ctx, err)
		}
		return out, nil
	})
}
