package card

import (
	"encoding/json"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// book is the card's lorebook.
func (in *reader) book() *scene.Book {
	if in.raw("character_book", "") != nil {
		in.report.note("character_book: it was left out, books are not read yet")
	}
	return nil
}

func encodeBook(scene.Book) (json.RawMessage, error) {
	return nil, fault.New(fault.Internal, "books are not written yet")
}
