package scene

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/scene/macro"
)

// untitled is the title of a conversation that nobody named.
const untitled = "New Conversation"

// NewConversation is what a conversation is made from; zero values are the
// defaults. A solo chat with a card takes name, scenario, greetings and
// instructions from the card. FirstMessage opens the conversation; in a group
// the member with OpeningKey says it.
type NewConversation struct {
	Title                                              string
	Kind                                               Kind // Solo
	CardID                                             *string
	CharacterName, Scenario, FirstMessage, PostHistory string
	TurnMode                                           TurnMode    // Director
	MaxSpeakers                                        int         // DefaultSpeakers
	ContextMode                                        ContextMode // Private
	Members                                            []MemberSpec
	OpeningKey                                         string
}

// CreateConversation makes a conversation with its cast and its opening.
// Errors: NotFound for an unknown card or model; Invalid for settings out of
// bounds, a group without members or with a card twice, and a greeting by nobody.
func (s *Service) CreateConversation(ctx context.Context, n NewConversation) (Conversation, error) {
	return write(ctx, s, func(tx Tx) (Conversation, error) {
		if n.Kind == Group {
			return s.createGroup(tx, n)
		}
		return s.createSolo(tx, n)
	})
}

// found makes the conversation's row, without a leaf.
func (s *Service) found(tx Tx, n NewConversation) (Conversation, error) {
	id, err := s.newID()
	if err != nil {
		return Conversation{}, err
	}
	now := s.now()
	c := Conversation{
		ID: id, Kind: n.Kind, Title: firstName(n.Title, untitled), CardID: given(n.CardID),
		CharacterName: n.CharacterName, Scenario: n.Scenario, PostHistory: n.PostHistory,
		TurnMode: n.TurnMode, MaxSpeakers: n.MaxSpeakers, ContextMode: n.ContextMode,
		CutImpersonation: true,
		CreatedAt:        now, UpdatedAt: now, AccessedAt: now, Revision: 1, RosterRevision: 1,
	}
	if c.Kind == "" {
		c.Kind = Solo
	}
	if c.TurnMode == "" {
		c.TurnMode = Director
	}
	if c.MaxSpeakers == 0 {
		c.MaxSpeakers = DefaultSpeakers
	}
	if c.ContextMode == "" {
		c.ContextMode = Private
	}
	if c.Kind == Group {
		c.CardID, c.CharacterName = nil, c.Title
	}
	if err := c.check(); err != nil {
		return Conversation{}, err
	}
	return c, tx.Conversations.Insert(c)
}

func (s *Service) createSolo(tx Tx, n NewConversation) (Conversation, error) {
	greetings := []string{n.FirstMessage}
	if id := given(n.CardID); id != nil {
		card, err := tx.Cards.Get(*id)
		if err != nil {
			return Conversation{}, err
		}
		n.CharacterName, n.Scenario, n.PostHistory = card.Name, card.Scenario, card.PostHistory
		greetings = append([]string{card.FirstMessage}, card.Greetings...)
		if n.Title == untitled {
			n.Title = ""
		}
		n.Title = firstName(n.Title, card.Name)
	}
	c, err := s.found(tx, n)
	if err != nil {
		return c, err
	}
	return c, s.greet(tx, &c, greetings, Message{})
}

// greet stores the openings that say something, each rolled once, as siblings.
// The first is the visible one.
func (s *Service) greet(tx Tx, c *Conversation, openings []string, as Message) error {
	for _, text := range openings {
		rolled, err := s.inline(text)
		if err != nil {
			return err
		}
		if strings.TrimSpace(rolled) == "" {
			continue
		}
		m := as
		m.ConversationID, m.Role, m.Content, m.CreatedAt = c.ID, RoleAssistant, rolled, s.now()
		if err := tx.Messages.Insert(&m); err != nil {
			return err
		}
		if c.ActiveLeaf == nil {
			c.ActiveLeaf = &m.ID
		}
	}
	if c.ActiveLeaf == nil {
		return nil
	}
	return tx.Conversations.Save(*c)
}

func (s *Service) createGroup(tx Tx, n NewConversation) (Conversation, error) {
	c, err := s.found(tx, n)
	if err != nil {
		return c, err
	}
	members, err := s.cast(tx, c.ID, n.Members, nil)
	if err != nil {
		return c, err
	}
	if err := recast(tx, nil, members); err != nil {
		return c, err
	}
	if strings.TrimSpace(n.FirstMessage) == "" {
		return c, nil
	}
	speaker, err := opener(members, n.OpeningKey)
	if err != nil {
		return c, err
	}
	exchange, err := s.newID()
	if err != nil {
		return c, err
	}
	return c, s.greet(tx, &c, []string{n.FirstMessage}, Message{SpeakerID: &speaker, ExchangeID: &exchange})
}

// opener finds who says the greeting, by the key as it is or as it was asked
// for.
func opener(members []Member, key string) (string, error) {
	for _, asked := range []string{key, slug(key)} {
		i := slices.IndexFunc(members, func(m Member) bool { return m.Key == asked })
		if i >= 0 && key != "" {
			return members[i].ID, nil
		}
	}
	return "", fault.New(fault.Invalid, "the greeting belongs to nobody").
		WithHint("name the speaker key of a member; %q is none", key)
}

// inline rolls the macros of a text that is about to be stored. What is stored
// was rolled once and is never rolled again.
func (s *Service) inline(text string) (string, error) {
	var failed error
	dice := func(n int) int {
		var b [8]byte
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, err := io.ReadFull(s.Rand, b[:]); err != nil {
			failed = fault.New(fault.Internal, "no randomness: %w", err)
			return 0
		}
		return int(binary.LittleEndian.Uint64(b[:]) % uint64(n))
	}
	out := macro.Inline(text, dice, s.Now())
	return out, failed
}
