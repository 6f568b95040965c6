package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/catalog"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/rehearsal"
	"jp/internal/lib/fault"
	"jp/internal/lib/host"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// models opens the models that scenes ask, all of them over one transport, or
// one for each proxy.
type models struct {
	http http.RoundTripper
	now  func() time.Time

	mu       sync.Mutex
	proxies  map[string]http.RoundTripper
	contexts map[string]held // by URL
}

var _ pipeline.Models = (*models)(nil)

// Rehearsal implements pipeline.Models.
func (*models) Rehearsal(name string) pipeline.Lane {
	return pipeline.Lane{Model: rehearsal.New(name), Name: rehearse + "/rehearsal"}
}

// Open implements pipeline.Models.
func (s *models) Open(e scene.Endpoint, m scene.ModelConfig) (pipeline.Lane, error) {
	server := serverOf(e)
	dialect, _ := chat.DialectOf(cmp.Or(server, "openai"))
	if server == "" {
		dialect = dialect.Alternating()
	}
	cfg := chat.Config{
		Provider: at(e.URL), BaseURL: e.URL, Setting: "the endpoint's URL", Key: e.Key, Headers: headersOf(m.ExtraHeaders),
		Dialect: dialect, Transport: s.through(e.Proxy),
	}
	if err := cfg.Check(); err != nil {
		return pipeline.Lane{}, fault.New(fault.Config, "%s: %w", e.URL, err).WithHint("mend the model server in the settings")
	}
	params, err := paramsOf(server, m)
	if err != nil {
		return pipeline.Lane{}, err
	}
	lane := pipeline.Lane{Model: chat.New(cfg), Name: m.Model, Params: params, Forcing: pipeline.ByTool}
	if server == "llamacpp" || server == "ollama" {
		lane.Forcing = pipeline.BySchema // they cannot name a tool, and have grammars
	}
	switch {
	case m.ContextSize != nil:
		lane.Window = *m.ContextSize
	case server == "llamacpp":
		lane.Asked = s.context(e, cfg.Transport)
	}
	return lane, nil
}

// contextKept is how long what a server said of its context counts: it is asked
// anew when it may have been started with another.
const contextKept = time.Minute

// held is what a server said of its context, and when.
type held struct {
	tokens int
	at     time.Time
}

// context asks a server for its context, once a minute at most.
func (s *models) context(e scene.Endpoint, rt http.RoundTripper) func(context.Context) int {
	return func(ctx context.Context) int {
		s.mu.Lock()
		h, known := s.contexts[e.URL]
		s.mu.Unlock()
		if known && s.now().Sub(h.at) < contextKept {
			return h.tokens
		}
		h = held{catalog.Context(ctx, rt, e.URL, e.Key), s.now()}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.contexts == nil {
			s.contexts = map[string]held{}
		}
		s.contexts[e.URL] = h
		return h.tokens
	}
}

// serverOf is what an endpoint's server is: as it says, else as its URL tells.
// Empty is any other server of the same protocol.
func serverOf(e scene.Endpoint) string {
	if e.Provider != "" {
		return e.Provider
	}
	u, _ := host.Parse(e.URL)
	switch {
	case u.Name == "api.openai.com":
		return "openai"
	case u.Name == "openrouter.ai":
		return "openrouter"
	case u.Port == "11434":
		return "ollama"
	case u.Port == "8080":
		return "llamacpp"
	}
	return ""
}

// at names a server in errors.
func at(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Host
}

// through is the transport by way of a proxy.
func (s *models) through(proxy string) http.RoundTripper {
	own, ok := s.http.(*http.Transport)
	to, err := url.Parse(proxy)
	if !ok || proxy == "" || err != nil {
		return s.http
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if rt, ok := s.proxies[proxy]; ok {
		return rt
	}
	if s.proxies == nil {
		s.proxies = map[string]http.RoundTripper{}
	}
	own = own.Clone()
	own.Proxy = http.ProxyURL(to)
	s.proxies[proxy] = own
	return own
}

// headersOf reads lines "Name: value".
func headersOf(lines string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(lines) {
		if name, value, found := strings.Cut(line, ":"); found {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out
}

// penalties is what servers call the repetition penalty. OpenAI refuses it, and
// Ollama's interface for this protocol does not know it.
var penalties = map[string]string{"llamacpp": "repeat_penalty", "openrouter": "repetition_penalty", "": "repetition_penalty"}

// paramsOf are the parameters of a model, as far as its server knows them.
// Errors: fault.Config for an extra field that every request has anyway.
func paramsOf(server string, m scene.ModelConfig) (llm.Params, error) {
	p := llm.Params{MaxTokens: m.MaxTokens, Temperature: m.Temperature, TopP: m.TopP, Extra: map[string]any{}}
	if name, ok := penalties[server]; ok {
		p.TopK = m.TopK
		if m.MinP != nil {
			p.Extra["min_p"] = *m.MinP
		}
		if m.RepetitionPenalty != nil {
			p.Extra[name] = *m.RepetitionPenalty
		}
	}
	switch effort, known := efforts[strings.ToLower(m.ReasoningEffort)]; {
	case known:
		p.Reasoning = effort
	default:
		p.Extra["reasoning_effort"] = m.ReasoningEffort // a word of the server's own
	}
	if m.ReasoningParam != "" {
		p.Extra[m.ReasoningParam] = jsonOr(m.ReasoningValue)
	}
	var extra map[string]any
	if strings.TrimSpace(m.ExtraBody) != "" {
		if err := json.Unmarshal([]byte(m.ExtraBody), &extra); err != nil {
			return p, fault.New(fault.Config, "the extra body of %s is no JSON object", m.Model).WithHint("mend it in the settings")
		}
	}
	maps.Copy(p.Extra, extra)
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		if chat.Fixed(name) {
			return p, fault.New(fault.Config, "%s is no parameter of %s: jp writes this field of a request itself", name, m.Model).
				WithHint("take it out of the model's settings")
		}
	}
	return p, nil
}

// efforts are the words for how long a model may think.
var efforts = map[string]llm.Effort{
	"": llm.EffortUnset, "auto": llm.EffortAuto, "none": llm.EffortOff, "off": llm.EffortOff,
	"minimal": llm.EffortXLow, "xlow": llm.EffortXLow, "low": llm.EffortLow, "medium": llm.EffortMedium,
	"high": llm.EffortHigh, "xhigh": llm.EffortXHigh, "max": llm.EffortMax,
}

// jsonOr is a value as it is written: JSON if it is, else a string.
func jsonOr(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}
