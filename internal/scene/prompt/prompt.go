// Package prompt owns what a call of a model may see: the context modes, the
// system body, the history, the message that closes a call, and their sizes.
// Nobody else decides what of a card is shown to whom.
//
// A Scene is one exchange's view. Its answers depend on nothing but the
// snapshot, the moment and the arguments, so that calls of one exchange begin
// with the same bytes: in the modes private and shared the system body is the
// same for every speaker and for none; in swap it is up to the end of the cast.
// What changes from one exchange to the next stands in the closing message.
//
// In private and swap nothing of a member's card but its public profile is in
// what another member is shown. Names, messages and what macros stood for are
// data: they are never read for macros.
//
// A Scene is safe for use by many goroutines.
package prompt

import (
	"strconv"
	"strings"
	"time"

	"jp/internal/scene"
	"jp/internal/scene/macro"
)

// Scene is what the calls of one exchange are made from.
type Scene struct {
	s       scene.Snapshot
	cast    []scene.Member    // active, in the roster's order
	names   map[string]string // of all members, by id
	card    *scene.Card       // of a solo chat
	persona string            // its description
	blocks  []string          // of workflows, at the end of the system body
	// What macros stand for outside of a member's texts: in the system body,
	// in the closing message, and in lore that is rolled for each exchange.
	body, tail, depth macro.Scope
}

// New freezes a snapshot for the exchange that begins at now.
func New(s scene.Snapshot, now time.Time) *Scene {
	p := &Scene{s: s, cast: s.Active(), names: make(map[string]string, len(s.Members))}
	for _, m := range s.Members {
		p.names[m.ID] = first(line(m.Name), m.Key)
	}
	if id := s.Conversation.CardID; !p.group() && id != nil {
		if card, ok := s.Cards[*id]; ok {
			p.card = &card
		}
	}
	p.persona = s.Settings.UserDescription
	if s.Persona != nil {
		p.persona = s.Persona.Description
	}
	seed := s.Conversation.Seed()
	p.tail = macro.Scope{
		User: first(line(s.UserName()), "User"), Char: p.char(), Now: now,
		Dice: macro.Seeded(seed),
	}
	if p.group() {
		p.tail.Cast = p.roster()
	}
	if p.card != nil {
		p.tail.Description, p.tail.HasDescription = p.card.Description, true
	}
	p.body, p.depth = p.tail, p.tail
	p.body.Now = s.Conversation.CreatedAt.In(now.Location())
	p.depth.Dice = macro.Seeded(seed + "\x00" + strconv.FormatInt(now.UnixNano(), 10))
	return p
}

// With is the same view with texts of workflows at the end of the system body.
func (p *Scene) With(blocks ...string) *Scene {
	q := *p
	q.blocks = blocks
	return &q
}

// group tells whether there is a cast; else a single character answers.
func (p *Scene) group() bool { return p.s.Conversation.Kind == scene.Group }

// char is what {{char}} means outside of a member's texts.
func (p *Scene) char() string {
	c := p.s.Conversation
	if p.group() {
		return first(line(c.Title), p.roster(), "the scene")
	}
	return first(p.character(), line(c.Title), "Narrator")
}

// character is the name of a solo chat's character, empty without one.
func (p *Scene) character() string {
	name := line(p.s.Conversation.CharacterName)
	if p.card != nil {
		name = first(name, line(p.card.Name))
	}
	return name
}

// roster lists the names of the cast.
func (p *Scene) roster() string {
	names := make([]string, len(p.cast))
	for i, m := range p.cast {
		names[i] = p.names[m.ID]
	}
	return strings.Join(names, ", ")
}

// SceneScope is what macros stand for outside of a member's texts, with the
// clock of the exchange.
func (p *Scene) SceneScope() macro.Scope { return p.tail }

// of is a scope in the texts of a member's card.
func (p *Scene) of(m scene.Member, s macro.Scope) macro.Scope {
	s.Char = first(p.names[m.ID], line(m.Name))
	s.Description, s.HasDescription = scene.PrivateSheet(m, p.s.CardOf(m)), true
	return s
}

// Name is what a speaker is called, also one who left. nil is the speaker of a
// summary.
func (p *Scene) Name(memberID *string) string {
	if memberID == nil {
		return "Summary"
	}
	if name, ok := p.names[*memberID]; ok {
		return name
	}
	return "Unknown speaker"
}

// line puts a name on one line.
func line(name string) string { return strings.Join(strings.Fields(name), " ") }

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
