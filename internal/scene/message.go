package scene

import "time"

// Role is a message's side.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Why a reply is incomplete.
const (
	IncompleteError       = "error"
	IncompleteInterrupted = "interrupted"
)

// Message is a node of a conversation's tree. Messages with the same parent
// are siblings; those without one are siblings of each other.
type Message struct {
	ID             int64 // given by the store, increasing
	ConversationID string
	ParentID       *int64
	// Depth is the number of messages from the root to here, itself counted.
	// It follows from ParentID, which never changes.
	Depth      int
	Role       Role
	Content    string
	TurnIndex  int
	SpeakerID  *string // the member that said it; nil for people and summaries
	ExchangeID *string
	Author     string // who wrote a user message, when known
	Incomplete string // "", IncompleteError or IncompleteInterrupted
	Direction  string // of a magic rewrite; a plain regenerate uses it again
	Cut        *Cut
	// WriterDraft is the text before the last rewriter, nil when none is kept.
	WriterDraft *string
	Slots       Slots
	CreatedAt   time.Time
}

// Cut is what was cut off a reply that went on as somebody else. A reply that
// began so is kept whole, and only marked: Removed is empty then.
type Cut struct {
	Label   string `json:"label"`   // the other's label that began the line
	Removed string `json:"removed"` // all that was cut, the label included
}

// Step is a message of a path, with its place among its siblings.
type Step struct {
	Message
	Branches   int // siblings, itself counted
	Branch     int // 0 for the oldest
	PrevBranch *int64
	NextBranch *int64
	Uploads    []Upload
}

// Upload is a file that a person attached to a message, without its bytes.
type Upload struct {
	ID        int64
	MessageID int64
	MIME      string
	Filename  string
	Size      int // bytes
	CreatedAt time.Time
}

// Extent is the size of a set of messages.
type Extent struct {
	Messages   int
	Assistants int
}
