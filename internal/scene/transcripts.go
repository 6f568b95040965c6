package scene

import (
	"context"
	"encoding/json"
	"time"

	"jp/internal/lib/fault"
)

// tavernSlot keeps what only the source of an imported message understands.
const tavernSlot = "tavern"

// Transcript is a conversation in the shape of other programs' chat files: one
// line after the other, each with the texts it might have had.
type Transcript struct {
	Conversation NewConversation // FirstMessage is not used: it is the first line
	// Former are members who left. Their places follow those of
	// Conversation.Members.
	Former []MemberSpec
	Lines  []TranscriptLine
	Extras json.RawMessage // unknown fields of the source, an object
}

// TranscriptLine is one message with its siblings.
type TranscriptLine struct {
	Role     Role
	Member   int    // who said it, an index into the members; -1 for none
	Author   string // of a user line
	Variants []string
	Chosen   int // the variant that the next line follows
	At       time.Time
	Extras   json.RawMessage // unknown fields of the source, an object
}

// ImportTranscript makes a conversation of a transcript. Its texts are stored
// as they are. Errors: as of CreateConversation, and Invalid for a line that
// does not make sense.
func (s *Service) ImportTranscript(ctx context.Context, t Transcript) (Conversation, error) {
	return write(ctx, s, func(tx Tx) (Conversation, error) {
		c, err := s.found(tx, t.Conversation)
		if err != nil {
			return c, err
		}
		if c.Slots, err = tavernSlots(t.Extras); err != nil {
			return c, fault.New(fault.Invalid, "the transcript has extras that are no JSON: %w", err)
		}
		var speakers []string
		if c.Kind == Group {
			if speakers, err = s.importCast(tx, c.ID, t); err != nil {
				return c, err
			}
		}
		for i, line := range t.Lines {
			if err := s.importLine(tx, &c, line, speakers, i); err != nil {
				return c, err
			}
		}
		return c, tx.Conversations.Save(c)
	})
}

// importCast stores the members and the former ones and returns their ids.
func (s *Service) importCast(tx Tx, id string, t Transcript) ([]string, error) {
	if all := len(t.Conversation.Members) + len(t.Former); all > MostMembers {
		return nil, tooMany(all)
	}
	members, err := s.cast(tx, id, t.Conversation.Members, nil)
	if err != nil {
		return nil, err
	}
	// One by one: the same card may have left more than once.
	for _, spec := range t.Former {
		former, err := s.cast(tx, id, []MemberSpec{spec}, members)
		if err != nil {
			return nil, err
		}
		former[0].Order, former[0].Active = len(members), false
		members = append(members, former[0])
	}
	var ids []string
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	return ids, recast(tx, nil, members)
}

// importLine stores the variants of one line behind the leaf and moves the
// leaf to the chosen one.
func (s *Service) importLine(tx Tx, c *Conversation, line TranscriptLine, speakers []string, turn int) error {
	m := Message{ConversationID: c.ID, ParentID: c.ActiveLeaf, Role: line.Role, TurnIndex: turn, Author: line.Author}
	if line.Chosen < 0 || line.Chosen >= len(line.Variants) {
		return fault.New(fault.Invalid, "line %d has no text", turn+1)
	}
	if line.Member >= 0 && c.Kind == Group {
		if line.Member >= len(speakers) {
			return fault.New(fault.Invalid, "line %d is said by nobody", turn+1)
		}
		m.SpeakerID = &speakers[line.Member]
	}
	err := checkSpeaker(tx, m)
	if err != nil {
		return err
	}
	if m.CreatedAt = line.At.UTC().Truncate(time.Microsecond); line.At.IsZero() {
		m.CreatedAt = s.now()
	}
	for i, text := range line.Variants {
		v := m
		v.Content = text
		if i == line.Chosen {
			if v.Slots, err = tavernSlots(line.Extras); err != nil {
				return fault.New(fault.Invalid, "line %d has extras that are no JSON: %w", turn+1, err)
			}
		}
		if err := tx.Messages.Insert(&v); err != nil {
			return err
		}
		if i == line.Chosen {
			c.ActiveLeaf = &v.ID
		}
	}
	return nil
}

// Transcript returns the visible branch of a conversation, each message with
// its siblings.
func (s *Service) Transcript(ctx context.Context, id string) (Transcript, error) {
	return read(ctx, s, func(tx Tx) (Transcript, error) {
		c, path, err := branch(tx, id, 0)
		if err != nil {
			return Transcript{}, err
		}
		t := Transcript{Conversation: NewConversation{
			Title: c.Title, Kind: c.Kind, CardID: c.CardID, CharacterName: c.CharacterName, Scenario: c.Scenario,
			PostHistory: c.PostHistory, TurnMode: c.TurnMode, MaxSpeakers: c.MaxSpeakers, ContextMode: c.ContextMode,
		}, Extras: tavernExtras(c.Slots)}
		places, err := t.exportCast(tx, id)
		if err != nil {
			return t, err
		}
		for _, step := range path {
			line, err := exportLine(tx, step)
			if err != nil {
				return t, err
			}
			if place, ok := places[value(step.SpeakerID)]; ok {
				line.Member = place
			}
			t.Lines = append(t.Lines, line)
		}
		return t, nil
	})
}

// exportCast writes the roster and tells each member's place in it.
func (t *Transcript) exportCast(tx Tx, id string) (map[string]int, error) {
	roster, err := tx.Members.Roster(id)
	if err != nil {
		return nil, err
	}
	places := map[string]int{}
	for _, active := range []bool{true, false} {
		for _, m := range roster {
			if m.Active != active {
				continue
			}
			places[m.ID] = len(places)
			spec := MemberSpec{
				Key: m.Key, CardID: m.CardID, Name: m.Name, PublicProfile: m.PublicProfile, Sheet: m.Sheet,
				Kind: m.Kind, Muted: m.Muted, Model: To(m.Model),
			}
			if active {
				t.Conversation.Members = append(t.Conversation.Members, spec)
			} else {
				t.Former = append(t.Former, spec)
			}
		}
	}
	return places, nil
}

// exportLine writes a message with its siblings.
func exportLine(tx Tx, step Step) (TranscriptLine, error) {
	line := TranscriptLine{Role: step.Role, Member: -1, Author: step.Author, At: step.CreatedAt, Extras: tavernExtras(step.Slots)}
	if step.Branches <= 1 {
		line.Variants = []string{step.Content}
		return line, nil
	}
	siblings, err := tx.Messages.Siblings(step.Message)
	if err != nil {
		return line, err
	}
	for i, id := range siblings {
		m, err := tx.Messages.Get(step.ConversationID, id)
		if err != nil {
			return line, err
		}
		if id == step.ID {
			line.Chosen = i
		}
		// The source's fields are with one of the siblings only.
		if line.Extras == nil {
			line.Extras = tavernExtras(m.Slots)
		}
		line.Variants = append(line.Variants, m.Content)
	}
	return line, nil
}

// tavernSlots is where extras are kept, nil for none.
func tavernSlots(extras json.RawMessage) (Slots, error) {
	if extras == nil {
		return nil, nil
	}
	return json.Marshal(map[string]json.RawMessage{tavernSlot: extras})
}

func tavernExtras(slots Slots) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(slots, &all) != nil {
		return nil
	}
	return all[tavernSlot]
}

// value is what p points at, or the zero value.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
