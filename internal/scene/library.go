package scene

import (
	"encoding/json"
	"time"
)

// Persona is somebody a person speaks as.
type Persona struct {
	ID          string
	Name        string
	Description string
	Color       string // of the avatar, CSS notation, or empty
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Mood is a fragment that the Director turns on and off.
type Mood struct {
	ID             string // given by the person
	Label          string
	Description    string // when to use it, for the Director
	Prompt         string // for the Writer, while it is on
	NegativePrompt string // for the Writer, once, when it went off
	Enabled        bool
	Cooldown       int // turns, 0 to 50
}

// Fragment is one field that the Director fills in.
type Fragment struct {
	ID          string // given by the person
	Label       string
	Description string // the instruction, for the Director
	Type        string // string, array, feedback, post_processing, state or decision
	Required    bool
	Enabled     bool
	Heading     string // what the Writer sees above it
	Order       int
	Cooldown    int             // turns, 0 to 50
	Options     json.RawMessage // what only its type knows, an object
}

// Phrase is an entry of the phrase bank: what the Editor does not let pass.
type Phrase struct {
	ID       string
	Kind     string   // literal or regex
	Variants []string // of a literal
	Pattern  string   // of a regex
}
