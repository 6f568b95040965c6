package card

import (
	"jp/internal/scene"
	"jp/internal/scene/lore"
)

// book reads the card's lorebook, from data or outside of it. One that cannot
// be read costs the book, not the card.
func (in *reader) book() *scene.Book {
	raw := in.raw("character_book", "")
	if raw == nil {
		return nil
	}
	book, notes, err := lore.DecodeBook(raw)
	if err != nil {
		in.report.note("character_book: it was left out: %v", err)
		return nil
	}
	for _, n := range notes {
		in.report.note("character_book: %s", n)
	}
	return &book
}
