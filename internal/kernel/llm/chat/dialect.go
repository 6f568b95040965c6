package chat

// Dialect is how one kind of server departs from the common protocol.
// DialectOf makes them; the zero value is a server that takes the protocol's
// core and nothing else.
type Dialect struct {
	base     string    // base URL when none is configured
	prefix   string    // path in front of /v1
	keyed    bool      // the server at base demands a key
	strict   bool      // chat templates want people and models in turn, people first
	inSystem bool      // documents go into the system message
	narrow   bool      // tool_choice cannot name a tool: send only that tool
	counts   bool      // usage has to be asked for
	topK     bool      // knows top_k
	stops    int       // most stop strings in a request; 0 is any number
	thinking thinking  // vocabulary of Params.Reasoning
	replay   reasoning // field that takes the speaker's own reasoning back
}

// thinking is a vocabulary for how long a model may think.
type thinking int

const (
	noThinking     thinking = iota
	templateSwitch          // llama.cpp: a switch of the chat template, no degrees
	openaiEffort            // reasoning_effort, up to xhigh
	ollamaEffort            // reasoning_effort: none, low, medium, high
	reasoningSpec           // reasoning: an object with an effort or a budget
)

// reasoning names a field of an assistant message.
type reasoning int

const (
	noReplay reasoning = iota
	replayContent
	replayDetails
)

// DialectOf returns the dialect of a provider id. Every other server that
// takes chat completions is "openai" with its own base URL.
func DialectOf(provider string) (Dialect, bool) {
	switch provider {
	case "llamacpp":
		return Dialect{
			base:   "http://127.0.0.1:8080",
			strict: true, inSystem: true, narrow: true, topK: true,
			thinking: templateSwitch, replay: replayContent,
		}, true
	case "ollama":
		return Dialect{
			base:   "http://localhost:11434",
			strict: true, inSystem: true, narrow: true, topK: true, counts: true,
			thinking: ollamaEffort,
		}, true
	case "openai":
		return Dialect{
			base: "https://" + openaiHost, keyed: true,
			counts: true, stops: 4, thinking: openaiEffort,
		}, true
	case "openrouter":
		return Dialect{
			base: "https://openrouter.ai", prefix: "/api", keyed: true,
			counts: true, topK: true, stops: 4, thinking: reasoningSpec, replay: replayDetails,
		}, true
	}
	return Dialect{}, false
}

// Alternating is the dialect for a server behind which there may be any chat
// template: people and models take turns in what it is sent, people first.
func (d Dialect) Alternating() Dialect {
	d.strict = true
	return d
}

// openaiHost is the one server whose newer models refuse max_tokens.
const openaiHost = "api.openai.com"
