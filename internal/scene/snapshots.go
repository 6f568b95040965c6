package scene

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Snapshot returns all that an exchange in a conversation reads. Errors:
// NotFound.
func (s *Service) Snapshot(ctx context.Context, id string) (Snapshot, error) {
	return read(ctx, s, func(tx Tx) (snap Snapshot, err error) {
		if snap.Conversation, snap.Path, err = branch(tx, id, 0); err != nil {
			return snap, err
		}
		for _, load := range []func(Tx) error{
			snap.loadPeople, snap.loadFragments, snap.loadLore, s.loadModels(&snap),
		} {
			if err := load(tx); err != nil {
				return snap, err
			}
		}
		snap.Director, err = tx.Directors.Get(id)
		return snap, err
	})
}

// Installation returns the part of a snapshot that belongs to no conversation:
// settings, endpoints and models.
func (s *Service) Installation(ctx context.Context) (Snapshot, error) {
	return read(ctx, s, func(tx Tx) (snap Snapshot, err error) {
		if snap.Settings, err = tx.Settings.Get(); err != nil {
			return snap, err
		}
		return snap, s.loadModels(&snap)(tx)
	})
}

// loadPeople loads who is in the scene, and as whom the person speaks.
func (s *Snapshot) loadPeople(tx Tx) (err error) {
	if s.Settings, err = tx.Settings.Get(); err != nil {
		return err
	}
	if s.Persona, err = personaOf(tx, s.Conversation); err != nil {
		return err
	}
	if s.Members, err = tx.Members.Roster(s.Conversation.ID); err != nil {
		return err
	}
	s.Cards = map[string]Card{}
	for _, id := range s.cast() {
		card, known, err := lookup(tx.Cards.Get(id))
		if err != nil {
			return err
		}
		if known {
			s.Cards[id] = card
		}
	}
	return nil
}

// cast returns the ids of the cards in play, in the roster's order.
func (s *Snapshot) cast() (cards []string) {
	if s.Conversation.Kind == Solo && s.Conversation.CardID != nil {
		return []string{*s.Conversation.CardID}
	}
	for _, m := range s.Active() {
		if m.CardID != nil {
			cards = append(cards, *m.CardID)
		}
	}
	return cards
}

// personaOf returns the persona that counts in a conversation: its own, else
// that of a solo chat's card, else the active one; nil for none.
func personaOf(tx Tx, c Conversation) (*Persona, error) {
	id := c.PersonaLock
	if id == nil && c.Kind == Solo && c.CardID != nil {
		card, _, err := lookup(tx.Cards.Get(*c.CardID))
		if err != nil {
			return nil, err
		}
		id = card.PersonaLock
	}
	if id == nil {
		set, err := tx.Settings.Get()
		if err != nil {
			return nil, err
		}
		id = set.ActivePersonaID
	}
	if id == nil {
		return nil, nil
	}
	p, known, err := lookup(tx.Personas.Get(*id))
	if err != nil || !known {
		return nil, err
	}
	return &p, nil
}

// loadFragments loads what the Director may turn on and fill in, and what the
// Editor does not let pass. Those of cards stand behind those of the
// installation; a taken id is not theirs, even where it is turned off.
func (s *Snapshot) loadFragments(tx Tx) (err error) {
	if s.Moods, err = tx.Moods.All(); err != nil {
		return err
	}
	if s.Fragments, err = tx.Fragments.All(); err != nil {
		return err
	}
	own := len(s.Fragments)
	for _, id := range s.cast() {
		moods, fragments := s.Cards[id].fragments()
		s.Moods = adopt(s.Moods, moods, func(m Mood) string { return m.ID })
		s.Fragments = adopt(s.Fragments, fragments, func(f Fragment) string { return f.ID })
	}
	for i := range s.Fragments[own:] {
		s.Fragments[own+i].Order = borrowedOrder + i
	}
	s.Moods = slices.DeleteFunc(s.Moods, func(m Mood) bool { return !m.Enabled })
	s.Fragments = slices.DeleteFunc(s.Fragments, func(f Fragment) bool { return !f.Enabled })
	slices.SortStableFunc(s.Fragments, func(a, b Fragment) int { return cmp.Compare(a.Order, b.Order) })
	s.Phrases, err = tx.Phrases.All()
	return err
}

// adopt adds what has an id that nothing has yet.
func adopt[T any](all, more []T, id func(T) string) []T {
	for _, m := range more {
		if !slices.ContainsFunc(all, func(old T) bool { return id(old) == id(m) }) {
			all = append(all, m)
		}
	}
	return all
}

// loadLore loads the worlds that are on, and their entries.
func (s *Snapshot) loadLore(tx Tx) error {
	ids, err := worldsOf(tx, s.Conversation.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		w, err := tx.Worlds.Get(id)
		if err != nil {
			return err
		}
		s.Worlds = append(s.Worlds, w)
	}
	s.Entries, err = entriesOf(tx, ids)
	return err
}

// loadModels loads what can be asked.
func (s *Service) loadModels(snap *Snapshot) func(Tx) error {
	return func(tx Tx) error {
		stored, err := tx.Endpoints.All()
		if err != nil {
			return err
		}
		snap.Endpoints = append(stored, s.Standing...)
		snap.Models, err = tx.Models.All()
		snap.Models = append(snap.Models, s.standingModels(snap.Members)...)
		return err
	}
}

// standingModels are the models of standing endpoints that are in use: what
// files name, and what members are given. Their ids are "ENDPOINT/NAME", and
// they have no parameters: the server's own count.
func (s *Service) standingModels(members []Member) (models []ModelConfig) {
	add := func(e Endpoint, lane Lane, id *string) {
		if id == nil {
			return
		}
		name, ok := strings.CutPrefix(*id, e.ID+"/")
		if ok && !slices.ContainsFunc(models, func(m ModelConfig) bool { return m.ID == *id }) {
			models = append(models, ModelConfig{ID: *id, EndpointID: e.ID, Lane: lane, Model: name})
		}
	}
	for _, e := range s.Standing {
		add(e, LaneWriter, e.WriterConfig)
		add(e, LaneAgent, e.AgentConfig)
		for _, m := range members {
			add(e, LaneWriter, m.Model)
		}
	}
	return models
}
