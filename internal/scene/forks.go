package scene

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jp/internal/lib/fault"
)

// Checkpoint copies a conversation as it stands: settings, cast, choices, the
// visible branch with its logs, and the Director's state. An empty title is the old one with a note.
func (s *Service) Checkpoint(ctx context.Context, id, title string) (Conversation, error) {
	return write(ctx, s, func(tx Tx) (Conversation, error) {
		src, path, err := branch(tx, id, 0)
		if err != nil {
			return src, err
		}
		title := firstName(title, firstName(src.Title, src.CharacterName)+" (checkpoint)")
		c, speakers, err := s.fork(tx, src, title)
		if err != nil {
			return c, err
		}
		copies, err := graft(tx, &c, path, speakers, nil)
		if err != nil {
			return c, err
		}
		if err := copyDirector(tx, src.ID, c.ID); err != nil {
			return c, err
		}
		return c, copyLogs(tx, c.ID, copies, speakers)
	})
}

// Compress makes a conversation that goes on from a summary and the last keep
// messages, 2, 4, 6 or 8 of them, and from the Director's state, but without
// logs. The old one is left as it is. Errors: Invalid
// for another number or an empty summary.
func (s *Service) Compress(ctx context.Context, id, summary string, keep int) (Conversation, error) {
	if strings.TrimSpace(summary) == "" {
		return Conversation{}, fault.New(fault.Invalid, "the summary is empty")
	}
	if !slices.Contains([]int{2, 4, 6, 8}, keep) {
		return Conversation{}, fault.New(fault.Invalid, "%d messages cannot be kept", keep).WithHint("keep 2, 4, 6 or 8")
	}
	return write(ctx, s, func(tx Tx) (Conversation, error) {
		src, path, err := branch(tx, id, keep)
		if err != nil {
			return src, err
		}
		c, speakers, err := s.fork(tx, src, firstName(src.Title, src.CharacterName)+" (continued)")
		if err != nil {
			return c, err
		}
		if err := s.greet(tx, &c, []string{summary}, Message{}); err != nil {
			return c, err
		}
		if c.ActiveLeaf == nil { // its macros came to nothing
			return c, fault.New(fault.Invalid, "the summary is empty")
		}
		for i := range path {
			path[i].TurnIndex = i + 1
		}
		if _, err := graft(tx, &c, path, speakers, c.ActiveLeaf); err != nil {
			return c, err
		}
		return c, copyDirector(tx, src.ID, c.ID)
	})
}

// NewInGroup makes an empty conversation with a group's cast and settings, in
// the same family. Errors: Conflict for a solo chat.
func (s *Service) NewInGroup(ctx context.Context, id string) (Conversation, error) {
	return write(ctx, s, func(tx Tx) (Conversation, error) {
		src, err := group(tx, id)
		if err != nil {
			return src, err
		}
		c, _, err := s.fork(tx, src, src.Title)
		return c, err
	})
}

// branch returns a conversation and the last limit messages of its visible
// branch, all for 0.
func branch(tx Tx, id string, limit int) (Conversation, []Step, error) {
	c, err := tx.Conversations.Get(id)
	if err != nil || c.ActiveLeaf == nil {
		return c, nil, err
	}
	path, err := tx.Messages.Path(*c.ActiveLeaf, limit)
	return c, path, err
}

// fork copies a conversation's settings, cast and choices, all but what is
// named here, and tells which member became which. Proposals and the workflows'
// slots stay behind.
func (s *Service) fork(tx Tx, src Conversation, title string) (c Conversation, speakers map[string]string, err error) {
	c = src
	if c.ID, err = s.newID(); err != nil {
		return c, nil, err
	}
	c.Title, c.MacroSeed, c.ActiveLeaf, c.Slots = title, src.Seed(), nil, nil
	c.Revision, c.RosterRevision = 1, 1
	c.CreatedAt = s.now()
	c.UpdatedAt, c.AccessedAt = c.CreatedAt, c.CreatedAt
	if root := src.Root(); src.Kind == Group {
		c.RootID = &root
	}
	if err := tx.Conversations.Insert(c); err != nil {
		return c, nil, err
	}
	if speakers, err = s.forkMembers(tx, src.ID, c.ID); err != nil {
		return c, nil, err
	}
	choices, err := tx.Choices.Of(src.ID)
	if err != nil {
		return c, nil, err
	}
	for _, ch := range choices {
		ch.ConversationID = c.ID
		if err := tx.Choices.Put(ch); err != nil {
			return c, nil, err
		}
	}
	return c, speakers, nil
}

// forkMembers copies a roster, tombstones too, under new ids.
func (s *Service) forkMembers(tx Tx, from, to string) (map[string]string, error) {
	roster, err := tx.Members.Roster(from)
	if err != nil {
		return nil, err
	}
	speakers := map[string]string{}
	for _, m := range roster {
		old := m.ID
		if m.ID, err = s.newID(); err != nil {
			return nil, err
		}
		m.ConversationID, m.Slots = to, nil
		if err := tx.Members.Insert(m); err != nil {
			return nil, err
		}
		speakers[old] = m.ID
	}
	return speakers, nil
}

// graft copies a path behind parent, with its uploads, and shows it; copies is
// from old to new message. All of a message is copied but what places it in its
// conversation.
func graft(tx Tx, c *Conversation, path []Step, speakers map[string]string, parent *int64) (copies map[int64]int64, err error) {
	copies = map[int64]int64{}
	for _, step := range path {
		m := step.Message
		m.ConversationID, m.ParentID = c.ID, parent
		if m.SpeakerID != nil {
			speaker := speakers[*m.SpeakerID]
			m.SpeakerID = given(&speaker)
		}
		if err := tx.Messages.Insert(&m); err != nil {
			return nil, err
		}
		copies[step.ID] = m.ID
		parent = &m.ID
	}
	if len(path) == 0 {
		return copies, nil
	}
	if err := tx.Uploads.Copy(copies); err != nil {
		return nil, err
	}
	c.ActiveLeaf = parent
	return copies, tx.Conversations.Save(*c)
}

// copyDirector lets a fork's Director go on from where the other one is.
func copyDirector(tx Tx, from, to string) error {
	d, err := tx.Directors.Get(from)
	if err != nil {
		return err
	}
	d.ConversationID = to
	return tx.Directors.Save(d)
}

// copyLogs copies the logs of messages to their copies. Plans name members.
func copyLogs(tx Tx, conversation string, copies map[int64]int64, speakers map[string]string) error {
	logs, err := tx.Logs.OfMessages(slices.Sorted(maps.Keys(copies))...)
	if err != nil {
		return err
	}
	var names []string
	for from, to := range speakers {
		names = append(names, string(quoted(from)), string(quoted(to)))
	}
	rename := strings.NewReplacer(names...)
	for _, l := range logs {
		message := copies[*l.MessageID]
		l.ConversationID, l.MessageID = conversation, &message
		if l.Plan != nil {
			l.Plan = json.RawMessage(rename.Replace(string(l.Plan)))
		}
		if err := tx.Logs.Insert(&l); err != nil {
			return err
		}
	}
	return nil
}
