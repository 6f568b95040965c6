package audit

import "strings"

// Narration that tells what does not happen.
const (
	negationDepth = 5  // words in which a sentence comes to its negation
	negationWords = 16 // of a sentence that is about its negation
	negationRow   = 2  // in a row are too many
	negationCount = 3  // and so many, when they are a tenth of the narration
)

// negations finds narration that goes on by what does not happen. One such
// sentence is prose; two in a row, or a tenth of the narration, are a habit.
func negations(t text) []hit {
	langs := tongues()
	var all []hit
	narrated, row := 0, 0
	var rows []hit
	for _, s := range t.sentences {
		if s.speech || s.item {
			row = 0
			continue
		}
		narrated++
		if !negated(langs, t, s) {
			row = 0
			continue
		}
		row++
		all = append(all, hit{s.span, "the narration says what does not happen"})
		if row == negationRow {
			rows = append(rows, all[len(all)-negationRow:]...)
		} else if row > negationRow {
			rows = append(rows, all[len(all)-1])
		}
	}
	if len(all) >= negationCount && len(all)*10 >= narrated {
		return all
	}
	return rows
}

// negated tells whether a sentence is about what does not happen.
func negated(langs []tongue, t text, s sentence) bool {
	body := t.raw[s.start:s.end]
	if strings.HasSuffix(body, "?") || strings.HasSuffix(body, "？") {
		return false
	}
	if s.words[0].glyph {
		return negatedGlyphs(body)
	}
	words := atoms(s.words)
	if len(words) < 2 || len(words) > negationWords {
		return false
	}
	for i, w := range words {
		if strings.Contains(w.text, "않") || i > 0 && w.text == "못" {
			return true
		}
	}
	if contrasted(langs, words) { // is found as such
		return false
	}
	for _, l := range langs {
		for i := 0; i < len(words) && i < negationDepth; i++ {
			if !has(l.not, words[i].text) {
				continue
			}
			last := i+1 == len(words)
			if last && i > 0 || !last && words[i+1].joined && !has(l.only, words[i+1].text) {
				return true
			}
		}
	}
	return false
}

// negatedGlyphs tells it of a Chinese or Japanese sentence.
func negatedGlyphs(body string) bool {
	body = strings.TrimRight(body, "。！!.…")
	for _, end := range []string{"ない", "なかった", "ません", "ませんでした"} {
		if strings.HasSuffix(body, end) {
			return true
		}
	}
	head := []rune(body)
	if len(head) > 3*negationWords {
		return false
	}
	for i := 0; i < len(head) && i < negationDepth; i++ {
		switch {
		case strings.ContainsRune("没沒", head[i]):
			return true
		case head[i] == '不' && i > 0 && i+1 < len(head) && strings.ContainsRune("我你您他她它们們", head[i-1]) && head[i+1] != '是':
			return true
		}
	}
	return false
}
