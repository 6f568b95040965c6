package prompt

import (
	"regexp"
	"strings"

	"jp/internal/scene"
	"jp/internal/scene/macro"
)

// addCast adds what the system body says of a group's cast. Only in swap does
// it depend on the speaker, who is known by id; "" is nobody.
func (p *Scene) addCast(s *sections, speaker string) {
	switch p.s.Conversation.ContextMode {
	case scene.Shared:
		s.add(keyCastDossiers, p.dossiers())
	case scene.Swap:
		s.add(keyCastPublic, p.publicCast())
		for _, m := range p.cast {
			if m.ID == speaker {
				s.add(keyActiveCard, p.activeCard(m))
			}
		}
	default: // an unknown mode shows least
		s.add(keyCastPublic, p.publicCast())
	}
}

// private tells whether a speaker's own sheet stands in the closing message.
func (p *Scene) private() bool {
	mode := p.s.Conversation.ContextMode
	return mode != scene.Shared && mode != scene.Swap
}

// publicCast is every member with what everybody sees of it.
func (p *Scene) publicCast() string {
	if len(p.cast) == 0 {
		return ""
	}
	parts := []string{"## Cast"}
	for _, m := range p.cast {
		profile := macro.Resolve(scene.PublicProfile(m, p.s.CardOf(m)), p.body)
		parts = append(parts, strings.TrimSpace("### "+p.names[m.ID]+"\n"+strings.TrimSpace(profile)))
	}
	return strings.Join(parts, blank)
}

// dossiers are the open cards of the whole cast.
func (p *Scene) dossiers() string {
	if len(p.cast) == 0 {
		return ""
	}
	parts := []string{"## Cast\n" + p.roster()}
	for _, m := range p.cast {
		card := joined(p.sheet(m, p.body), p.examples(m, p.body, "### Example Dialogue"))
		if card != "" {
			parts = append(parts, "## Character dossier: "+p.names[m.ID]+"\n"+card)
		}
	}
	return strings.Join(parts, blank)
}

// activeCard is the card of the one who speaks in swap.
func (p *Scene) activeCard(m scene.Member) string {
	card := joined(p.sheet(m, p.body), p.examples(m, p.body, "## Example Dialogue"))
	if card == "" {
		return ""
	}
	return "## Character: " + p.names[m.ID] + "\n" + card
}

// Sheet is what a member reads about itself, as its closing message says it.
func (p *Scene) Sheet(m scene.Member) string { return p.sheet(m, p.tail) }

// sheet is what a member reads about itself. In it a {{description}} would be
// the sheet again, and is nothing.
func (p *Scene) sheet(m scene.Member, base macro.Scope) string {
	scope := p.of(m, base)
	text := scope.Description
	scope.Description = ""
	return strings.TrimSpace(macro.Resolve(text, scope))
}

// examples is the sample dialogue of a member's card.
func (p *Scene) examples(m scene.Member, base macro.Scope, heading string) string {
	card := p.s.CardOf(m)
	if card == nil {
		return ""
	}
	return dialogue(card.Examples, heading, p.of(m, base))
}

// start is what cards write above each sample.
var start = regexp.MustCompile(`(?i)<START>`)

// dialogue puts a heading above each sample. The headings go in before macros
// are replaced, so that no name can pass for a mark.
func dialogue(text, heading string, scope macro.Scope) string {
	var parts []string
	for _, sample := range start.Split(text, -1) {
		if sample = strings.TrimSpace(sample); sample != "" {
			parts = append(parts, heading+"\n"+sample)
		}
	}
	out := strings.TrimSpace(macro.Resolve(strings.Join(parts, blank), scope))
	if strings.TrimSpace(strings.ReplaceAll(out, heading, "")) == "" {
		return ""
	}
	return out
}
