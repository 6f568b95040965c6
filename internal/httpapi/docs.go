package httpapi

import (
	"encoding/json"
	"net/http"
)

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
}
