package scene

import (
	"encoding/json"
	"time"
)

// World is a book of lore entries.
type World struct {
	ID        string
	Name      string
	Global    bool // on in every conversation that does not say otherwise
	Dynamic   bool // models may propose changes to it
	Recursive bool // entries that fire may fire others
	// ContentRevision counts changes of the entries' texts.
	ContentRevision int64
	// ContentHash is that of the book the world was imported from, so that
	// the same book is known again; empty when it was made by hand.
	ContentHash string
	Extras      json.RawMessage // unknown fields of the imported book, an object
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Entry is one piece of lore.
type Entry struct {
	ID              string
	WorldID         string
	Name            string
	Content         string
	Keys            []string
	SecondaryKeys   []string
	Selective       bool // one secondary key is needed, too
	CaseInsensitive bool
	WholeWords      bool
	Regex           bool // keys are regular expressions
	Constant        bool // always there
	AtDepth         bool // a constant one stands behind the history
	Priority        int
	Enabled         bool
	Order           int
	Revision        int64
	Extras          json.RawMessage // unknown fields of the imported entry, an object
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Book is a world with its entries, on its way in or out. Ids, times and
// revisions in it mean nothing.
type Book struct {
	World   World
	Entries []Entry
}

// Choice is a conversation's own word on a world, against the default.
type Choice struct {
	ConversationID string
	WorldID        string
	Enabled        bool
}
