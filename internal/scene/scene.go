// Package scene holds group chats: conversations with a cast, kept in families
// of forks, with a message tree each; the cards, worlds and personas that they
// draw on; and the rules about all of them.
//
// A rule is here or nowhere: a Store keeps rows and finds them again, a face
// turns requests into calls of Service. Every change is one call and one
// transaction: it happens whole, durably, or not at all. Errors for people are
// *fault.Error: NotFound for what does not exist, Invalid for what breaks a
// rule, Conflict for what somebody else changed first or what does not go as
// things are, Busy while an exchange holds the conversation.
//
// Texts are data: names, messages and card fields are kept as they came, and
// whoever shows them filters. Identifiers of conversations, members, cards,
// worlds and the rest are opaque strings; messages, attachments and proposals
// are numbered. Times are UTC with microseconds; no two rows that one Service
// makes have the same, copies and imports keep theirs.
package scene

import "encoding/json"

// Change is one field of a partial update: left alone unless Set.
type Change[T any] struct {
	Set bool
	To  T
}

// To is a Change that sets a field.
func To[T any](v T) Change[T] { return Change[T]{Set: true, To: v} }

// apply writes the change into a field and tells whether it changed anything.
func (c Change[T]) apply(field *T) bool {
	if c.Set {
		*field = c.To
	}
	return c.Set
}

// Slots is a JSON object with one slot for each workflow, kept verbatim; nil
// when there is none.
type Slots = json.RawMessage
