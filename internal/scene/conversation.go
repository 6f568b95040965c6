package scene

import "time"

// Kind tells a chat with one card from a group.
type Kind string

// The kinds of conversations.
const (
	Solo  Kind = "solo"
	Group Kind = "group"
)

// TurnMode is the reply behaviour: who speaks after a person.
type TurnMode string

// The reply behaviours.
const (
	Manual     TurnMode = "manual"
	RoundRobin TurnMode = "round_robin"
	Director   TurnMode = "director"
)

// ContextMode is what card information each generation receives.
type ContextMode string

// The context modes. A stored value that is none of them counts as Private.
const (
	Private ContextMode = "private"
	Shared  ContextMode = "shared"
	Swap    ContextMode = "swap"
)

// Bounds and defaults of a group's speaker limit.
const (
	LeastSpeakers   = 1
	MostSpeakers    = 8
	DefaultSpeakers = 3
)

// Conversation is one chat: a row of a family if it is a group. Its settings
// are its own, copied when it is forked.
type Conversation struct {
	ID    string
	Kind  Kind
	Title string // of a group also what {{char}} means outside a member's text
	// RootID is the family's root; nil for the root itself and for a solo chat.
	RootID *string
	// CardID is a solo chat's card. It may dangle: the card may come back.
	CardID        *string
	CharacterName string // solo: the card's name; group: the title when it was made
	Scenario      string // the premise
	PostHistory   string // the scene's own instructions, shared by every speaker
	PersonaLock   *string
	MacroSeed     string // empty means the id

	TurnMode         TurnMode
	MaxSpeakers      int // LeastSpeakers to MostSpeakers
	ContextMode      ContextMode
	SheetUpdates     bool
	CutImpersonation bool // default true
	LoreBudget       *int // tokens; nil is no limit

	ActiveLeaf *int64 // the visible branch's last message
	Slots      Slots

	CreatedAt  time.Time
	UpdatedAt  time.Time
	AccessedAt time.Time

	// Revision counts changes of the settings, RosterRevision those of the
	// members; both begin at 1.
	Revision       int64
	RosterRevision int64
}

// Root is the id of the family's root: the one owner of that rule.
func (c Conversation) Root() string {
	if c.RootID != nil {
		return *c.RootID
	}
	return c.ID
}

// Seed is what seeded macros of this conversation are drawn from.
func (c Conversation) Seed() string {
	if c.MacroSeed != "" {
		return c.MacroSeed
	}
	return c.ID
}

// Overview is a conversation as a list shows it. All but the conversation is
// derived.
type Overview struct {
	Conversation
	LastMessage  string   // the first 200 characters of the newest message
	MessageCount int      // of the active path
	CardIDs      []string // of active members, roster order
	MemberNames  []string // of active members, roster order
}
