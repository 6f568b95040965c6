package scene

import (
	"encoding/json"
	"time"
)

// DirectorState is what a conversation's Director goes on from.
type DirectorState struct {
	ConversationID string
	ActiveMoods    []string
	// MacroChoices are the options that random macros of mood texts took here,
	// by the macro's text.
	MacroChoices map[string]string
	// Cooldowns are the exchanges that a mood or fragment still rests, by id.
	Cooldowns map[string]int
}

// Log is what happened behind one stored reply.
type Log struct {
	ID                int64 // given by the store, increasing
	ConversationID    string
	MessageID         *int64 // nil once the message is gone
	ExchangeID        string
	TurnIndex         int
	ToolCalls         json.RawMessage // a list of {name, arguments}
	ActiveMoods       []string        // after the exchange's Director
	Cooldowns         map[string]int  // the same
	Injection         string
	AgentLatency      time.Duration
	ReasoningDirector string
	ReasoningWriter   string
	ReasoningEditor   string
	Feedback          json.RawMessage // an object, nil without
	Plan              json.RawMessage // the speaking plan, nil without
	Lore              json.RawMessage // what was chosen and why, nil without
	CreatedAt         time.Time
}

// Call is one call of a model, as the prompt inspector shows it. The texts of
// its messages are kept once for each hash.
type Call struct {
	Pass     string // director, writer, editor, feedback, sheet …
	Model    string
	Messages []CallMessage
	Sections []CallSection
	Usage    CallUsage
	Timing   CallTiming
}

// CallMessage is a message that was sent. Images are told by their number.
type CallMessage struct {
	Role   string `json:"role"`
	Text   string `json:"content"`
	Images int    `json:"images,omitempty"`
}

// CallSection is a named stretch of what was sent, in order.
type CallSection struct {
	Key    string `json:"key"`
	Chars  int    `json:"chars"`
	Tokens int    `json:"tokens_est"`
}

// CallUsage counts tokens; zero is unknown. Input includes Cached.
type CallUsage struct {
	Input     int `json:"input"`
	Cached    int `json:"cached"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
}

// CallTiming is how long a call took, in milliseconds.
type CallTiming struct {
	FirstMS int64 `json:"first_ms"` // to the first delta
	TotalMS int64 `json:"total_ms"`
}

// Once is the key under which a client asked for an exchange, so that asking
// again does not run it again. It is stored with the exchange's first row.
type Once struct {
	ConversationID string
	Key            string
	Body           string // a hash of what was asked
	ExchangeID     string
	CreatedAt      time.Time
}
