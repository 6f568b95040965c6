package scene

import (
	"cmp"
	"context"
	"slices"
)

// WorldIDs returns the worlds that are on in a conversation, sorted: those that
// are on by default, but for the conversation's own choices.
func (s *Service) WorldIDs(ctx context.Context, id string) ([]string, error) {
	return read(ctx, s, func(tx Tx) ([]string, error) { return worldsOf(tx, id) })
}

// SetWorld turns a world on or off in a conversation and returns those that are
// on. What equals the default is not kept, so that it follows the default from
// then on. Errors: NotFound for an unknown world.
func (s *Service) SetWorld(ctx context.Context, id, world string, enabled bool) ([]string, error) {
	return write(ctx, s, func(tx Tx) ([]string, error) {
		c, err := tx.Conversations.Get(id)
		if err != nil {
			return nil, err
		}
		w, err := tx.Worlds.Get(world)
		if err != nil {
			return nil, err
		}
		linked, err := linkedWorlds(tx, c)
		if err != nil {
			return nil, err
		}
		if enabled == (w.Global || linked[w.ID]) {
			err = tx.Choices.Delete(id, world)
		} else {
			err = tx.Choices.Put(Choice{ConversationID: id, WorldID: world, Enabled: enabled})
		}
		if err != nil {
			return nil, err
		}
		return worldsOf(tx, id)
	})
}

// ActiveEntries returns the enabled lore of a conversation's worlds, what has
// priority first. Every member of a group has the same.
func (s *Service) ActiveEntries(ctx context.Context, id string) ([]Entry, error) {
	return read(ctx, s, func(tx Tx) ([]Entry, error) {
		worlds, err := worldsOf(tx, id)
		if err != nil {
			return nil, err
		}
		return entriesOf(tx, worlds)
	})
}

// entriesOf returns the enabled lore of worlds, what has priority first.
func entriesOf(tx Tx, worlds []string) ([]Entry, error) {
	entries, err := tx.Entries.Of(worlds...)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return !e.Enabled })
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
	})
	return entries, nil
}

// worldsOf returns the worlds that are on in a conversation, sorted.
func worldsOf(tx Tx, id string) ([]string, error) {
	c, err := tx.Conversations.Get(id)
	if err != nil {
		return nil, err
	}
	on, err := linkedWorlds(tx, c)
	if err != nil {
		return nil, err
	}
	worlds, err := tx.Worlds.All()
	if err != nil {
		return nil, err
	}
	for _, w := range worlds {
		on[w.ID] = on[w.ID] || w.Global
	}
	choices, err := tx.Choices.Of(id)
	if err != nil {
		return nil, err
	}
	for _, ch := range choices {
		on[ch.WorldID] = ch.Enabled
	}
	var ids []string
	for world, enabled := range on {
		if enabled {
			ids = append(ids, world)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// linkedWorlds are those of a solo chat's card, or of the cards of a group's
// active members.
func linkedWorlds(tx Tx, c Conversation) (map[string]bool, error) {
	cards := []*string{c.CardID}
	if c.Kind == Group {
		members, err := activeRoster(tx, c.ID)
		if err != nil {
			return nil, err
		}
		cards = nil
		for _, m := range members {
			cards = append(cards, m.CardID)
		}
	}
	linked := map[string]bool{}
	for _, id := range cards {
		if id == nil {
			continue
		}
		card, known, err := lookup(tx.Cards.Get(*id))
		if err != nil {
			return nil, err
		}
		if known && card.WorldID != nil {
			linked[*card.WorldID] = true
		}
	}
	return linked, nil
}
