package chat_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/llmtest"
)

func TestStatus(t *testing.T) {
	const date = "Mon, 02 Nov 2026 10:00:00 GMT"
	long := strings.Repeat("é", 400)
	tests := []struct {
		name    string
		status  int
		header  map[string]string
		body    string
		kind    llm.Kind
		message string
		hint    string
		wait    time.Duration
	}{
		{"401", 401, nil, `{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}`, llm.Denied, "Incorrect API key", "THE_KEY", 0},
		{"403", 403, nil, ``, llm.Denied, "the server answered 403 Forbidden", "THE_KEY", 0},
		{"404 of a model", 404, nil, `{"error":{"message":"model 'm' not found, try pulling it first","type":"api_error"}}`, llm.NoModel, "model 'm' not found, try pulling it first", `"m"`, 0},
		{"404 of a path", 404, nil, "404 page not found\n", llm.NoModel, "404 page not found", "base_url", 0},
		{"400 of a model", 400, nil, `{"error":{"message":"no such model","code":"model_not_found"}}`, llm.NoModel, "no such model", `"m"`, 0},
		{"400", 400, nil, `{"error":"too many\n  stop strings"}`, llm.Rejected, "too many stop strings", "", 0},
		{"400 of OpenAI, full", 400, nil, `{"error":{"message":"maximum context length","type":"invalid_request_error","code":"context_length_exceeded"}}`, llm.Overfull, "maximum context length", "larger context", 0},
		{"400 of llama.cpp, full", 400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`, llm.Overfull, "exceeds", "larger context", 0},
		{"402", 402, nil, `{"detail":"no credits"}`, llm.Rejected, "no credits", "", 0},
		{"408", 408, nil, `{}`, llm.TimedOut, "the server answered 408 Request Timeout", "", 0},
		{"413 of a proxy", 413, map[string]string{"Content-Type": "text/html"}, "<html>too large</html>", llm.Rejected, "the server answered 413 Request Entity Too Large", "", 0},
		{"429 seconds", 429, map[string]string{"Retry-After": "7"}, `[{"error":{"message":"slow","code":429}}]`, llm.RateLimited, "slow", "", 7 * time.Second},
		{"429 fraction", 429, map[string]string{"Retry-After": "0.5"}, ``, llm.RateLimited, "", "", 500 * time.Millisecond},
		{"429 date", 429, map[string]string{"Retry-After": "Mon, 02 Nov 2026 10:01:30 GMT", "Date": date}, ``, llm.RateLimited, "", "", 90 * time.Second},
		{"429 past date", 429, map[string]string{"Retry-After": "Mon, 02 Nov 2026 09:00:00 GMT", "Date": date}, ``, llm.RateLimited, "", "", 0},
		{"429 nonsense", 429, map[string]string{"Retry-After": "soon"}, ``, llm.RateLimited, "", "", 0},
		{"429 not a number", 429, map[string]string{"Retry-After": "NaN"}, ``, llm.RateLimited, "", "", 0},
		{"429 for ever", 429, map[string]string{"Retry-After": "1e300"}, ``, llm.RateLimited, "", "", 24 * time.Hour},
		{"429 negative", 429, map[string]string{"Retry-After": "-5"}, ``, llm.RateLimited, "", "", 0},
		{"429 of the quota", 429, nil, `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`, llm.Rejected, "You exceeded your quota", "", 0},
		{"500", 500, nil, `{"error":{"code":500,"message":"out of memory","type":"server_error"}}`, llm.Overloaded, "out of memory", "", 0},
		{"503", 503, nil, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.Overloaded, "Loading model", "", 0},
		{"529", 529, nil, `{"message":"overloaded"}`, llm.Overloaded, "overloaded", "", 0},
		{"long text", 500, nil, long, llm.Overloaded, long[:2*248] + "…", "", 0},
		{"not UTF-8", 500, nil, "\xff\xfe oops", llm.Overloaded, "\uFFFD oops", "", 0},
		{"redirect", 307, map[string]string{"Location": "https://elsewhere.example/v1"}, ``, llm.Rejected, "307", "https://elsewhere.example", 0},
		{"redirect to nowhere", 301, nil, ``, llm.Rejected, "301", "base_url", 0},
		{"no content", 204, nil, ``, llm.Rejected, "204", "base_url", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for k, v := range tt.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			g := read(t, chat.New(chat.Config{Provider: "p", BaseURL: server.URL, Key: "k", KeyEnv: "THE_KEY"}), hello())
			e := g.Err
			if e == nil {
				t.Fatal("no error")
			}
			if e.Kind != tt.kind || e.Status != tt.status || e.RetryAfter != tt.wait || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("kind %q, status %d, wait %v, hint %q", e.Kind, e.Status, e.RetryAfter, e.Hint)
			}
			if !strings.Contains(e.Message, tt.message) || e.Message == "" || len(e.Message) > 500 {
				t.Errorf("message %q", e.Message)
			}
		})
	}
}

// Servers quote the key that they refuse, as a status and within a stream.
func TestErrorsHideTheKey(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusOK} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`, see the docs"}}`)
		}))
		defer server.Close()
		g := read(t, chat.New(chat.Config{Provider: "p", BaseURL: server.URL, Key: "sk-0123456789"}), hello())
		if g.Err == nil || g.Err.Message != "Incorrect API key provided: …, see the docs" {
			t.Errorf("%d: error %v", status, g.Err)
		}
	}
}

// TestRedirectKeepsTheKey: the key never goes to where a server points.
func TestRedirectKeepsTheKey(t *testing.T) {
	other := llmtest.NewServer()
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/chat/completions", http.StatusTemporaryRedirect))
	defer server.Close()
	read(t, chat.New(chat.Config{BaseURL: server.URL, Key: "k"}), hello())
	if n := len(other.Requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestUnreachable(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close() // now nobody listens there
	g := read(t, chat.New(chat.Config{BaseURL: "http://user:word@" + address}), hello())
	if e := g.Err; e == nil || e.Kind != llm.NoServer || e.Retryable() || !strings.Contains(e.Message, address) || !strings.Contains(e.Hint, "is the server running at http://"+address) || strings.Contains(e.Message+e.Hint, "word") {
		t.Errorf("error %#v", e)
	}

	server := llmtest.NewServer()
	defer server.Close()
	for model, kind := range map[string]llm.Kind{"refuse": llm.Unreachable, "reset": llm.Broken, "cut": llm.Broken, "eof": llm.Broken} {
		req := hello()
		req.Model = model
		if g := read(t, chat.New(chat.Config{BaseURL: server.URL}), req); g.Err == nil || g.Err.Kind != kind || !g.Err.Retryable() {
			t.Errorf("%s: error %#v", model, g.Err)
		}
	}

	late := &http.Transport{ResponseHeaderTimeout: time.Millisecond}
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	if g := read(t, chat.New(chat.Config{BaseURL: silent.URL, Transport: late}), hello()); g.Err == nil || g.Err.Kind != llm.TimedOut {
		t.Errorf("silent: error %#v", g.Err)
	}

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	if g := read(t, chat.New(chat.Config{BaseURL: secure.URL}), hello()); g.Err == nil || g.Err.Kind != llm.Rejected {
		t.Errorf("untrusted: error %#v", g.Err)
	}
}

// TestWordsOfTheNetwork: errors say what happened, and not how Go came by it;
// hints name the setting as it is called where people set it.
func TestWordsOfTheNetwork(t *testing.T) {
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	op := func(name string, err error) error {
		return &net.OpError{Op: name, Net: "tcp", Source: here, Addr: here, Err: err}
	}
	for want, err := range map[string]error{
		"connection reset by peer":                op("read", os.NewSyscallError("read", syscall.ECONNRESET)),
		"connection refused":                      op("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"the proxy: connection refused":           op("proxyconnect", op("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED))),
		"no such host":                            op("dial", &net.DNSError{Err: "no such host", Name: "m.example", Server: "127.0.0.53:53", IsNotFound: true}),
		"it took too long":                        op("dial", os.ErrDeadlineExceeded),
		"it closed the connection":                io.EOF,
		"it speaks http, not https":               http.ErrSchemeMismatch,
		"certificate signed by unknown authority": &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"something else":                          errors.New("something else"),
	} {
		carrier := transport(func(*http.Request) (*http.Response, error) { return nil, err })
		g := read(t, chat.New(chat.Config{BaseURL: "http://m.example/v1", Setting: "the endpoint's URL", Transport: carrier}), hello())
		if g.Err == nil || g.Err.Message != "no answer from http://m.example: "+want {
			t.Errorf("error %v, want %q", g.Err, want)
		} else if h, proxy := g.Err.Hint, strings.HasPrefix(want, "the proxy"); proxy == strings.Contains(h, "the endpoint's URL") || proxy != strings.Contains(h, "the proxy") {
			t.Errorf("%s: hint %q", want, h)
		}
		if errors.Is(err, http.ErrSchemeMismatch) && (g.Err.Kind != llm.Rejected || !strings.Contains(g.Err.Hint, "http instead of https")) {
			t.Errorf("asking again does not help: %v, %s", g.Err.Kind, g.Err.Hint)
		}
	}
}

// FuzzAnswer: whatever a server answers, there is one end, and it does not
// depend on how the bytes arrive.
func FuzzAnswer(f *testing.F) {
	f.Add(delta(`"content":"<think>a</think>b"`)+finish("stop")+done, byte(3))
	f.Add(delta(`"tool_calls":[{"id":"","function":{"name":"f","arguments":{}}}]`)+done, byte(1))
	f.Add(`data: {"error":{"code":429,"message":"slow"}}`+"\r\r", byte(2))
	f.Add(`{"choices":[{"message":{"content":"Hi","reasoning_details":[{"type":"reasoning.text","text":"a"},{"text":"b"}]}}],"timings":{"cache_n":1e400}}`, byte(1))
	f.Fuzz(func(t *testing.T, text string, size byte) {
		req := hello()
		req.Params.Stop = []string{"1", "2", "3", "4", "ab", "b"}
		var all [2]got
		for i, r := range []io.Reader{strings.NewReader(text), &pieces{text, int(size)%7 + 1}} {
			m := chat.New(chat.Config{Key: "k", Dialect: dialect(t, "openai"), Transport: answering(r)})
			all[i] = read(t, m, req)
			if e := all[i].Err; e != nil {
				e.Err = nil
			}
		}
		if diff := cmp.Diff(all[0], all[1]); diff != "" {
			t.Errorf("(-whole +pieces of %d):\n%s", size, diff)
		}
		if all[0].Finish != "" && !strings.Contains(text, "[DONE]") && !strings.Contains(text, "{") {
			t.Errorf("finish %q out of nothing", all[0].Finish)
		}
	})
}

// pieces is a reader that gives at most n bytes at a time.
type pieces struct {
	rest string
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.n, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

// BenchmarkChunk is what one streamed chunk costs between the connection and
// whoever ranges over the answer.
func BenchmarkChunk(b *testing.B) {
	const chunks = 1000
	text := strings.Repeat(delta(`"role":"assistant","content":" word"`), chunks) + finish("stop") + done
	for b.Loop() {
		carrier := answering(strings.NewReader(text))
		m := chat.New(chat.Config{BaseURL: "http://127.0.0.1:1", Transport: carrier})
		for _, err := range m.Stream(b.Context(), hello()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}

// TestCalledWebPage: the content type decides only where the body speaks no
// protocol, for some servers call every answer a page.
func TestCalledWebPage(t *testing.T) {
	tests := []struct {
		name, body string
		kind       llm.Kind // empty for a whole answer
	}{
		{"a page without a tag", "Welcome to our site\n", llm.Rejected},
		{"nothing", "", llm.Rejected},
		{"an answer", delta(`"content":"Hi"`) + finish("stop") + done, ""},
		{"half an answer", delta(`"content":"Hi"`), llm.Broken},
		{"an error in words", `data: {"error":"model exploded"}` + "\n\n", llm.Broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			carrier := transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
					Body: io.NopCloser(strings.NewReader(tt.body)),
				}, nil
			})
			g := read(t, chat.New(chat.Config{Provider: "p", BaseURL: "http://127.0.0.1:1", Transport: carrier}), hello())
			switch {
			case tt.kind == "" && g.Err == nil:
			case g.Err == nil || g.Err.Kind != tt.kind:
				t.Errorf("error %v, want %q", g.Err, tt.kind)
			case (g.Err.Kind == llm.Rejected) != strings.Contains(g.Err.Hint, "base_url"):
				t.Errorf("hint %q", g.Err.Hint)
			}
		})
	}
}
