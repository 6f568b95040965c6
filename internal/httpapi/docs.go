package httpapi

import (
	"encoding/json"
	"io/fs"
	"net/http"

	swagger "github.com/swaggo/files/v2"
)

// viewer are the files that show the description in a browser; the module
// brings more than is given out.
var viewer = []string{"swagger-ui.css", "swagger-ui-bundle.js"}

// docs registers the description of the API and its page. It comes last: the
// description is made of the routes before it.
func (a *api) docs() {
	description, err := json.Marshal(a.huma.OpenAPI())
	a.mux.HandleFunc("GET /api/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		if err != nil {
			writeProblem(w, &Problem{Status: http.StatusInternalServerError, Detail: "the description cannot be made"})
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(description)
	})
	a.mux.HandleFunc("GET /api/docs", func(w http.ResponseWriter, _ *http.Request) {
		writePage(w, http.StatusOK, "docs.html", nil)
	})
	a.mux.HandleFunc("GET /api/docs/start.js", asset(pageFiles, "page/start.js"))
	for _, name := range viewer {
		a.mux.HandleFunc("GET /api/docs/"+name, asset(swagger.FS, name))
	}
}

// asset gives out a file that belongs to this build.
func asset(files fs.FS, path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeFileFS(w, r, files, path)
	}
}
