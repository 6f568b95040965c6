package scene

import (
	"context"
	"encoding/json"

	"jp/internal/lib/fault"
)

// CardChange is a partial update of a card. Extensions and Slots are replaced
// whole. A Book makes or finds a world as CreateCard does and links it, unless
// WorldID links another one.
type CardChange struct {
	Name, Description, Personality, Scenario, FirstMessage, Examples Change[string]
	CreatorNotes, SystemPrompt, PostHistory, Creator, Version        Change[string]
	Format                                                           Change[string]
	Tags, Greetings                                                  Change[[]string]
	WorldID, PersonaLock                                             Change[*string]
	Extensions                                                       Change[json.RawMessage]
	Slots                                                            Change[Slots]
	Book                                                             *Book
}

// Cards returns all cards by name, then id.
func (s *Service) Cards(ctx context.Context) ([]CardBrief, error) {
	return read(ctx, s, func(tx Tx) ([]CardBrief, error) { return tx.Cards.Briefs() })
}

// Card returns a card. Errors: NotFound.
func (s *Service) Card(ctx context.Context, id string) (Card, error) {
	return read(ctx, s, func(tx Tx) (Card, error) { return tx.Cards.Get(id) })
}

// Avatar returns a card's picture. Errors: NotFound for the card and for the
// picture.
func (s *Service) Avatar(ctx context.Context, id string) (Avatar, error) {
	return read(ctx, s, func(tx Tx) (Avatar, error) { return tx.Cards.Avatar(id) })
}

// CreateCard adds a card, with an id of its own if it has none. A book that has
// entries, or an extension of ours, becomes a world that the card is linked to,
// unless the card names one; a world that was made of the same book is linked
// instead of doubled. Errors: Invalid for a card without a name and what does
// not fit, Conflict when the id is taken.
func (s *Service) CreateCard(ctx context.Context, c Card, a *Avatar, b *Book) (Card, error) {
	return write(ctx, s, func(tx Tx) (Card, error) {
		if err := s.identify(tx, &c); err != nil {
			return Card{}, err
		}
		if err := s.link(tx, &c, b); err != nil {
			return Card{}, err
		}
		c.CreatedAt = s.now()
		c.UpdatedAt = c.CreatedAt
		if c.Format == "" {
			c.Format = "manual"
		}
		if err := checkCard(tx, &c, Card{}); err != nil {
			return Card{}, err
		}
		if err := tx.Cards.Insert(c); err != nil {
			return Card{}, err
		}
		return c, setAvatar(tx, c.ID, a)
	})
}

// identify gives a new card its id, or checks the one that it brings.
func (s *Service) identify(tx Tx, c *Card) (err error) {
	if c.ID == "" {
		c.ID, err = s.newID()
		return err
	}
	if err := checkID(c.ID); err != nil {
		return err
	}
	_, known, err := lookup(tx.Cards.Get(c.ID))
	if known {
		return fault.New(fault.Conflict, "there is a card with the id %q already", c.ID).
			WithHint("update that one, or import it as a copy")
	}
	return err
}

// link finds or makes the world of a book for a card that has none.
func (s *Service) link(tx Tx, c *Card, b *Book) error {
	if b == nil || c.WorldID != nil {
		return nil
	}
	ours := get(b.World.Extras, "extensions", "orb") != nil || get(b.World.Extras, "orb") != nil
	if len(b.Entries) == 0 && !ours {
		return nil
	}
	w, err := s.settleBook(tx, *b, c.Name)
	if err != nil {
		return err
	}
	c.WorldID = &w.ID
	return nil
}

// ChangeCard updates a card. What it changes of the name, the scenario and the
// instructions is changed in the card's solo chats too; groups read the card
// when they need it. Errors: NotFound, and Invalid for what does not fit.
func (s *Service) ChangeCard(ctx context.Context, id string, change CardChange, a *Avatar) (Card, error) {
	return write(ctx, s, func(tx Tx) (Card, error) {
		old, err := tx.Cards.Get(id)
		if err != nil {
			return Card{}, err
		}
		c := old
		change.apply(&c)
		if change.Book != nil && (!change.WorldID.Set || change.WorldID.To == nil) {
			c.WorldID = nil
			if err := s.link(tx, &c, change.Book); err != nil {
				return Card{}, err
			}
			if c.WorldID == nil && !change.WorldID.Set {
				c.WorldID = old.WorldID
			}
		}
		if err := checkCard(tx, &c, old); err != nil {
			return Card{}, err
		}
		c.UpdatedAt = s.now()
		if err := tx.Cards.Save(c); err != nil {
			return Card{}, err
		}
		if err := syncSolo(tx, old, c); err != nil {
			return Card{}, err
		}
		return c, setAvatar(tx, id, a)
	})
}

func (ch CardChange) apply(c *Card) {
	ch.Name.apply(&c.Name)
	ch.Description.apply(&c.Description)
	ch.Personality.apply(&c.Personality)
	ch.Scenario.apply(&c.Scenario)
	ch.FirstMessage.apply(&c.FirstMessage)
	ch.Examples.apply(&c.Examples)
	ch.CreatorNotes.apply(&c.CreatorNotes)
	ch.SystemPrompt.apply(&c.SystemPrompt)
	ch.PostHistory.apply(&c.PostHistory)
	ch.Creator.apply(&c.Creator)
	ch.Version.apply(&c.Version)
	ch.Format.apply(&c.Format)
	ch.Tags.apply(&c.Tags)
	ch.Greetings.apply(&c.Greetings)
	ch.WorldID.apply(&c.WorldID)
	ch.PersonaLock.apply(&c.PersonaLock)
	ch.Extensions.apply(&c.Extensions)
	ch.Slots.apply(&c.Slots)
}

// checkCard refuses a card that does not fit. What it was linked to already is
// not asked for again.
func checkCard(tx Tx, c *Card, old Card) (err error) {
	if err := needText("name", c.Name); err != nil {
		return err
	}
	if c.Extensions, err = asObject("extensions", c.Extensions); err != nil {
		return err
	}
	if id := c.WorldID; id != nil && !same(id, old.WorldID) {
		if _, known, err := lookup(tx.Worlds.Get(*id)); err != nil {
			return err
		} else if !known {
			return fault.New(fault.Invalid, "there is no world %q", *id)
		}
	}
	if id := c.PersonaLock; id != nil && !same(id, old.PersonaLock) {
		return knownPersona(tx, *id)
	}
	return nil
}

// same tells whether two optional ids are equal.
func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// syncSolo brings what changed in a card into its solo chats. Their own places
// in the list do not change by it.
func syncSolo(tx Tx, old, c Card) error {
	if old.Name == c.Name && old.Scenario == c.Scenario && old.PostHistory == c.PostHistory {
		return nil
	}
	chats, err := tx.Conversations.OfCard(c.ID)
	if err != nil {
		return err
	}
	for _, chat := range chats {
		if chat.Kind != Solo {
			continue
		}
		for _, f := range []struct {
			field    *string
			from, to string
		}{
			{&chat.CharacterName, old.Name, c.Name},
			{&chat.Scenario, old.Scenario, c.Scenario},
			{&chat.PostHistory, old.PostHistory, c.PostHistory},
		} {
			if f.from != f.to { // otherwise the chat's own stays
				*f.field = f.to
			}
		}
		chat.Revision++
		if err := tx.Conversations.Save(chat); err != nil {
			return err
		}
	}
	return nil
}

// DeleteCard removes a card, and its solo chats if asked to, after what runs in
// them was stopped. Otherwise they stay, and so do its members in groups: they
// keep the id, and come to life again with a card that has it. Errors: NotFound.
func (s *Service) DeleteCard(ctx context.Context, id string, withConversations bool) error {
	var chats []string
	if withConversations {
		all, err := s.CardUsage(ctx, id)
		if err != nil {
			return err
		}
		for _, c := range all {
			if c.Kind == Solo {
				chats = append(chats, c.ID)
			}
		}
		release, err := s.evict(ctx, chats...)
		if err != nil {
			return err
		}
		defer release()
	}
	return s.Store.Update(ctx, func(tx Tx) error {
		for _, chat := range chats {
			c, known, err := lookup(tx.Conversations.Get(chat))
			if err != nil {
				return err
			}
			if !known || c.Kind != Solo || !same(c.CardID, &id) {
				continue // it was deleted or became a group while we waited
			}
			if err := tx.Conversations.Delete(chat); err != nil {
				return err
			}
		}
		return tx.Cards.Delete(id)
	})
}

// CardUsage returns the solo chats of a card and the groups in which it is in
// the scene. Errors: NotFound.
func (s *Service) CardUsage(ctx context.Context, id string) ([]Conversation, error) {
	return read(ctx, s, func(tx Tx) ([]Conversation, error) {
		if _, err := tx.Cards.Get(id); err != nil {
			return nil, err
		}
		return tx.Conversations.OfCard(id)
	})
}

// SetProfile writes what a card tells everybody into its extensions and leaves
// every other key there as it is. Errors: NotFound.
func (s *Service) SetProfile(ctx context.Context, id string, p Profile) (Profile, error) {
	return write(ctx, s, func(tx Tx) (Profile, error) {
		c, err := tx.Cards.Get(id)
		if err != nil {
			return Profile{}, err
		}
		ext := put(c.Extensions, quoted(p.Appearance), "orb", "public_profile", "appearance")
		c.Extensions = put(ext, quoted(p.Role), "orb", "public_profile", "role")
		c.UpdatedAt = s.now()
		return p, tx.Cards.Save(c)
	})
}

// CardBook returns the book of a card's world, nil when it has none. Errors:
// NotFound for the card.
func (s *Service) CardBook(ctx context.Context, id string) (*Book, error) {
	return read(ctx, s, func(tx Tx) (*Book, error) {
		c, err := tx.Cards.Get(id)
		if err != nil || c.WorldID == nil {
			return nil, err
		}
		b, known, err := lookup(book(tx, *c.WorldID))
		if err != nil || !known {
			return nil, err
		}
		return &b, nil
	})
}
