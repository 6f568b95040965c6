package audit

import (
	"slices"
	"strings"
)

// reach is how many words may be between what is denied and what holds.
const reach = 15

// contrasts finds “not this, but that”, within a sentence or over two.
func contrasts(t text) []hit {
	langs := tongues()
	var hits []hit
	var next []atom
	for i, s := range t.sentences {
		own := next
		if i == 0 {
			own = atoms(s.words)
		}
		next = nil
		if i+1 < len(t.sentences) {
			next = atoms(t.sentences[i+1].words)
		}
		switch {
		case contrasted(langs, own) || contrastedGlyphs(t.raw[s.start:s.end]):
			hits = append(hits, hit{s.span, "it says what is not to say what is"})
		case next != nil && follows(t, i) && (restarted(langs, own, next) || restartedGlyphs(t, i)):
			hits = append(hits, hit{span{s.start, t.sentences[i+1].end}, "two sentences say what is not to say what is"})
		}
	}
	return hits
}

// follows tells whether the next sentence is of the same paragraph.
func follows(t text, i int) bool {
	return strings.Count(t.masked[t.sentences[i].end:t.sentences[i+1].start], "\n") < 2
}

// contrasted looks within a sentence.
func contrasted(langs []tongue, s []atom) bool {
	for _, l := range langs {
		for i, a := range s {
			if !has(l.not, a.text) {
				continue
			}
			if l.contrast(s, i) || l.restart(s, i) {
				return true
			}
		}
	}
	return false
}

// contrast tells whether the negation at i is answered by a but.
func (l tongue) contrast(s []atom, i int) bool {
	only := i+1 < len(s) && has(l.only, s[i+1].text)
	if !only && !l.strong && !l.denies(s, i) {
		return false
	}
	for j := i + 2; j < len(s) && j <= i+reach; j++ {
		if has(l.but, s[j].text) {
			clause := j+1 < len(s) && has(l.who, s[j+1].text)
			return only || l.strong && !s[j].joined || !clause && j+1 < len(s)
		}
	}
	return false
}

// denies tells whether the negation at i is of a thing and not of a verb.
func (l tongue) denies(s []atom, i int) bool {
	if l.verb != nil {
		return s[i].text == "not" && (i == 0 || !has(l.verb, s[i-1].text))
	}
	return l.joins(s, i) >= 0 || i > 0 && has(l.not, s[i-1].text)
}

// joins is where the verb to be stands beside a negation, -1 if it does not.
func (l tongue) joins(s []atom, i int) int {
	switch {
	case i > 0 && has(l.be, s[i-1].text):
		return i - 1
	case i+1 < len(s) && has(l.be, s[i+1].text):
		return i + 1
	}
	return -1
}

// subject is the word that the verb at i is about, "" for one that is left out.
func (l tongue) subject(s []atom, i int) string {
	for i--; i >= 0; i-- {
		if w := s[i].text; w != "n" && w != "ne" && !has(l.not, w) {
			if has(l.it, w) {
				return "it"
			}
			return w
		}
	}
	return ""
}

// restart tells whether after the denial at i the same sentence begins anew
// with what is.
func (l tongue) restart(s []atom, i int) bool {
	be := l.joins(s, i)
	if be < 0 {
		return false
	}
	for j := i + 2; j < len(s) && j <= i+reach; j++ {
		if !s[j].joined && l.affirms(s[j:], s[be].text, l.subject(s, be)) {
			return true
		}
	}
	return false
}

// affirms tells whether s begins with the subject and the same verb, and no
// negation.
func (l tongue) affirms(s []atom, be, subject string) bool {
	for j := 0; j < len(s) && j < 2; j++ {
		if s[j].text == be {
			denied := j+1 < len(s) && has(l.not, s[j+1].text)
			return !denied && l.subject(s[:j+1], j) == subject && j+1 < len(s)
		}
	}
	return false
}

// restarted looks over two sentences.
func restarted(langs []tongue, s, next []atom) bool {
	if len(s) > 2*reach {
		return false
	}
	for _, l := range langs {
		for i, a := range s {
			if !has(l.not, a.text) {
				continue
			}
			if be := l.joins(s, i); be >= 0 && be < 5 && l.affirms(next, s[be].text, l.subject(s, be)) {
				return true
			}
		}
	}
	return false
}

// contrastedGlyphs looks within a Chinese, Japanese or Korean sentence.
func contrastedGlyphs(s string) bool {
	for _, pair := range [][2]string{{"不是", "而是"}, {"并非", "而是"}, {"並非", "而是"}, {"不是", "，是"}, {"不仅", "而且"}, {"不僅", "而且"}} {
		before, after, ok := strings.Cut(s, pair[0])
		if ok && !strings.HasSuffix(before, "是") && strings.Contains(after, pair[1]) {
			return true
		}
	}
	for _, form := range []string{"ではなく", "じゃなく", "だけでなく", "이 아니라", "가 아니라", "뿐만 아니라", "게 아니라"} {
		if _, after, ok := strings.Cut(s, form); ok && len(after) > len("。") && !strings.HasPrefix(after, "な") {
			return true
		}
	}
	return false
}

// restartedGlyphs looks over two Chinese sentences.
func restartedGlyphs(t text, i int) bool {
	s, next := t.sentences[i], t.sentences[i+1]
	before, _, ok := strings.Cut(t.raw[s.start:s.end], "不是")
	if !ok || strings.HasSuffix(before, "是") {
		return false
	}
	return slices.ContainsFunc([]string{"是", "而是", "那是", "这是", "這是"}, func(head string) bool {
		return strings.HasPrefix(t.raw[next.start:next.end], head)
	})
}
