package scene

import (
	"context"
	"time"
)

// Store keeps the rows. It knows no rule but what keys and references say:
// unique keys, references that exist, rows that go with the row they belong
// to. storetest is the suite that every Store passes.
type Store interface {
	// View runs fn on one snapshot. Errors: fn's; fault.Storage and
	// fault.Damaged; fault.Busy when another program holds the store;
	// fault.Interrupted when ctx ended.
	View(ctx context.Context, fn func(Tx) error) error
	// Update runs fn alone among all that change. When it returns nil, all
	// that fn wrote is durable; otherwise none of it is there. fn runs once.
	// Errors: those of View.
	Update(ctx context.Context, fn func(Tx) error) error
}

// Tx is a transaction. It belongs to the goroutine that fn runs in and ends
// with it. Reads see the transaction's own writes. A write fails with
// fault.Invalid when it refers to a row that is not there; after that, and after
// a fault.Conflict, fn has to return the error.
type Tx struct {
	Conversations Conversations
	Members       Members
	Messages      Messages
	Uploads       Uploads
	Proposals     Proposals
	Cards         Cards
	Worlds        Worlds
	Entries       Entries
	Choices       Choices
	Directors     Directors
	Logs          Logs
	Calls         Calls
	Onces         Onces
	Moods         Table[Mood]
	Fragments     Table[Fragment]
	Phrases       Table[Phrase]
	Personas      Table[Persona]
	Endpoints     Table[Endpoint]
	Models        Models
	Settings      Singleton
}

// Table is rows by their id.
type Table[T any] interface {
	// Get returns a row, or fault.NotFound.
	Get(id string) (T, error)
	// All returns the rows in the order they were made in.
	All() ([]T, error)
	// Insert adds a row; fault.Conflict when its id or a unique key is taken.
	Insert(T) error
	// Save replaces the row with the same id; fault.NotFound without one,
	// fault.Conflict when a unique key is taken.
	Save(T) error
	// Delete removes a row and what belongs to it; fault.NotFound without one.
	Delete(id string) error
}

// Conversations go with all that is kept for them.
type Conversations interface {
	Table[Conversation]
	// Overviews returns all, the one last active first: the newest of accessed,
	// updated and created.
	Overviews() ([]Overview, error)
	// Family returns the rows of a family in creation order; root is the
	// root's id. Solo chats have none.
	Family(root string) ([]Conversation, error)
	// OfCard returns the solo chats of a card and the groups in which it is
	// an active member, in creation order.
	OfCard(card string) ([]Conversation, error)
}

// Members of a conversation. A key is unique in its conversation; a card is
// there once among the active ones.
type Members interface {
	Table[Member]
	// Roster returns all members of a conversation, tombstones too, by Order
	// and ID.
	Roster(conversation string) ([]Member, error)
}

// Messages are trees. A conversation's ActiveLeaf becomes nil when its message
// is deleted.
type Messages interface {
	// Get returns a message of the conversation, or fault.NotFound.
	Get(conversation string, id int64) (Message, error)
	// Insert adds a message, and sets its ID and, from its parent, its Depth;
	// fault.Invalid when the parent is not of the conversation.
	Insert(*Message) error
	// Save replaces what may change: all but ids, parent, depth and time.
	Save(Message) error
	// Path returns the messages from the root to leaf, the last limit of them
	// when limit is above 0, with their branches and uploads; fault.NotFound
	// when there is no leaf.
	Path(leaf int64, limit int) ([]Step, error)
	// Siblings returns the ids of all with the same parent, itself included,
	// in creation order.
	Siblings(m Message) ([]int64, error)
	// Deepest follows the newest child from id down and returns the last one;
	// fault.NotFound when there is no id.
	Deepest(id int64) (int64, error)
	// Extent measures the messages and all that descend from them.
	Extent(ids []int64) (Extent, error)
	// Delete removes the messages and all that descend from them.
	Delete(ids []int64) error
	// Of returns all messages of a conversation in the order of their ids.
	Of(conversation string) ([]Message, error)
}

// Uploads go with their message.
type Uploads interface {
	// Insert adds a file and returns its id; Size is that of data.
	Insert(u Upload, data []byte) (int64, error)
	// Content returns a file with its bytes, or fault.NotFound.
	Content(id int64) (Upload, []byte, error)
	// Copy copies the files of messages; the map is from old to new message.
	Copy(messages map[int64]int64) error
}

// Proposals go with their conversation and their member. A member has one
// pending proposal at most; a second is fault.Conflict.
type Proposals interface {
	Get(id int64) (Proposal, error) // or fault.NotFound
	Insert(*Proposal) error         // sets ID
	Save(Proposal) error            // or fault.NotFound
	// Of returns a conversation's proposals in one of the states, newest first;
	// none when no state is named.
	Of(conversation string, in ...ProposalStatus) ([]Proposal, error)
}

// Cards come without their pictures.
type Cards interface {
	Table[Card]
	// Briefs returns all cards by name, whatever its case, then id.
	Briefs() ([]CardBrief, error)
	// Avatar returns a card's picture, or fault.NotFound.
	Avatar(card string) (Avatar, error)
	// SetAvatar replaces a card's picture.
	SetAvatar(card string, a Avatar) error
}

// Worlds go with their entries and with the choices about them.
type Worlds interface {
	Table[World]
	// ByHash returns the world that was imported from a book, or fault.NotFound.
	ByHash(hash string) (World, error)
}

// Entries of worlds.
type Entries interface {
	Table[Entry]
	// Of returns the entries of worlds by world, Order and creation; none when
	// no world is named.
	Of(worlds ...string) ([]Entry, error)
	// InsertAll adds many.
	InsertAll([]Entry) error
}

// Choices of conversations about worlds.
type Choices interface {
	Of(conversation string) ([]Choice, error) // by world
	Put(Choice) error                         // adds or replaces
	Delete(conversation, world string) error  // also when there is none
}

// Models are the model configs of endpoints and go with them.
type Models interface {
	Table[ModelConfig]
	Of(endpoint string) ([]ModelConfig, error) // in creation order
}

// Singleton is the one row of settings.
type Singleton interface {
	Get() (Settings, error) // the defaults when nothing was saved
	Save(Settings) error
}

// Directors are the states of conversations and go with them.
type Directors interface {
	// Get returns a conversation's state; all of it is empty but the id when
	// nothing was saved.
	Get(conversation string) (DirectorState, error)
	Save(DirectorState) error // adds or replaces
}

// Logs of replies go with their conversation. MessageID becomes nil when the
// message is deleted.
type Logs interface {
	Insert(*Log) error // sets ID
	// OfMessages returns the logs of messages by ID; none when no message is
	// named.
	OfMessages(messages ...int64) ([]Log, error)
	OfConversation(conversation string) ([]Log, error) // by ID
	// Last returns the newest log of the first message that has one, going up
	// from leaf to the root; fault.NotFound when none has.
	Last(leaf int64) (Log, error)
}

// Calls go with their message. A text of theirs is there once, and gone when
// no call of the conversation has it any more.
type Calls interface {
	// Put adds calls behind those that the message has.
	Put(message Message, exchange string, calls []Call) error
	Of(message int64) ([]Call, error) // in the order they were put in
	// Keep removes all calls of a conversation but those of the exchanges that
	// were put last, which are as many as most.
	Keep(conversation string, most int) error
}

// Onces go with their conversation.
type Onces interface {
	Get(conversation, key string) (Once, error) // or fault.NotFound
	Put(Once) error                             // fault.Conflict when the key is taken
	Purge(before time.Time) error               // removes those made before
}
