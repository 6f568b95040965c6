package scene

import (
	"context"
	"encoding/json"
	"strings"

	"jp/internal/lib/fault"
)

// NewProposal is a new private sheet for a member. Base is the sheet it was
// made from; nil is the present one.
type NewProposal struct {
	MemberID, ExchangeID string
	Base                 *string
	Sheet, Summary       string
}

// PrivateSheet is what a member reads about itself: the scene's override, else
// description and personality of its card, which may be nil.
func PrivateSheet(m Member, card *Card) string {
	if m.Sheet != nil {
		return *m.Sheet
	}
	if card == nil {
		return ""
	}
	personality := strings.TrimSpace(card.Personality)
	if personality != "" {
		personality = "Personality: " + personality
	}
	return join("\n\n", strings.TrimSpace(card.Description), personality)
}

// PublicProfile is what the rest of the cast sees of a member: the scene's
// override, else what its card, which may be nil, tells everybody.
func PublicProfile(m Member, card *Card) string {
	if m.PublicProfile != nil {
		return *m.PublicProfile
	}
	if card == nil {
		return ""
	}
	p := card.Profile()
	var lines []string
	for _, part := range [][2]string{{"Appearance: ", p.Appearance}, {"Role: ", p.Role}} {
		if text := strings.TrimSpace(part[1]); text != "" {
			lines = append(lines, part[0]+text)
		}
	}
	return join("\n", lines...)
}

// join puts sep between the parts that are not empty.
func join(sep string, parts ...string) string {
	var full []string
	for _, p := range parts {
		if p != "" {
			full = append(full, p)
		}
	}
	return strings.Join(full, sep)
}

// Profile reads what the card tells everybody out of its extensions, which
// others write, too: what does not fit counts as empty.
func (c Card) Profile() Profile {
	var ext struct {
		Orb struct {
			Profile struct {
				Appearance json.RawMessage `json:"appearance"`
				Role       json.RawMessage `json:"role"`
			} `json:"public_profile"`
		} `json:"orb"`
	}
	var p Profile
	if json.Unmarshal(c.Extensions, &ext) == nil {
		_ = json.Unmarshal(ext.Orb.Profile.Appearance, &p.Appearance)
		_ = json.Unmarshal(ext.Orb.Profile.Role, &p.Role)
	}
	return p
}

// sheetOf is the sheet that counts for a member now.
func sheetOf(tx Tx, m Member) (string, error) {
	if m.CardID == nil {
		return PrivateSheet(m, nil), nil
	}
	card, known, err := lookup(tx.Cards.Get(*m.CardID))
	if err != nil || !known {
		return PrivateSheet(m, nil), err
	}
	return PrivateSheet(m, &card), nil
}

// Proposals returns a conversation's proposals, newest first. status is one of
// the states, "all", or "review" for what waits for a person, which "" means
// too. Errors: Invalid for another status.
func (s *Service) Proposals(ctx context.Context, id, status string) ([]Proposal, error) {
	var in []ProposalStatus
	switch status {
	case "", "review":
		in = []ProposalStatus{Pending, Stale}
	case "all":
		in = []ProposalStatus{Pending, Applied, Rejected, Stale}
	case string(Pending), string(Applied), string(Rejected), string(Stale):
		in = []ProposalStatus{ProposalStatus(status)}
	default:
		return nil, fault.New(fault.Invalid, "%q is no state of a proposal", status).
			WithHint("use review, all, pending, applied, rejected or stale")
	}
	return read(ctx, s, func(tx Tx) ([]Proposal, error) {
		if _, err := tx.Conversations.Get(id); err != nil {
			return nil, err
		}
		return tx.Proposals.Of(id, in...)
	})
}

// Propose stages a sheet. A pending proposal for the same member is rewritten:
// there is at most one. Errors: Conflict for a solo chat and for a member who
// left, NotFound for an unknown one, Invalid for an empty sheet.
func (s *Service) Propose(ctx context.Context, id string, n NewProposal) (Proposal, error) {
	if strings.TrimSpace(n.Sheet) == "" {
		return Proposal{}, fault.New(fault.Invalid, "the proposed sheet is empty")
	}
	return write(ctx, s, func(tx Tx) (Proposal, error) {
		m, err := castMember(tx, id, n.MemberID)
		if err != nil {
			return Proposal{}, err
		}
		p := Proposal{ConversationID: id, MemberID: m.ID}
		pending, err := tx.Proposals.Of(id, Pending)
		if err != nil {
			return p, err
		}
		for _, other := range pending {
			if other.MemberID == m.ID {
				p = other
			}
		}
		p.Base, err = sheetOf(tx, m)
		if err != nil {
			return p, err
		}
		if n.Base != nil {
			p.Base = *n.Base
		}
		p.ExchangeID, p.Sheet, p.Summary = n.ExchangeID, n.Sheet, n.Summary
		p.Status, p.CreatedAt, p.DecidedAt = Pending, s.now(), nil
		if p.ID == 0 {
			return p, tx.Proposals.Insert(&p)
		}
		return p, tx.Proposals.Save(p)
	})
}

// castMember returns an active member of a group.
func castMember(tx Tx, id, member string) (Member, error) {
	if _, err := group(tx, id); err != nil {
		return Member{}, err
	}
	m, err := tx.Members.Get(member)
	if err == nil && m.ConversationID != id {
		err = fault.New(fault.NotFound, "there is no member %q in this conversation", member)
	}
	if err == nil && !m.Active {
		err = fault.New(fault.Conflict, "%s has left the cast", m.Name).WithHint("add the member again in the cast")
	}
	return m, err
}

// ApplyProposal makes a proposed sheet the member's own in this scene. If the
// sheet that counts is no longer the one it was made from, or the member left,
// the proposal becomes stale, which stays so, and the error is Conflict.
func (s *Service) ApplyProposal(ctx context.Context, id string, pid int64) (Proposal, error) {
	var outdated bool
	p, err := write(ctx, s, func(tx Tx) (Proposal, error) {
		c, p, err := proposal(tx, id, pid)
		if err != nil {
			return p, err
		}
		if p.Status != Pending {
			return p, decided(p)
		}
		m, err := tx.Members.Get(p.MemberID)
		if err != nil {
			return p, err
		}
		now, err := sheetOf(tx, m)
		if err != nil {
			return p, err
		}
		if outdated = !m.Active || now != p.Base; outdated {
			p.Status = Stale
			return p, tx.Proposals.Save(p)
		}
		m.Sheet = &p.Sheet
		if err := tx.Members.Save(m); err != nil {
			return p, err
		}
		c.RosterRevision++
		c.UpdatedAt = s.now()
		if err := tx.Conversations.Save(c); err != nil {
			return p, err
		}
		return p, s.decide(tx, &p, Applied)
	})
	// The mark is kept although the caller is refused.
	if err == nil && outdated {
		err = fault.New(fault.Conflict, "the sheet has changed since this was proposed").
			WithHint("the proposal is marked stale; reject it, or take over by hand what is still right")
	}
	return p, err
}

// RejectProposal turns down a proposal that is pending or stale; Conflict for
// another.
func (s *Service) RejectProposal(ctx context.Context, id string, pid int64) (Proposal, error) {
	return write(ctx, s, func(tx Tx) (Proposal, error) {
		_, p, err := proposal(tx, id, pid)
		if err != nil {
			return p, err
		}
		if p.Status != Pending && p.Status != Stale {
			return p, decided(p)
		}
		return p, s.decide(tx, &p, Rejected)
	})
}

func decided(p Proposal) error {
	return fault.New(fault.Conflict, "this proposal is not open: it is %s", p.Status)
}

// proposal returns a proposal of a conversation.
func proposal(tx Tx, id string, pid int64) (Conversation, Proposal, error) {
	c, err := tx.Conversations.Get(id)
	if err != nil {
		return c, Proposal{}, err
	}
	p, err := tx.Proposals.Get(pid)
	if err == nil && p.ConversationID != id {
		err = fault.New(fault.NotFound, "there is no proposal %d in this conversation", pid)
	}
	return c, p, err
}

// decide ends a proposal.
func (s *Service) decide(tx Tx, p *Proposal, as ProposalStatus) error {
	now := s.now()
	p.Status, p.DecidedAt = as, &now
	return tx.Proposals.Save(*p)
}

// dismiss rejects the open proposals for all but the members of a new roster.
func (s *Service) dismiss(tx Tx, id string, roster []Member) error {
	open, err := tx.Proposals.Of(id, Pending, Stale)
	if err != nil {
		return err
	}
	stays := map[string]bool{}
	for _, m := range roster {
		stays[m.ID] = true
	}
	for _, p := range open {
		if stays[p.MemberID] {
			continue
		}
		if err := s.decide(tx, &p, Rejected); err != nil {
			return err
		}
	}
	return nil
}
