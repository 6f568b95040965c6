package audit

import "strings"

const (
	echoRun   = 3   // words in a row that a question takes over
	echoPart  = 0.6 // of the question that they make up
	echoWords = 8   // of a question that may echo without a row
)

// echoes finds questions that give the user's speech back. Without quotes in
// the user's text all of it counts as speech.
func echoes(t text, quoted string) []hit {
	said := speechOf(mask(quoted))
	if len(said) == 0 {
		return nil
	}
	known := map[string]bool{}
	runs := map[string]bool{}
	for i, w := range said {
		known[w.text] = true
		if run := rowOf(said, i); run != "" {
			runs[run] = true
		}
	}
	var hits []hit
	for _, s := range t.sentences {
		for _, q := range questions(t.masked, s) {
			if echoed(q.words, known, runs) {
				hits = append(hits, hit{q.span, "the question gives back what the user said"})
			}
		}
	}
	return hits
}

// speechOf returns the words in quotes, or all without any.
func speechOf(masked string) []word {
	quotes := spoken(masked)
	words := tokens(masked)
	if len(quotes) == 0 {
		return words
	}
	var list []word
	at := 0
	for _, w := range words {
		for at < len(quotes) && quotes[at].end <= w.start {
			at++
		}
		if at < len(quotes) && quotes[at].start < w.start {
			list = append(list, w)
		}
	}
	return list
}

// rowOf is the row of words from i on that counts as taken over.
func rowOf(words []word, i int) string {
	n := echoRun
	if words[i].glyph {
		n++
	}
	if i+n > len(words) {
		return ""
	}
	var b strings.Builder
	for _, w := range words[i : i+n] {
		b.WriteString(w.text)
		b.WriteByte(' ')
	}
	return b.String()
}

// questions returns the questions in a sentence, which goes on behind one in
// quotes: “Tomorrow?”, she asked.
func questions(masked string, s sentence) []sentence {
	var list []sentence
	from, first := s.start, 0
	for at, r := range masked[s.start:s.end] {
		if r != '?' && r != '？' && r != '؟' || s.start+at < from {
			continue
		}
		rest := masked[s.start+at : s.end]
		end := s.end - len(strings.TrimLeft(rest, "?!？！؟\"”“»«」』*_"))
		q := sentence{span: span{from, end}}
		last := first
		for last < len(s.words) && s.words[last].start < end {
			last++
		}
		if q.words = s.words[first:last]; len(q.words) > 0 {
			list = append(list, q)
		}
		from, first = end, last
		for from < s.end && strings.ContainsRune(", ", rune(masked[from])) {
			from++
		}
	}
	return list
}

// echoed tells whether a question is made of what was said.
func echoed(q []word, known, runs map[string]bool) bool {
	covered, upto := 0, 0
	for i := range q {
		if run := rowOf(q, i); run != "" && runs[run] {
			n := strings.Count(run, " ")
			covered += i + n - max(i, upto)
			upto = i + n
		}
	}
	if float64(covered) >= echoPart*float64(len(q)) && covered > 0 {
		return true
	}
	if len(q) > echoWords || q[0].glyph {
		return false
	}
	matters := 0
	for _, w := range q {
		switch {
		case asks(w.text):
			return false
		case !matter(w):
		case !known[w.text]:
			return false
		default:
			matters++
		}
	}
	return matters >= 2 || matters == 1 && len(q) <= 3
}
