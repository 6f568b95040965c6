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
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"jp/internal/lib/fanout"
	"jp/internal/lib/sse"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// Config is what the API works with.
type Config struct {
	Scenes  *scene.Service
	Runner  *pipeline.Runner // of the exchanges in Scenes
	Version string
	Log     *slog.Logger
	HTTP    http.RoundTripper // for asking model servers what they have

	Token      string    // asked for on everything, unless it is empty
	AllowHosts []string  // names of this server beside those of loopback
	Rand       io.Reader // for sessions; needed with a Token
	Now        func() time.Time
}

// New returns the web face: every route behind the guards.
func New(cfg Config) http.Handler {
	a := newAPI(cfg)
	g := newGuard(cfg, &sessions{rand: cfg.Rand}, a)
	g.pages(a.mux, cfg.Version)
	a.docs()
	return logged(cfg, hurried(cfg, g))
}

// api is one API while its routes are registered and served.
type api struct {
	Config
	mux     *http.ServeMux
	huma    huma.API
	streams *fanout.Topics[sse.Event] // by conversation
	tries   tries
}

// newAPI registers every route.
func newAPI(cfg Config) *api {
	hc := huma.DefaultConfig("jp", cfg.Version)
	hc.Info.Description = "Group chats: conversations with a cast, kept in families of forks. " +
		"Errors are {\"detail\": …}; times are UTC; flags are 0 or 1; unknown fields are ignored."
	hc.CreateHooks = nil // no $schema in bodies
	hc.DocsPath, hc.OpenAPIPath, hc.SchemasPath = "", "", ""
	hc.Components.Schemas = newSchemas()
	hc.AllowAdditionalPropertiesByDefault = true // unknown fields are ignored
	hc.Transformers = []huma.Transformer{detail}
	hc.Formats = jsonFormats()
	mux := http.NewServeMux()
	a := &api{Config: cfg, mux: mux, huma: humago.New(mux, hc), streams: newStreams()}
	if cfg.Now != nil {
		a.tries.serial = cfg.Now().UnixMilli() // other numbers than before a restart
	}
	a.huma.UseMiddleware(ours)
	a.routes()
	tidySchemas(a.huma.OpenAPI())
	return a
}

// ServeHTTP implements http.Handler. What no route takes is answered like any
// other error of the API.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, pattern := a.mux.Handler(r)
	if pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	said := &verdict{header: http.Header{}}
	handler.ServeHTTP(said, r)
	if allow := said.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
	}
	switch said.status {
	case http.StatusMethodNotAllowed:
		writeProblem(w, &Problem{Status: said.status, Detail: "this route does not take " + method(r)})
	default:
		writeProblem(w, &Problem{Status: http.StatusNotFound, Detail: "there is no such route"})
	}
}

// method is a request's method, which anybody can invent, fit for a sentence.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "that method"
}

// verdict keeps what the mux says about a request that no route takes.
type verdict struct {
	header http.Header
	status int
}

func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) WriteHeader(status int)      { v.status = status }
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }

// route registers one operation: in and out are structs as huma reads them.
// path is below /api and its first step is the operation's tag. Errors of serve
// become a status and a detail; nil slices of an answer go out as [].
func route[In, Out any](a *api, method, path, id, summary string, serve func(context.Context, *In) (*Out, error), with ...option) {
	op := huma.Operation{
		OperationID: id, Method: method, Path: "/api" + path, Summary: summary,
		Tags:         []string{firstStep(path)},
		MaxBodyBytes: defaultLimit,
		Responses:    map[string]*huma.Response{"default": problemResponse(a)},
	}
	for _, change := range with {
		change(&op)
	}
	limitBody(&op)
	huma.Register(a.huma, op, func(ctx context.Context, in *In) (*Out, error) {
		out, err := serve(ctx, in)
		if err != nil {
			return nil, a.refuse(ctx, err)
		}
		fillSlices(out)
		return out, nil
	})
}
