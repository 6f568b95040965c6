package prompt

import (
	"strings"

	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/macro"
)

// System is the system body. lanePrompt is that of LanePrompt. speaker is a
// member's id, and counts in swap alone; "" is the neutral base of calls that
// are nobody's. Of the lore only the constants are in it.
func (p *Scene) System(lanePrompt string, sel lore.Selection, speaker string) []Section {
	var s sections
	s.add(keySystemPrompt, p.systemPrompt(lanePrompt))
	if p.group() {
		p.addCast(&s, speaker)
	} else {
		s.add(keyCharacter, p.soloCharacter())
	}
	s.under(keyLoreConstant, "## Lorebook\n", entries(sel.Constant, p.body))
	s.under(keyScenario, "## Scenario\n", macro.Resolve(p.s.Conversation.Scenario, p.body))
	if p.card != nil {
		s.add(keyExamples, dialogue(p.card.Examples, "## Example Dialogue", p.body))
	}
	s.under(keyPostHistory, "## Additional Instructions\n", p.postHistory(p.s.Conversation.PostHistory, p.body))
	s.add(keyUserPersona, "## User: "+p.body.User+"\n"+strings.TrimSpace(macro.Resolve(p.persona, p.body)))
	for _, block := range p.blocks {
		s.add(keyWorkflow, macro.Resolve(block, p.body))
	}
	return s
}

// systemPrompt is the lane's, unless a solo chat's card puts its own in its
// place. No card speaks for a cast.
func (p *Scene) systemPrompt(lanePrompt string) string {
	if p.card == nil || p.s.Settings.PreventPromptOverrides || strings.TrimSpace(p.card.SystemPrompt) == "" {
		return macro.Resolve(lanePrompt, p.body)
	}
	scope := p.body
	scope.Original, scope.HasOriginal = lanePrompt, true
	return macro.Resolve(p.card.SystemPrompt, scope)
}

// soloCharacter is the card of a solo chat.
func (p *Scene) soloCharacter() string {
	name := p.character()
	if name == "" {
		return ""
	}
	scope := p.body
	scope.Description = ""
	sheet := macro.Resolve(scene.PrivateSheet(scene.Member{}, p.card), scope)
	return "## Character: " + name + "\n" + strings.TrimSpace(sheet)
}

// postHistory is a card's or the scene's instructions. They replace none of
// ours, so {{original}} is nothing.
func (p *Scene) postHistory(text string, scope macro.Scope) string {
	if p.s.Settings.PreventPromptOverrides {
		return ""
	}
	scope.HasOriginal = true
	return macro.Resolve(text, scope)
}
