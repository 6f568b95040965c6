package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"jp/internal/scene"
)

// flags takes "-name value" pairs from the front of args.
func flags(ts *testscript.TestScript, args []string, known ...string) (map[string]string, []string) {
	set := map[string]string{}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		name := args[0][1:]
		if !slices.Contains(known, name) {
			ts.Fatalf("no flag -%s", name)
		}
		set[name] = expand(ts, args[1])
		args = args[2:]
	}
	return set, args
}

// optional is nil for a flag that was not given.
func optional(set map[string]string, name string) *string {
	if v, ok := set[name]; ok {
		return &v
	}
	return nil
}

func number(ts *testscript.TestScript, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	ts.Check(err)
	return n
}

// say stands in for people and models: what they said, as the exchange
// stores it.
func say(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: say CONVERSATION ROLE [-flag VALUE…] TEXT")
	}
	set, rest := flags(ts, args[2:], "by", "parent", "exchange", "turn", "author", "file", "as",
		"incomplete", "direction", "draft", "cut")
	m := scene.NewMessage{
		Role:        scene.Role(args[1]),
		Content:     expand(ts, strings.Join(rest, " ")),
		SpeakerID:   optional(set, "by"),
		ExchangeID:  optional(set, "exchange"),
		Author:      set["author"],
		Incomplete:  set["incomplete"],
		Direction:   set["direction"],
		WriterDraft: optional(set, "draft"),
	}
	if v, ok := set["cut"]; ok {
		m.Cut = &scene.Cut{Label: v, Removed: v + " …"}
	}
	if v, ok := set["turn"]; ok {
		turn := int(number(ts, v))
		m.TurnIndex = &turn
	}
	if v, ok := set["parent"]; ok {
		m.Parent = scene.To[*int64](nil)
		if v != "none" {
			id := number(ts, v)
			m.Parent = scene.To(&id)
		}
	}
	if v, ok := set["file"]; ok { // NAME;MIME;FILE
		part := strings.Split(v, ";")
		data := []byte(ts.ReadFile(part[2]))
		m.Uploads = append(m.Uploads, scene.NewUpload{MIME: part[1], Filename: part[0], Data: data})
	}
	said, err := in(ts).scenes.Append(context.Background(), args[0], m)
	if neg == (err == nil) {
		ts.Fatalf("say: %v", err)
	}
	if name, ok := set["as"]; ok {
		ts.Setenv(name, strconv.FormatInt(said.ID, 10))
	}
}

func propose(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: propose CONVERSATION MEMBER [-flag VALUE…] SHEET")
	}
	set, rest := flags(ts, args[2:], "exchange", "summary", "as")
	p, err := in(ts).scenes.Propose(context.Background(), args[0], scene.NewProposal{
		MemberID:   args[1],
		ExchangeID: set["exchange"],
		Sheet:      expand(ts, strings.Join(rest, " ")),
		Summary:    set["summary"],
	})
	if neg == (err == nil) {
		ts.Fatalf("propose: %v", err)
	}
	if name, ok := set["as"]; ok {
		ts.Setenv(name, strconv.FormatInt(p.ID, 10))
	}
}

func upload(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: upload METHOD PATH FIELD=@FILE[;NAME] | FIELD=TEXT …")
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, arg := range args[2:] {
		field, value, _ := strings.Cut(arg, "=")
		path, isFile := strings.CutPrefix(value, "@")
		if !isFile {
			ts.Check(form.WriteField(field, expand(ts, value)))
			continue
		}
		path, name, given := strings.Cut(path, ";")
		if !given {
			name = path
		}
		part, err := form.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {multipart.FileContentDisposition(field, name)},
			"Content-Type":        {"application/octet-stream"},
		})
		ts.Check(err)
		_, err = part.Write([]byte(ts.ReadFile(path)))
		ts.Check(err)
	}
	ts.Check(form.Close())
	in(ts).do(ts, args[0], args[1], http.Header{"Content-Type": {form.FormDataContentType()}}, body.Bytes())
}

// servers are the model servers of a script: none answers until it is told to.
type servers struct {
	mu      sync.Mutex
	answers map[string][]byte
}

func (s *servers) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.answers[r.URL.String()]
	if !ok {
		return nil, syscall.ECONNREFUSED
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
		Request:    r,
	}, nil
}

func answer(ts *testscript.TestScript, neg bool, args []string) {
	s := in(ts).servers
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[args[0]] = []byte(ts.ReadFile(args[1]))
}

// visits are the requests that scripts made and that succeeded.
type visits struct {
	mu      sync.Mutex
	scripts int
	paths   map[string]map[string]bool // method, path
}

var ran = visits{paths: map[string]map[string]bool{}}

func (v *visits) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.scripts++
}

func (v *visits) note(method, path string, status int) {
	if status >= 400 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.paths[method] == nil {
		v.paths[method] = map[string]bool{}
	}
	v.paths[method][path] = true
}

// served tells whether a request was answered by the operation at a path with
// {parameters}. A path without parameters at that place belongs to another
// operation, literals before parameters as in http.ServeMux.
func (v *visits) served(method, pattern string, all []string) bool {
	for path := range v.paths[method] {
		if fits(pattern, path) && !slices.ContainsFunc(all, func(other string) bool {
			return other != pattern && fits(other, path) && narrower(other, pattern)
		}) {
			return true
		}
	}
	return false
}

func fits(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

func narrower(a, b string) bool { return strings.Count(a, "{") < strings.Count(b, "{") }

// TestScenariosCoverRoutes runs after the scripts and fails for every
// operation of the API that none of them made succeed.
func TestScenariosCoverRoutes(t *testing.T) {
	scripts, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil || ran.scripts < len(scripts) {
		t.Skip("only some of the scripts ran")
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	answer := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/api/openapi.json", nil)
	r.Host = loopback
	w.handler.ServeHTTP(answer, r)
	if err := json.Unmarshal(answer.Body.Bytes(), &doc); err != nil || len(doc.Paths) == 0 {
		t.Fatalf("the description of the API: %v: %s", err, answer.Body)
	}
	byMethod := map[string][]string{}
	for path, operations := range doc.Paths {
		for method := range operations {
			byMethod[strings.ToUpper(method)] = append(byMethod[strings.ToUpper(method)], path)
		}
	}
	for method, paths := range byMethod {
		for _, path := range paths {
			if !ran.served(method, path, paths) {
				t.Errorf("no scenario runs %s %s", method, path)
			}
		}
	}
}
