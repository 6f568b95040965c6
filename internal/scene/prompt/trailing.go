package prompt

import (
	"strings"

	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/macro"
)

// Turn is what one call of the Writer answers.
type Turn struct {
	Speaker string       // a member's id; "" in a solo chat
	Path    []scene.Step // the history that stands before
	Cue     string       // the Director's word for this speaker
	// Message is the person's message, as it is stored, and Author its author;
	// "" is the persona. Empty for all speakers but the first, who find it in
	// the history.
	Message, Author string
	Steer           bool // Message is a direction for a rewrite, and nobody's line
	Lore            lore.Selection
	Injection       string // the Director's block, macros replaced
	ToolsShipped    bool
	LengthNudge     string
}

// Trailing is the person's message that ends a call of the Writer. It is never
// empty, so that no call ends in a reply.
func (p *Scene) Trailing(t Turn) []Section {
	var s sections
	m, speaks := p.s.Member(t.Speaker)
	if speaks {
		p.addSpeaker(&s, m)
	}
	s.apart(keyLore, "", p.LoreBlock(t.Lore))
	s.apart(keyInjection, "", t.Injection)
	if t.ToolsShipped {
		s.add(keyNoTools, noTools)
	}
	s.add(keyLength, t.LengthNudge)
	s.under(keyCue, "## Your cue\n", macro.Stored(t.Cue, p.tail))
	s.apart(keyMessage, "", p.message(t))
	if !speaks && strings.TrimSpace(t.Message) == "" {
		s.add(keyNudge, macro.Resolve(nudge, p.tail))
	}
	s.apart(keyLoreDepth, "", entries(t.Lore.AtDepth, p.depth))
	if speaks {
		s.add(keySpeakerGuard, p.guard(m))
	}
	return s
}

// addSpeaker says who speaks, and what only the speaker may read.
func (p *Scene) addSpeaker(s *sections, m scene.Member) {
	s.add(keySpeaker, "## You are writing as "+p.names[m.ID])
	if p.private() {
		s.under(keySpeakerSheet, strings.TrimSpace(transcript)+blank, p.sheet(m, p.tail))
		s.add(keySpeakerSample, p.examples(m, p.tail, "## Example Dialogue"))
	}
	if card := p.s.CardOf(m); card != nil {
		s.under(keySpeakerPost, "## Additional Instructions\n", p.postHistory(card.PostHistory, p.of(m, p.tail)))
	}
}

// message is the person's message as the history will show it.
func (p *Scene) message(t Turn) string {
	host := ""
	if !t.Steer {
		host = author(t.Path)
	}
	return p.said(t.Message, first(line(t.Author), p.tail.User), host)
}

func (p *Scene) guard(m scene.Member) string {
	text := guard
	if m.Kind == scene.Narrator {
		text = guardNarrator
	}
	return macro.Resolve(text, p.of(m, p.tail))
}
