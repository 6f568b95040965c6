package scene

// MemberKind tells a character from a narrator.
type MemberKind string

// The kinds of members.
const (
	Character MemberKind = "character"
	Narrator  MemberKind = "narrator"
)

// Member is one of a group's cast, or of its former cast. The roster's order
// is Order, then ID.
type Member struct {
	ID             string // belongs to one conversation
	ConversationID string
	// Key is the short handle: unique in the conversation, tombstones counted,
	// never changed, carried over to forks.
	Key    string
	CardID *string // may dangle; nil for one without a card
	Name   string  // as shown in this scene; may occur twice
	// The scene's overrides of the card. nil takes the card's text, "" is a
	// real, empty text.
	PublicProfile *string // what the rest of the cast sees
	Sheet         *string // what the member reads about itself
	Kind          MemberKind
	Order         int
	Muted         bool    // in the scene, but does not speak
	Active        bool    // false is a tombstone: it keeps the name of old messages
	Model         *string // a model config of its own; nil is the scene's
	Slots         Slots
}
