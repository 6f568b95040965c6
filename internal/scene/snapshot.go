package scene

import "slices"

// Snapshot is all that an exchange reads, as of one moment. Settings, roster
// and worlds that change meanwhile count for the next exchange.
type Snapshot struct {
	Conversation Conversation
	Settings     Settings
	Persona      *Persona        // that counts here; nil is the settings' user
	Members      []Member        // tombstones too, in the roster's order
	Cards        map[string]Card // of active members, or the solo chat's
	Path         []Step          // the visible branch, from the root
	Moods        []Mood          // enabled; of the installation, then of the cast's cards
	Fragments    []Fragment      // enabled, by Order; the same
	Phrases      []Phrase
	Worlds       []World // that are on here
	Entries      []Entry // enabled ones of Worlds, in the order of lore blocks
	Director     DirectorState
	Endpoints    []Endpoint // stored and standing
	Models       []ModelConfig
}

// Active returns the cast: muted members too, but nobody who left.
func (s Snapshot) Active() []Member {
	return slices.DeleteFunc(slices.Clone(s.Members), func(m Member) bool { return !m.Active })
}

// Eligible returns who may speak, in the roster's order.
func (s Snapshot) Eligible() []Member {
	return slices.DeleteFunc(s.Active(), func(m Member) bool { return m.Muted })
}

// Member returns a member, also one who left.
func (s Snapshot) Member(id string) (Member, bool) {
	i := slices.IndexFunc(s.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return Member{}, false
	}
	return s.Members[i], true
}

// CardOf returns a member's card, nil for one without or whose card is gone.
func (s Snapshot) CardOf(m Member) *Card {
	if m.CardID == nil {
		return nil
	}
	if c, ok := s.Cards[*m.CardID]; ok {
		return &c
	}
	return nil
}

// UserName is the name that {{user}} stands for here.
func (s Snapshot) UserName() string {
	if s.Persona != nil {
		return s.Persona.Name
	}
	return s.Settings.UserName
}
