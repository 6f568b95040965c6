package scene

import (
	"context"
	"reflect"

	"jp/internal/lib/fault"
)

// EntryChange is a partial update of an entry.
type EntryChange struct {
	Name, Content                          Change[string]
	Keys, SecondaryKeys                    Change[[]string]
	Selective, CaseInsensitive, WholeWords Change[bool]
	Regex, Constant, AtDepth, Enabled      Change[bool]
	Priority, Order                        Change[int]
}

// NewEntry is an entry with everything that nobody said.
func NewEntry() Entry {
	return Entry{CaseInsensitive: true, WholeWords: true, Priority: 100, Enabled: true}
}

// Entries returns a world's entries by Order, then creation. Errors: NotFound.
func (s *Service) Entries(ctx context.Context, world string) ([]Entry, error) {
	return read(ctx, s, func(tx Tx) ([]Entry, error) {
		if _, err := tx.Worlds.Get(world); err != nil {
			return nil, err
		}
		return tx.Entries.Of(world)
	})
}

// Entry returns an entry of a world. Errors: NotFound.
func (s *Service) Entry(ctx context.Context, world, id string) (Entry, error) {
	return read(ctx, s, func(tx Tx) (Entry, error) { return entryOf(tx, world, id) })
}

// entryOf is an entry if it belongs to the world.
func entryOf(tx Tx, world, id string) (Entry, error) {
	e, err := tx.Entries.Get(id)
	if err == nil && e.WorldID != world {
		return Entry{}, fault.New(fault.NotFound, "this world has no entry %q", id)
	}
	return e, err
}

// CreateEntry adds an entry to a world; NewEntry says what it should begin
// with. Errors: NotFound for the world.
func (s *Service) CreateEntry(ctx context.Context, world string, e Entry) (Entry, error) {
	return write(ctx, s, func(tx Tx) (Entry, error) {
		added, err := s.addEntries(tx, world, []Entry{e})
		if err != nil {
			return Entry{}, err
		}
		return added[0], nil
	})
}

// addEntries inserts entries under new ids, which is one change of the world.
func (s *Service) addEntries(tx Tx, world string, entries []Entry) ([]Entry, error) {
	added := make([]Entry, len(entries))
	for i, e := range entries {
		id, err := s.newID()
		if err != nil {
			return nil, err
		}
		if e.Extras, err = asObject("extras", e.Extras); err != nil {
			return nil, err
		}
		e.ID, e.WorldID, e.Revision, e.CreatedAt = id, world, 0, s.now()
		e.UpdatedAt = e.CreatedAt
		added[i] = e
	}
	if err := s.reword(tx, world); err != nil {
		return nil, err
	}
	return added, tx.Entries.InsertAll(added)
}

// reword counts a change of what a world's entries say.
func (s *Service) reword(tx Tx, world string) error {
	w, err := tx.Worlds.Get(world)
	if err != nil {
		return err
	}
	w.ContentRevision++
	w.UpdatedAt = s.now()
	return tx.Worlds.Save(w)
}

// ChangeEntry updates an entry. A change that changes nothing does not count.
// Errors: NotFound.
func (s *Service) ChangeEntry(ctx context.Context, world, id string, change EntryChange) (Entry, error) {
	return write(ctx, s, func(tx Tx) (Entry, error) {
		old, err := entryOf(tx, world, id)
		if err != nil {
			return Entry{}, err
		}
		e := old
		change.apply(&e)
		if reflect.DeepEqual(old, e) {
			return e, nil
		}
		e.Revision++
		e.UpdatedAt = s.now()
		if err := s.reword(tx, world); err != nil {
			return Entry{}, err
		}
		return e, tx.Entries.Save(e)
	})
}

func (ch EntryChange) apply(e *Entry) {
	ch.Name.apply(&e.Name)
	ch.Content.apply(&e.Content)
	ch.Keys.apply(&e.Keys)
	ch.SecondaryKeys.apply(&e.SecondaryKeys)
	ch.Selective.apply(&e.Selective)
	ch.CaseInsensitive.apply(&e.CaseInsensitive)
	ch.WholeWords.apply(&e.WholeWords)
	ch.Regex.apply(&e.Regex)
	ch.Constant.apply(&e.Constant)
	ch.AtDepth.apply(&e.AtDepth)
	ch.Priority.apply(&e.Priority)
	ch.Enabled.apply(&e.Enabled)
	ch.Order.apply(&e.Order)
}

// DeleteEntry removes an entry of a world. Errors: NotFound.
func (s *Service) DeleteEntry(ctx context.Context, world, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error {
		if _, err := entryOf(tx, world, id); err != nil {
			return err
		}
		if err := s.reword(tx, world); err != nil {
			return err
		}
		return tx.Entries.Delete(id)
	})
}
