package scene

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// unnamedWorld is what the world of a book is called that nothing gives a name.
const unnamedWorld = "Lorebook"

// ImportEntries adds a book's entries to a world and returns those it added:
// entries that the world has word for word are not doubled. It is one change of
// the world, however many they are. Errors: NotFound.
func (s *Service) ImportEntries(ctx context.Context, world string, b Book) ([]Entry, error) {
	return write(ctx, s, func(tx Tx) ([]Entry, error) {
		if _, err := tx.Worlds.Get(world); err != nil {
			return nil, err
		}
		have, err := tx.Entries.Of(world)
		if err != nil {
			return nil, err
		}
		there := map[string]bool{}
		for _, e := range have {
			there[wording(e)] = true
		}
		fresh := slices.DeleteFunc(slices.Clone(b.Entries), func(e Entry) bool { return there[wording(e)] })
		if len(fresh) == 0 {
			return nil, nil
		}
		return s.addEntries(tx, world, fresh)
	})
}

// wording is equal for entries that say the same and match in the same way.
func wording(e Entry) string {
	e.ID, e.WorldID, e.Revision, e.Order, e.Extras = "", "", 0, 0, nil
	e.CreatedAt, e.UpdatedAt = time.Time{}, time.Time{}
	e.Keys, e.SecondaryKeys = append([]string{}, e.Keys...), append([]string{}, e.SecondaryKeys...)
	text, _ := json.Marshal(e) // strings, numbers and flags always encode
	return string(text)
}

// Book returns a world with its entries, for export. Errors: NotFound.
func (s *Service) Book(ctx context.Context, world string) (Book, error) {
	return read(ctx, s, func(tx Tx) (Book, error) { return book(tx, world) })
}

func book(tx Tx, world string) (Book, error) {
	w, err := tx.Worlds.Get(world)
	if err != nil {
		return Book{}, err
	}
	entries, err := tx.Entries.Of(world)
	return Book{World: w, Entries: entries}, err
}

// ImportWorld makes a world of a book, on nowhere until somebody says so. A
// world that was made of the same book before is returned as it is now: what
// was edited in it since stays.
func (s *Service) ImportWorld(ctx context.Context, b Book) (World, error) {
	return write(ctx, s, func(tx Tx) (World, error) { return s.settleBook(tx, b, "") })
}

// settleBook finds or makes the world of a book, called name if the book has
// none of its own.
func (s *Service) settleBook(tx Tx, b Book, name string) (World, error) {
	if hash := b.World.ContentHash; hash != "" {
		if w, known, err := lookup(tx.Worlds.ByHash(hash)); err != nil || known {
			return w, err
		}
	}
	w := World{Recursive: b.World.Recursive, ContentHash: b.World.ContentHash, Extras: b.World.Extras}
	for _, w.Name = range []string{b.World.Name, name, unnamedWorld} {
		if strings.TrimSpace(w.Name) != "" {
			break
		}
	}
	w, err := s.addWorld(tx, w)
	if err != nil || len(b.Entries) == 0 {
		return w, err
	}
	if _, err := s.addEntries(tx, w.ID, b.Entries); err != nil {
		return World{}, err
	}
	return tx.Worlds.Get(w.ID)
}
