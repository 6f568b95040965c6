package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

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
