package scene

import (
	"context"
	"slices"

	"jp/internal/lib/fault"
)

// promote relinks the family of c, which is about to go: the oldest that
// remains becomes the root.
func promote(tx Tx, c Conversation) error {
	if c.Kind != Group || c.RootID != nil {
		return nil
	}
	family, err := tx.Conversations.Family(c.ID)
	if err != nil {
		return err
	}
	heirs := slices.DeleteFunc(family, func(f Conversation) bool { return f.ID == c.ID })
	for i := range heirs {
		heirs[i].RootID = nil
		if i > 0 {
			heirs[i].RootID = &heirs[0].ID
		}
		if err := tx.Conversations.Save(heirs[i]); err != nil {
			return err
		}
	}
	return nil
}

// DeleteGroup deletes the whole family of a group, whichever of its
// conversations is named, and tells how many there were. What runs in them is
// stopped first. Errors: Conflict for a solo chat.
func (s *Service) DeleteGroup(ctx context.Context, id string) (int, error) {
	for {
		family, err := read(ctx, s, func(tx Tx) ([]string, error) { return familyOf(tx, id) })
		if err != nil {
			return 0, err
		}
		release, err := s.evict(ctx, family...)
		if err != nil {
			return 0, err
		}
		var grown bool
		err = s.Store.Update(ctx, func(tx Tx) error {
			now, err := familyOf(tx, id)
			if err != nil {
				return err
			}
			// A fork that was made in the meantime is not held yet, and
			// something may run in it.
			if grown = !slices.Equal(now, family); grown {
				return nil
			}
			return deleteAll(tx, now)
		})
		release()
		if err != nil {
			return 0, err
		}
		if !grown {
			return len(family), nil
		}
	}
}

// familyOf returns the ids of a group's family, the root's last: nothing may
// point at a row that is gone.
func familyOf(tx Tx, id string) ([]string, error) {
	c, err := group(tx, id)
	if err != nil {
		return nil, err
	}
	family, err := tx.Conversations.Family(c.Root())
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range family {
		if f.ID != c.Root() {
			ids = append(ids, f.ID)
		}
	}
	return append(ids, c.Root()), nil
}

func deleteAll(tx Tx, ids []string) error {
	for _, id := range ids {
		if err := tx.Conversations.Delete(id); err != nil {
			return err
		}
	}
	return nil
}

// group returns a conversation that is a group, or Conflict.
func group(tx Tx, id string) (Conversation, error) {
	c, err := tx.Conversations.Get(id)
	if err == nil && c.Kind != Group {
		err = fault.New(fault.Conflict, "this conversation is not a group chat").WithHint("convert it to a group first")
	}
	return c, err
}

// ConvertToGroup turns a solo chat into a group in place: its card becomes the
// one member, to whom all earlier replies belong. It waits for an exchange,
// whose reply would otherwise belong to nobody. A group stays as it is; its
// first active member is returned, or Invalid when it has none.
func (s *Service) ConvertToGroup(ctx context.Context, id string) (c Conversation, m Member, err error) {
	release, err := s.settle(ctx, id)
	if err != nil {
		return c, m, err
	}
	defer release()
	err = s.Store.Update(ctx, func(tx Tx) error {
		if c, err = tx.Conversations.Get(id); err != nil {
			return err
		}
		if c.Kind == Group {
			m, err = firstMember(tx, id)
			return err
		}
		if m, err = s.onlyMember(tx, c); err != nil {
			return err
		}
		c.Kind, c.CardID, c.CharacterName = Group, nil, c.Title
		c.Revision++
		c.UpdatedAt = s.now()
		if err := tx.Conversations.Save(c); err != nil {
			return err
		}
		if err := tx.Members.Insert(m); err != nil {
			return err
		}
		return attribute(tx, id, m.ID)
	})
	return c, m, err
}

// onlyMember makes the member that a solo chat's character becomes.
func (s *Service) onlyMember(tx Tx, c Conversation) (Member, error) {
	id, err := s.newID()
	if err != nil {
		return Member{}, err
	}
	name := c.CharacterName
	if c.CardID != nil {
		card, known, err := lookup(tx.Cards.Get(*c.CardID))
		if err != nil {
			return Member{}, err
		}
		if known {
			name = card.Name
		}
	}
	name = firstName(name, unnamed)
	return Member{
		ID: id, ConversationID: c.ID, Key: slug(name), CardID: c.CardID,
		Name: name, Kind: Character, Active: true,
	}, nil
}

// attribute gives all replies of a conversation to a member.
func attribute(tx Tx, conversation, member string) error {
	all, err := tx.Messages.Of(conversation)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.Role != RoleAssistant {
			continue
		}
		m.SpeakerID = &member
		if err := tx.Messages.Save(m); err != nil {
			return err
		}
	}
	return nil
}

func firstMember(tx Tx, conversation string) (Member, error) {
	active, err := activeRoster(tx, conversation)
	if err == nil && len(active) == 0 {
		err = fault.New(fault.Invalid, "this group has no members").WithHint("add one in its cast")
	}
	if err != nil {
		return Member{}, err
	}
	return active[0], nil
}
