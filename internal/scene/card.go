package scene

import (
	"encoding/json"
	"time"
)

// Card is a reusable character.
type Card struct {
	ID           string
	Name         string
	Description  string
	Personality  string
	Scenario     string
	FirstMessage string
	Examples     string
	CreatorNotes string
	SystemPrompt string
	PostHistory  string
	Tags         []string
	Creator      string
	Version      string
	Greetings    []string // alternatives to FirstMessage
	Format       string   // where it came from: manual, tavern_v1, tavern_v2, tavern_v3
	WorldID      *string
	PersonaLock  *string
	Extensions   json.RawMessage // a JSON object, verbatim; our own part is "orb"
	Slots        Slots
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// CardBrief is a card as a list shows it.
type CardBrief struct {
	ID           string
	Name         string
	CreatorNotes string
	Tags         []string
	Creator      string
	Format       string
	WorldID      *string
	PersonaLock  *string
	Chars        int // characters of description, personality and examples
	HasAvatar    bool
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Avatar is a card's picture: the whole file that it came in.
type Avatar struct {
	MIME string // image/png, image/jpeg, image/webp or image/gif
	Data []byte
}

// Profile is what a card tells everybody, kept in Extensions at
// orb.public_profile.
type Profile struct {
	Appearance string `json:"appearance"`
	Role       string `json:"role"`
}
