package httpapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// frame is an API with only the routes that a test gives it.
func frame(t *testing.T) *api {
	t.Helper()
	return newAPI(Config{Version: "test", Log: slog.New(slog.DiscardHandler)})
}

type echoIn struct {
	ID    int64  `path:"id"`
	Query string `query:"q"`
	IfMatch
	Body struct {
		Name    string               `json:"name" minLength:"1"`
		Note    Opt[string]          `json:"note,omitzero" maxLength:"5"`
		Mode    Enum[scene.TurnMode] `json:"mode,omitzero" enum:"manual,round_robin,director"`
		Muted   Flag                 `json:"muted,omitempty"`
		Loud    Opt[Flag]            `json:"loud,omitzero"`
		Members []struct {
			Kind Enum[scene.MemberKind] `json:"kind,omitzero" enum:"character,narrator"`
		} `json:"members,omitempty"`
	}
}

type echoOut struct {
	ETag string `header:"ETag"`
	Body struct {
		Name  string   `json:"name"`
		Set   bool     `json:"set"`
		Null  bool     `json:"null"`
		Mode  string   `json:"mode"`
		Muted Flag     `json:"muted"`
		List  []string `json:"list"`
	}
}

func echo(_ context.Context, in *echoIn) (*echoOut, error) {
	rev, err := in.revision()
	if err != nil {
		return nil, err
	}
	out := &echoOut{}
	if rev != nil {
		out.ETag = etag(*rev)
	}
	out.Body.Name, out.Body.Muted = in.Body.Name, in.Body.Muted
	out.Body.Set, out.Body.Null = in.Body.Note.Set, in.Body.Note.Null
	out.Body.Mode = string(in.Body.Mode.V)
	return out, nil
}

// TestBodies is the contract of every body.
func TestBodies(t *testing.T) {
	a := frame(t)
	route(a, http.MethodPut, "/echo/{id}", "echo", "Echo", echo)
	ok := func(set, null, mode, muted string) string {
		return `{"name":"n","set":` + set + `,"null":` + null + `,"mode":"` + mode + `","muted":` + muted + `,"list":[]}`
	}
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"plain", `{"name":"n"}`, 200, ok("false", "false", "", "0")},
		{"unknown fields", `{"name":"n","x":{"y":[1]}}`, 200, ok("false", "false", "", "0")},
		{"null is not absent", `{"name":"n","note":null}`, 200, ok("true", "true", "", "0")},
		{"empty is neither", `{"name":"n","note":""}`, 200, ok("true", "false", "", "0")},
		{"flag as a number", `{"name":"n","muted":1}`, 200, ok("false", "false", "", "1")},
		{"flag as a boolean", `{"name":"n","muted":true}`, 200, ok("false", "false", "", "1")},
		{"flag as null", `{"name":"n","muted":null}`, 200, ok("false", "false", "", "0")},
		{"flag as 2", `{"name":"n","muted":2}`, 422, `{"detail":[{"loc":["body","muted"],"msg":"expected value to match exactly one schema but matched none"}]}`},
		{"enum", `{"name":"n","mode":"manual"}`, 200, ok("false", "false", "manual", "0")},
		{"outside the enum", `{"name":"n","mode":"loud"}`, 422, `{"detail":[{"loc":["body","mode"],"msg":"expected value to be one of \"manual, round_robin, director\""}]}`},
		{"null in an enum", `{"name":"n","mode":null}`, 422, `{"detail":[{"loc":["body","mode"],"msg":"null is none of the values"}]}`},
		{"null in a nested enum", `{"name":"n","members":[{},{"kind":null}]}`, 422, `{"detail":[{"loc":["body","members",1,"kind"],"msg":"null is none of the values"}]}`},
		{"missing", `{}`, 422, `{"detail":[{"loc":["body"],"msg":"expected required property name to be present"}]}`},
		{"null where something is needed", `{"name":null}`, 422, `{"detail":[{"loc":["body","name"],"msg":"expected string"}]}`},
		{"null for a list", `{"name":"n","members":null}`, 200, ok("false", "false", "", "0")},
		{"a flag that may be absent", `{"name":"n","loud":true}`, 200, ok("false", "false", "", "0")},
		{"and null", `{"name":"n","loud":null}`, 200, ok("false", "false", "", "0")},
		{"and neither", `{"name":"n","loud":"x"}`, 422, `{"detail":[{"loc":["body","loud"],"msg":"expected value to match exactly one schema but matched none"}]}`},
		{"too long", `{"name":"n","note":"123456"}`, 422, `{"detail":[{"loc":["body","note"],"msg":"expected length <= 5"}]}`},
		{"no JSON", `{"name":`, 422, `{"detail":[{"loc":["body"],"msg":"this is no JSON: at byte 8, unexpected end of JSON input"}]}`},
		{"no body", ``, 422, `{"detail":[{"loc":["body"],"msg":"request body is required"}]}`},
		{"a list", `[]`, 422, `{"detail":[{"loc":["body"],"msg":"expected object"}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(a, http.MethodPut, "/api/echo/7", strings.NewReader(tt.body))
			if got := strings.TrimSpace(w.Body.String()); w.Code != tt.status || got != tt.want {
				t.Errorf("%d %s\nwant %d %s", w.Code, got, tt.status, tt.want)
			}
			if ct := w.Header().Get("Content-Type"); ct != "application/json" {
				t.Errorf("content type %q", ct)
			}
		})
	}
}

func ask(h http.Handler, method, target string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, body)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestErrorsAreOurs(t *testing.T) {
	a := frame(t)
	route(a, http.MethodPut, "/echo/{id}", "echo", "Echo", echo)
	route(a, http.MethodGet, "/fail/{code}", "fail", "Fail", func(_ context.Context, in *struct {
		Code string `path:"code"`
	}) (*struct{}, error) {
		return nil, fault.New(fault.Code(in.Code), "this failed").WithHint("do that")
	})
	for _, tt := range []struct {
		method, target, body string
		header               []string
		status               int
		want                 string
	}{
		{"GET", "/api/fail/not_found", "", nil, 404, `{"detail":"this failed: do that"}`},
		{"GET", "/api/fail/invalid", "", nil, 400, `{"detail":"this failed: do that"}`},
		{"GET", "/api/fail/conflict", "", nil, 409, `{"detail":"this failed: do that"}`},
		{"GET", "/api/fail/busy", "", nil, 409, `{"detail":"this failed: do that","code":"busy"}`},
		{"GET", "/api/fail/provider", "", nil, 502, `{"detail":"this failed: do that"}`},
		{"GET", "/api/fail/storage", "", nil, 507, `{"detail":"jp cannot write to its disk and nothing of this was saved: make room there and try again; the log says more"}`},
		{"PUT", "/api/echo/x", `{"name":"n"}`, nil, 422, `{"detail":[{"loc":["path","id"],"msg":"invalid integer"}]}`},
		{"PUT", "/api/echo/1", `{"name":"n"}`, []string{"If-Match", "new"}, 422, `{"detail":[{"loc":["header","If-Match"],"msg":"this is no revision"}]}`},
		{"PUT", "/api/echo/1", `name=n`, []string{"Content-Type", "text/plain"}, 422, `{"detail":[{"loc":["header","Content-Type"],"msg":"send the body as application/json"}]}`},
		{"PUT", "/api/echo/1", `{"name":"` + strings.Repeat("n", 1<<20) + `"}`, nil, 413, `{"detail":"the body is larger than 1048576 bytes"}`},
		{"POST", "/api/echo/1", `{}`, nil, 405, `{"detail":"this route does not take POST"}`},
		{"<b>", "/api/echo/1", `{}`, nil, 405, `{"detail":"this route does not take that method"}`},
		{"GET", "/api/nothing", "", nil, 404, `{"detail":"there is no such route"}`},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", tt.target, strings.NewReader(tt.body))
		r.Method = tt.method
		for i := 0; i < len(tt.header); i += 2 {
			r.Header.Set(tt.header[i], tt.header[i+1])
		}
		a.ServeHTTP(w, r)
		if got := strings.TrimSpace(w.Body.String()); w.Code != tt.status || got != tt.want {
			t.Errorf("%s %s %q: %d %s\nwant %d %s", tt.method, tt.target, tt.header, w.Code, got, tt.status, tt.want)
		}
		if ct := w.Header().Get("Content-Type"); ct != "application/json" {
			t.Errorf("%s %s: content type %q", tt.method, tt.target, ct)
		}
	}
}

func TestRevisions(t *testing.T) {
	a := frame(t)
	route(a, http.MethodPut, "/echo/{id}", "echo", "Echo", echo)
	for sent, want := range map[string]string{`"3"`: `"3"`, `3`: `"3"`, `W/"3"`: `"3"`, `*`: "", "": ""} {
		w := ask(a, http.MethodPut, "/api/echo/1", strings.NewReader(`{"name":"n"}`), "If-Match", sent)
		if got := w.Header().Get("ETag"); w.Code != 200 || got != want {
			t.Errorf("If-Match %q: %d, ETag %q, want %q", sent, w.Code, got, want)
		}
	}
}

// TestBodyLimit sends bodies around the limit with and without a length.
func TestBodyLimit(t *testing.T) {
	a := frame(t)
	type in struct {
		RawBody huma.MultipartFormFiles[struct {
			File huma.FormFile `form:"file" required:"true"`
		}]
	}
	type out struct{ Body int }
	route(a, http.MethodPost, "/upload", "upload", "Upload", func(_ context.Context, in *in) (*out, error) {
		data, err := io.ReadAll(in.RawBody.Data().File)
		return &out{Body: len(data)}, err
	}, limit(64<<10))
	route(a, http.MethodPut, "/echo/{id}", "echo", "Echo", echo)
	form := func(size int) (*bytes.Buffer, string) {
		var buf bytes.Buffer
		mw := multipart.NewWriter(&buf)
		fw, _ := mw.CreateFormFile("file", "a.png")
		_, _ = fw.Write(make([]byte, size))
		_ = mw.Close()
		return &buf, mw.FormDataContentType()
	}
	for _, tt := range []struct{ size, status int }{{60 << 10, 200}, {70 << 10, 413}} {
		for _, length := range []bool{true, false} {
			buf, ct := form(tt.size)
			var body io.Reader = buf
			if !length {
				body = struct{ io.Reader }{buf}
			}
			if w := ask(a, http.MethodPost, "/api/upload", body, "Content-Type", ct); w.Code != tt.status {
				t.Errorf("%d bytes, length told %t: %d %s", tt.size, length, w.Code, w.Body)
			}
		}
	}
	for _, tt := range []struct{ size, status int }{{1 << 20, 200}, {1<<20 + 1, 413}} {
		text := `{"name":"n"` + strings.Repeat(" ", tt.size-12) + `}`
		w := ask(a, http.MethodPut, "/api/echo/1", struct{ io.Reader }{strings.NewReader(text)})
		if w.Code != tt.status {
			t.Errorf("%d bytes: %d %s", tt.size, w.Code, w.Body)
		}
	}
}

func TestFileNames(t *testing.T) {
	for in, want := range map[string]string{
		"Vera":                     `attachment; filename=Vera`,
		"../../etc/passwd":         `attachment; filename=_.._etc_passwd`,
		"a\r\nSet-Cookie: x=1.png": `attachment; filename="aSet-Cookie_ x=1.png"`,
		"":                         `attachment; filename=file`,
		"...":                      `attachment; filename=file`,
		`q"uote\`:                  `attachment; filename=q_uote_`,
		"Zoë":                      `attachment; filename=Zo_; filename*=utf-8''Zo%C3%AB`,
		"\u202egnp.exe":            `attachment; filename=gnp.exe`,
		"CON":                      `attachment; filename=_CON`,
		"lpt1 .tar.gz":             `attachment; filename="_lpt1 .tar.gz"`,
		"console.png":              `attachment; filename=console.png`,
		" a. . ":                   `attachment; filename=a`,
	} {
		if got := download(in, "image/png", nil).ContentDisposition; got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	for mediaType, want := range map[string]string{"image/png": "image/png", "text/html": "application/octet-stream", "image/svg+xml": "application/octet-stream"} {
		if f := stored("x", mediaType, nil); f.ContentType != want || (want == "image/png") != (f.ContentDisposition == "inline") {
			t.Errorf("%s goes out as %s, %s", mediaType, f.ContentType, f.ContentDisposition)
		}
	}
}
