package audit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Repetition within a draft.
const (
	openerRun     = 4  // sentences in a row with the same first word
	templateCount = 3  // sentences of the same shape
	templateReach = 12 // sentences within which they are felt as the same
	maxShape      = 40 // words of a sentence that has a shape
)

// gap stands in a shape for what a sentence is about.
const gap = "…"

// openers finds runs of sentences that begin with the same word.
func openers(t text) []hit {
	var hits []hit
	for i := 0; i < len(t.sentences); {
		key := opener(t.sentences[i])
		j := i + 1
		for j < len(t.sentences) && key != "" && opener(t.sentences[j]) == key {
			j++
		}
		if j-i >= openerRun {
			hits = append(hits, hit{span{t.sentences[i].start, t.sentences[j-1].end}, fmt.Sprintf("%d sentences in a row begin with “%s”", j-i, key)})
		}
		i = j
	}
	return hits
}

// opener is the word a sentence begins with, as it is compared. Of scripts
// without blanks it is a pronoun of one character or two characters.
func opener(s sentence) string {
	w := s.words[0]
	switch {
	case s.item:
		return ""
	case !w.glyph:
		base, _, _ := strings.Cut(w.text, "'")
		return base
	case strings.Contains("我你您他她它咱", w.text), len(s.words) == 1:
		return w.text
	}
	return w.text + s.words[1].text
}

// templates finds sentences that have the shape of one shortly before.
func templates(t text) []hit {
	var hits []hit
	places := map[string][]int{} // sentences, by shape
	told := map[int]bool{}
	for i, s := range t.sentences {
		shape, ok := shapeOf(t.masked, s)
		if !ok {
			continue
		}
		same := append(places[shape], i)
		places[shape] = same
		if n := len(same); n >= templateCount && i-same[n-templateCount] <= templateReach {
			for _, j := range same[n-templateCount+1:] {
				if !told[j] {
					told[j] = true
					hits = append(hits, hit{t.sentences[j].span, "the shape of this sentence repeats: " + shape})
				}
			}
		}
	}
	return hits
}

// shapeOf is a sentence with a gap for each run of words that carry its matter.
// A sentence with too little around the gaps has none.
func shapeOf(masked string, s sentence) (string, bool) {
	if s.item || len(s.words) > maxShape {
		return "", false
	}
	var parts []string
	kept, glyphs := 0, 0
	add := func(part string, keeps bool) {
		if keeps {
			kept++
		} else if len(parts) > 0 && parts[len(parts)-1] == part {
			return
		}
		parts = append(parts, part)
	}
	from := s.start
	for _, w := range s.words {
		if strings.ContainsAny(masked[from:w.start], ",;:—–，、；：") {
			add(",", false)
		}
		from = w.end
		if w.glyph {
			glyphs++
		}
		part := frame(w)
		add(part, part != gap)
	}
	if end, _ := utf8.DecodeRuneInString(masked[from:]); end != utf8.RuneError && from < s.end {
		add(string(end), false)
	}
	if glyphs > len(s.words)/2 {
		return strings.Join(parts, ""), kept >= 5 && len(parts) >= 7
	}
	return strings.Join(parts, " "), kept >= 3 && len(parts) >= 5
}

// frame is what a word gives to the shape.
func frame(w word) string {
	r, _ := utf8.DecodeRuneInString(w.text)
	switch {
	case w.glyph && (unicode.Is(unicode.Hiragana, r) || strings.ContainsRune("的了是在不也就都和与着过把被地得里上下他她它我你这那一", r)):
		return w.text
	case unicode.Is(unicode.Hangul, r):
		last, _ := utf8.DecodeLastRuneInString(w.text) // its particle
		return gap + string(last)
	case !w.glyph && common(w.text):
		return w.text
	}
	return gap
}
