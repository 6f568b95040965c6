package httpapi

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
)

//go:embed page
var pageFiles embed.FS

// writePage answers with a page made from a file of the folder page.
func writePage(w http.ResponseWriter, status int, file string, data any) {
	page, err := template.ParseFS(pageFiles, "page/"+file)
	var body bytes.Buffer
	if err == nil {
		err = page.Execute(&body, data)
	}
	if err != nil { // the files are ours, so only a defect leads here
		writeProblem(w, &Problem{Status: http.StatusInternalServerError, Detail: "this page cannot be shown"})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w)
}

// pages registers what is not under /api.
func (g *guard) pages(mux *http.ServeMux, version string) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		writePage(w, http.StatusOK, "index.html", home{Version: version, Host: r.Host, Locked: g.locked})
	})
	mux.HandleFunc("GET /static/style.css", asset(pageFiles, "page/style.css"))
	mux.HandleFunc("GET /login", g.getLogin)
	mux.HandleFunc("POST /login", g.postLogin)
	mux.HandleFunc("POST /logout", g.postLogout)
}

// home is what the first page shows.
type home struct {
	Version string
	Host    string // as the browser knows this server
	Locked  bool   // it can be logged out of
}
