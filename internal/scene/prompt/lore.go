package prompt

import (
	"jp/internal/scene/lore"
	"jp/internal/scene/macro"
)

// LoreBlock is the lore that keys fired, as every call of an exchange is given
// it in its last message; empty for none.
func (p *Scene) LoreBlock(sel lore.Selection) string {
	var s sections
	s.under(keyLore, "**Lorebook**\n", entries(sel.Keyword, p.tail))
	return Join(s)
}

// entries is the text of lore.
func entries(hits []lore.Hit, scope macro.Scope) string {
	var s sections
	for _, h := range hits {
		s.add("", macro.Resolve(h.Entry.Content, scope))
	}
	return Join(s)
}
