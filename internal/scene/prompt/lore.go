package prompt

import "jp/internal/scene/lore"

// LoreBlock is the lore that keys fired, as calls beside the Writer's are given
// it: without a separator, empty for none.
func (p *Scene) LoreBlock(sel lore.Selection) string {
	var s sections
	s.under(keyLore, "**Lorebook**\n", entries(sel.Keyword, p.tail))
	return Join(s)
}
