package scene

import (
	"context"

	"jp/internal/lib/fault"
)

// NewMessage is a message to add. Without a Parent it follows the visible
// branch's last message; a Parent of nil makes a sibling of the first. Without a
// TurnIndex it is the next after its parent's.
type NewMessage struct {
	Parent     Change[*int64]
	Role       Role
	Content    string
	TurnIndex  *int
	SpeakerID  *string
	ExchangeID *string
	Author     string
	Incomplete string
	Direction  string
	Cut        *Cut
	// WriterDraft and Slots are stored as they are.
	WriterDraft *string
	Slots       Slots
	Uploads     []NewUpload
	// Once is the key that the exchange was asked for under; it is there when
	// the message is.
	Once *Once
	// PinPersona makes the persona that counts the conversation's own, unless
	// it has one.
	PinPersona bool
}

// NewUpload is a file to attach.
type NewUpload struct {
	MIME, Filename string
	Data           []byte
}

// Append adds a message with its uploads and shows it; its macros are rolled.
// On another branch moods and cooldowns are those of that branch. Whoever calls it has the claim. Errors: NotFound for an unknown parent,
// Invalid for a speaker of another conversation or one of a user message,
// Conflict for a key that was used.
func (s *Service) Append(ctx context.Context, id string, n NewMessage) (Message, error) {
	return write(ctx, s, func(tx Tx) (Message, error) { return s.add(tx, id, n) })
}

// add adds a message with all that goes with it.
func (s *Service) add(tx Tx, id string, n NewMessage) (Message, error) {
	c, err := tx.Conversations.Get(id)
	if err != nil {
		return Message{}, err
	}
	m, err := s.message(tx, c, n)
	if err != nil {
		return m, err
	}
	if err := tx.Messages.Insert(&m); err != nil {
		return m, err
	}
	for _, u := range n.Uploads {
		_, err := tx.Uploads.Insert(Upload{MessageID: m.ID, MIME: u.MIME, Filename: u.Filename, CreatedAt: m.CreatedAt}, u.Data)
		if err != nil {
			return m, err
		}
	}
	if n.Once != nil {
		if err := remember(tx, id, *n.Once, m.CreatedAt); err != nil {
			return m, err
		}
	}
	return m, show(tx, c, m, n.PinPersona)
}

// show makes a new message the end of the visible branch.
func show(tx Tx, c Conversation, m Message, pinPersona bool) error {
	if pinPersona { // one that is there stays
		p, err := personaOf(tx, c)
		if err != nil {
			return err
		}
		if p != nil {
			c.PersonaLock = &p.ID
		}
	}
	elsewhere := !sameMessage(c.ActiveLeaf, m.ParentID)
	c.ActiveLeaf, c.UpdatedAt = &m.ID, m.CreatedAt
	if elsewhere {
		if err := redirect(tx, c); err != nil {
			return err
		}
	}
	return tx.Conversations.Save(c)
}

func sameMessage(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// message makes the row that n becomes in c.
func (s *Service) message(tx Tx, c Conversation, n NewMessage) (Message, error) {
	m := Message{
		ConversationID: c.ID, ParentID: c.ActiveLeaf, Role: n.Role, SpeakerID: n.SpeakerID, ExchangeID: n.ExchangeID,
		Author: n.Author, Incomplete: n.Incomplete, Direction: n.Direction, Cut: n.Cut,
		WriterDraft: n.WriterDraft, Slots: n.Slots, CreatedAt: s.now(),
	}
	n.Parent.apply(&m.ParentID)
	if m.ParentID != nil {
		parent, err := tx.Messages.Get(c.ID, *m.ParentID)
		if err != nil {
			return m, err
		}
		m.TurnIndex = parent.TurnIndex + 1
	}
	if n.TurnIndex != nil {
		m.TurnIndex = *n.TurnIndex
	}
	if err := checkSpeaker(tx, m); err != nil {
		return m, err
	}
	content, err := s.inline(n.Content)
	m.Content = content
	return m, err
}

// checkSpeaker refuses a role that is none, and a speaker who is not in the
// conversation or who speaks a person's words.
func checkSpeaker(tx Tx, m Message) error {
	if m.Role != RoleUser && m.Role != RoleAssistant {
		return fault.New(fault.Invalid, "%q is no role of a message", m.Role)
	}
	if m.SpeakerID == nil {
		return nil
	}
	member, known, err := lookup(tx.Members.Get(*m.SpeakerID))
	switch {
	case err != nil:
		return err
	case !known || member.ConversationID != m.ConversationID:
		return fault.New(fault.Invalid, "the speaker is not in this conversation")
	case m.Role == RoleUser:
		return fault.New(fault.Invalid, "a member cannot speak for a person")
	}
	return nil
}

// Messages returns the last limit messages of the visible branch, all for 0;
// or those that lead to the message before, itself not among them. Errors:
// NotFound for an unknown one.
func (s *Service) Messages(ctx context.Context, id string, before *int64, limit int) ([]Step, error) {
	if limit < 0 {
		return nil, fault.New(fault.Invalid, "a limit of %d messages", limit)
	}
	return read(ctx, s, func(tx Tx) ([]Step, error) {
		if before == nil {
			_, path, err := branch(tx, id, limit)
			return path, err
		}
		m, err := message(tx, id, *before)
		if err != nil || m.ParentID == nil {
			return nil, err
		}
		return tx.Messages.Path(*m.ParentID, limit)
	})
}

// PathTo returns the messages from the root to one on any branch, itself the
// last. Errors: NotFound.
func (s *Service) PathTo(ctx context.Context, id string, mid int64) ([]Step, error) {
	return read(ctx, s, func(tx Tx) ([]Step, error) {
		if _, err := message(tx, id, mid); err != nil {
			return nil, err
		}
		return tx.Messages.Path(mid, 0)
	})
}

// message returns a message of a conversation; NotFound says which of the two
// is unknown.
func message(tx Tx, id string, mid int64) (Message, error) {
	if _, err := tx.Conversations.Get(id); err != nil {
		return Message{}, err
	}
	return tx.Messages.Get(id, mid)
}

// DeletePreview measures what DeleteMessage would delete.
func (s *Service) DeletePreview(ctx context.Context, id string, mid int64) (Extent, error) {
	return read(ctx, s, func(tx Tx) (Extent, error) {
		m, err := message(tx, id, mid)
		if err != nil {
			return Extent{}, err
		}
		doomed, err := tx.Messages.Siblings(m)
		if err != nil {
			return Extent{}, err
		}
		return tx.Messages.Extent(doomed)
	})
}

// DeleteMessage deletes a message, its siblings and all that descend from them,
// and returns the visible branch. If that went through them it ends at their
// parent now, and moods and cooldowns are those of then.
func (s *Service) DeleteMessage(ctx context.Context, id string, mid int64) ([]Step, error) {
	err := s.retree(ctx, id, mid, func(tx Tx, c *Conversation, m Message) error {
		doomed, err := tx.Messages.Siblings(m)
		if err != nil {
			return err
		}
		if err := tx.Messages.Delete(doomed); err != nil {
			return err
		}
		if *c, err = tx.Conversations.Get(id); err != nil {
			return err
		}
		c.UpdatedAt = s.now()
		if c.ActiveLeaf != nil {
			return nil
		}
		c.ActiveLeaf = m.ParentID
		return redirect(tx, *c)
	})
	if err != nil {
		return nil, err
	}
	return s.Messages(ctx, id, nil, 0)
}

// mostText is how long a message that somebody writes may be, in bytes: it is
// part of every prompt from then on.
const mostText = 1 << 20

// CheckText refuses a message that is too long to be written by anybody: Invalid.
func CheckText(content string) error {
	if len(content) <= mostText {
		return nil
	}
	return fault.New(fault.Invalid, "the message is longer than a megabyte").WithHint("send it in parts")
}

// EditMessage rewrites a message in place; the text's macros are rolled. The
// draft that was kept of the old text goes.
func (s *Service) EditMessage(ctx context.Context, id string, mid int64, content string) error {
	if err := CheckText(content); err != nil {
		return err
	}
	return s.retree(ctx, id, mid, func(tx Tx, c *Conversation, m Message) (err error) {
		if m.Content, err = s.inline(content); err != nil {
			return err
		}
		m.WriterDraft = nil
		c.UpdatedAt = s.now()
		return tx.Messages.Save(m)
	})
}

// SwitchBranch shows the branch that leads through a message, down to its
// newest end, and returns it. Moods and cooldowns are those of the branch.
func (s *Service) SwitchBranch(ctx context.Context, id string, mid int64) ([]Step, error) {
	err := s.retree(ctx, id, mid, func(tx Tx, c *Conversation, m Message) error {
		leaf, err := tx.Messages.Deepest(m.ID)
		if err != nil || sameMessage(c.ActiveLeaf, &leaf) {
			return err
		}
		c.ActiveLeaf = &leaf
		return redirect(tx, *c)
	})
	if err != nil {
		return nil, err
	}
	return s.Messages(ctx, id, nil, 0)
}

// retree changes a conversation's tree at a message, after the exchange that
// runs in it.
func (s *Service) retree(ctx context.Context, id string, mid int64, change func(Tx, *Conversation, Message) error) error {
	release, err := s.settle(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return s.Store.Update(ctx, func(tx Tx) error {
		c, err := tx.Conversations.Get(id)
		if err != nil {
			return err
		}
		m, err := tx.Messages.Get(id, mid)
		if err != nil {
			return err
		}
		if err := change(tx, &c, m); err != nil {
			return err
		}
		return tx.Conversations.Save(c)
	})
}

// Upload returns a file with its bytes, or NotFound.
func (s *Service) Upload(ctx context.Context, id int64) (u Upload, data []byte, err error) {
	err = s.Store.View(ctx, func(tx Tx) error {
		u, data, err = tx.Uploads.Content(id)
		return err
	})
	return u, data, err
}
