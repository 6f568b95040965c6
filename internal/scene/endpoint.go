package scene

// Where an endpoint comes from.
const (
	SourceDatabase = "database"
	SourceConfig   = "config"
	SourceEnv      = "env"
)

// Lane is what a model is used for.
type Lane string

// The lanes: Writer writes replies, Agent plans, edits, drafts and sums up.
const (
	LaneWriter Lane = "writer"
	LaneAgent  Lane = "agent"
)

// Providers are the servers whose ways are known.
func Providers() []string { return []string{"openai", "openrouter", "llamacpp", "ollama"} }

// Endpoint is a server of models. Keys never leave the program: whoever
// answers requests says only whether there is one.
type Endpoint struct {
	ID     string
	Source string // SourceDatabase, or a standing one that is not stored
	URL    string // up to and including /v1
	Key    string
	Mode   string // chat
	// Provider is what the server is, of Providers; empty is told from the URL.
	Provider string
	Proxy    string // empty, or an http, https or socks5 URL
	// The configs in use, one for each lane; nil when there is none.
	WriterConfig *string
	AgentConfig  *string
}

// ModelConfig is a model of an endpoint with its parameters. nil is not sent.
type ModelConfig struct {
	ID                string
	EndpointID        string
	Lane              Lane
	Model             string
	SystemPrompt      string
	Temperature       *float64
	MinP              *float64
	TopK              *int
	TopP              *float64
	RepetitionPenalty *float64
	MaxTokens         *int
	ContextSize       *int // tokens that the model holds; nil is told by the server, or unknown
	ReasoningEffort   string
	ReasoningParam    string
	ReasoningValue    string
	ExtraHeaders      string // lines "Name: value"
	ExtraBody         string // a JSON object, or empty
}

// InUse is the endpoint of a choice: the one that is named, or without a name
// the only one with a model. false when there is none, or it is gone.
func InUse(all []Endpoint, id *string) (Endpoint, bool) {
	var found []Endpoint
	for _, e := range all {
		if id != nil && e.ID == *id || id == nil && e.WriterConfig != nil {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return Endpoint{}, false
	}
	return found[0], true
}
