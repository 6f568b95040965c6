package scene

import (
	"context"
	"strings"

	"jp/internal/lib/fault"
)

// ConversationChange is a partial update of a conversation's settings.
type ConversationChange struct {
	Title, Scenario, PostHistory   Change[string]
	PersonaLock                    Change[*string]
	TurnMode                       Change[TurnMode]
	MaxSpeakers                    Change[int]
	ContextMode                    Change[ContextMode]
	SheetUpdates, CutImpersonation Change[bool]
	LoreBudget                     Change[*int]
}

// Conversation returns one, or NotFound.
func (s *Service) Conversation(ctx context.Context, id string) (Conversation, error) {
	return read(ctx, s, func(tx Tx) (Conversation, error) { return tx.Conversations.Get(id) })
}

// Conversations returns all, the one last active first.
func (s *Service) Conversations(ctx context.Context) ([]Overview, error) {
	return read(ctx, s, func(tx Tx) ([]Overview, error) { return tx.Conversations.Overviews() })
}

// ChangeConversation changes the settings that are named, all or none. ifMatch
// is the Revision the change was made from; Conflict when there is a newer
// one. Errors: Invalid for a value out of bounds or a persona that is unknown.
func (s *Service) ChangeConversation(ctx context.Context, id string, change ConversationChange, ifMatch *int64) (Conversation, error) {
	return write(ctx, s, func(tx Tx) (Conversation, error) {
		c, err := tx.Conversations.Get(id)
		if err != nil {
			return c, err
		}
		if err := match(ifMatch, c.Revision, "the settings"); err != nil {
			return c, err
		}
		personal, scenic := change.apply(&c)
		if !personal && !scenic {
			return c, nil
		}
		if err := c.check(); err != nil {
			return c, err
		}
		if personal && c.PersonaLock != nil {
			if err := knownPersona(tx, *c.PersonaLock); err != nil {
				return c, err
			}
		}
		if scenic {
			c.UpdatedAt = s.now()
		}
		c.Revision++
		return c, tx.Conversations.Save(c)
	})
}

// apply writes the change and tells whether it named the persona, which is no
// activity in the conversation, and whether it named anything else.
func (ch ConversationChange) apply(c *Conversation) (personal, scenic bool) {
	personal = ch.PersonaLock.apply(&c.PersonaLock)
	for _, changed := range []bool{
		ch.Title.apply(&c.Title),
		ch.Scenario.apply(&c.Scenario),
		ch.PostHistory.apply(&c.PostHistory),
		ch.TurnMode.apply(&c.TurnMode),
		ch.MaxSpeakers.apply(&c.MaxSpeakers),
		ch.ContextMode.apply(&c.ContextMode),
		ch.SheetUpdates.apply(&c.SheetUpdates),
		ch.CutImpersonation.apply(&c.CutImpersonation),
		ch.LoreBudget.apply(&c.LoreBudget),
	} {
		scenic = scenic || changed
	}
	return personal, scenic
}

// check refuses settings that are none.
func (c Conversation) check() error {
	switch c.Kind {
	case Solo, Group:
	default:
		return fault.New(fault.Invalid, "%q is no kind of conversation", c.Kind).WithHint("use solo or group")
	}
	switch c.TurnMode {
	case Manual, RoundRobin, Director:
	default:
		return fault.New(fault.Invalid, "%q is no reply behaviour", c.TurnMode).WithHint("use manual, round_robin or director")
	}
	switch c.ContextMode {
	case Private, Shared, Swap:
	default:
		return fault.New(fault.Invalid, "%q is no character context", c.ContextMode).WithHint("use private, shared or swap")
	}
	switch {
	case strings.TrimSpace(c.Title) == "":
		return fault.New(fault.Invalid, "a conversation needs a title")
	case c.MaxSpeakers < LeastSpeakers || c.MaxSpeakers > MostSpeakers:
		return fault.New(fault.Invalid, "%d speakers in one exchange", c.MaxSpeakers).
			WithHint("the limit is %d to %d", LeastSpeakers, MostSpeakers)
	case c.LoreBudget != nil && *c.LoreBudget < 0:
		return fault.New(fault.Invalid, "a lore budget of %d tokens", *c.LoreBudget).WithHint("leave it out for no limit")
	}
	return nil
}

// knownPersona refuses a persona that does not exist.
func knownPersona(tx Tx, id string) error {
	_, known, err := lookup(tx.Personas.Get(id))
	if err == nil && !known {
		return fault.New(fault.Invalid, "there is no persona %q", id)
	}
	return err
}

// match refuses a change that was made from another revision than the present
// one.
func match(ifMatch *int64, revision int64, what string) error {
	if ifMatch == nil || *ifMatch == revision {
		return nil
	}
	return fault.New(fault.Conflict, "somebody changed %s in the meantime", what).
		WithHint("load them again; they are at revision %d, not %d", revision, *ifMatch)
}

// lookup tells a row that is not there from a failure to read it.
func lookup[T any](row T, err error) (T, bool, error) {
	if err != nil && fault.CodeOf(err) == fault.NotFound {
		return row, false, nil
	}
	return row, err == nil, err
}

// DeleteConversation stops the exchange that runs in a conversation and deletes
// it. If it is the root of a family, the oldest that remains takes its place.
func (s *Service) DeleteConversation(ctx context.Context, id string) error {
	release, err := s.evict(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return s.Store.Update(ctx, func(tx Tx) error {
		c, err := tx.Conversations.Get(id)
		if err != nil {
			return err
		}
		if err := promote(tx, c); err != nil {
			return err
		}
		return tx.Conversations.Delete(id)
	})
}

// Touch notes that a conversation was looked at.
func (s *Service) Touch(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error {
		c, err := tx.Conversations.Get(id)
		if err != nil {
			return err
		}
		c.AccessedAt = s.now()
		return tx.Conversations.Save(c)
	})
}
