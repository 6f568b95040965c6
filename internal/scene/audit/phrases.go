package audit

import (
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// How long repeated phrases are, in words. Of scripts without blanks two
// characters count as a word.
const (
	shortPhrase = 2 // is repeated when two replies have it
	longPhrase  = 5 // and down to shortPhrase: when one has it
	glyphs      = 2
)

// term is a word of a reply as a number, the same for the same word.
type term struct {
	id            uint64
	glyph, joined bool
	matter        bool // more than grammar
	name          bool // it begins with a capital
}

// phrases finds what recent replies said in the same words: two words in two of
// them, three to five in one. Words of grammar and names that most replies have
// do not make a phrase.
func phrases(t text, recent []string) []hit {
	ids := map[string]uint64{}
	draft := terms(t.words, ids)
	grams := map[uint64]uint32{} // what the draft has, and the replies that have it
	eachGram(draft, func(_, _, _ int, gram uint64) { grams[gram] = 0 })
	replies := make([]uint32, len(ids)) // that have a word of the draft, by id
	for i, reply := range recent {
		said := terms(tokens(mask(reply)), ids)
		for _, w := range said {
			if w.id < uint64(len(replies)) {
				replies[w.id] |= 1 << i
			}
		}
		eachGram(said, func(_, _, _ int, gram uint64) {
			if in, ok := grams[gram]; ok {
				grams[gram] = in | 1<<i
			}
		})
	}
	often := max(3, (len(recent)+1)/2)
	for i, w := range draft {
		draft[i].matter = matter(t.words[i]) && bits.OnesCount32(replies[w.id]) < often
		r, _ := utf8.DecodeRuneInString(t.raw[t.words[i].start:])
		draft[i].name = unicode.IsUpper(r)
	}
	return repeated(t, draft, grams)
}

// repeated makes one hit of phrases that overlap.
func repeated(t text, draft []term, grams map[uint64]uint32) []hit {
	var hits []hit
	covered, in := 0, uint32(0)
	eachGram(draft, func(from, to, n int, gram uint64) {
		least := 1
		if n == shortPhrase {
			least = 2
		}
		if bits.OnesCount32(grams[gram]) < least || !substance(draft[from:to], n) {
			return
		}
		if from >= covered {
			hits, in = append(hits, hit{span: span{start: t.words[from].start}}), 0
		}
		last := &hits[len(hits)-1]
		last.end, covered, in = max(last.end, t.words[to-1].end), max(covered, to), in|grams[gram]
		last.why = "a recent reply has these words too"
		if n := bits.OnesCount32(in); n > 1 {
			last.why = fmt.Sprintf("%d recent replies have these words too", n)
		}
	})
	return hits
}

func terms(words []word, ids map[string]uint64) []term {
	list := make([]term, len(words))
	for i, w := range words {
		id, ok := ids[w.text]
		if !ok {
			id = uint64(len(ids))
			ids[w.text] = id
		}
		list[i] = term{id: id, glyph: w.glyph, joined: w.joined}
	}
	return list
}

// matter tells words that are more than grammar and numbers.
func matter(w word) bool {
	r, _ := utf8.DecodeRuneInString(w.text)
	if w.glyph {
		return frame(w) == gap
	}
	return !unicode.IsDigit(r) && (unicode.Is(unicode.Hangul, r) && len(w.text) > utf8.RuneLen(r) || !common(w.text))
}

// substance tells phrases whose return is felt.
func substance(words []term, n int) bool {
	matters, names := 0, 0
	for _, w := range words {
		if w.matter {
			matters++
			if w.name {
				names++
			}
		}
	}
	return matters >= 2 && (n > shortPhrase || names < matters)
}

// eachGram calls f for each phrase: words[from:to], which counts as n words.
func eachGram(words []term, f func(from, to, n int, gram uint64)) {
	for from, first := range words {
		gram, unit := uint64(0), 1
		if first.glyph {
			unit = glyphs
		}
		for at := from; at < len(words) && at < from+longPhrase*unit; at++ {
			if w := words[at]; at > from && (!w.joined || w.glyph != first.glyph) {
				break
			}
			gram = (gram ^ (words[at].id + 1)) * 0x9E3779B97F4A7C15
			gram ^= gram >> 29
			if n := (at - from + 1) / unit; n >= shortPhrase && (at-from+1)%unit == 0 {
				f(from, at+1, n, gram)
			}
		}
	}
}
