package projection

import (
	"maps"
	"strconv"
	"strings"

	"jp/internal/kernel/speaker"
)

// voice is somebody whose words are user text for others.
type voice struct {
	human bool
	name  string // identifier or author's name; empty for an unnamed human
}

// labels are what everybody in a conversation is called. They are made from all
// lines, seen or not, so that a label never depends on who is asking.
type labels struct {
	onlyAuthor string // the named author, if there is exactly one
	of         map[voice]string
	known      []string        // every label that text must not imitate
	taken      map[string]bool // known, in lower case
}

func newLabels(lines []Line, seat Seat) *labels {
	l := &labels{of: map[voice]string{}, taken: map[string]bool{}}
	for _, id := range append([]string{seat.Speaker}, seat.Known...) {
		l.add(voice{name: id}, id)
	}
	var authors []voice
	heard := map[voice]bool{}
	for i := range lines {
		v, ok := lines[i].voice()
		if !ok || heard[v] {
			continue
		}
		heard[v] = true
		if !v.human {
			// A stored name outside the grammar is cleaned as a human's is.
			label := v.name
			if !speaker.ValidID(label) {
				label = speaker.HumanLabel(label)
			}
			l.add(v, label)
		} else if v.name != "" {
			authors = append(authors, v)
		}
	}
	if len(authors) == 1 {
		l.onlyAuthor = authors[0].name
	} else if heard[voice{human: true}] {
		// First, so that "user" is the unnamed human's.
		authors = append([]voice{{human: true}}, authors...)
	}
	ids := maps.Clone(l.taken)
	for _, v := range authors {
		l.add(v, l.humanLabel(v.name, ids))
	}
	return l
}

func (l *labels) add(v voice, label string) {
	if _, ok := l.of[v]; !ok && label != "" {
		l.of[v] = label
		l.known = append(l.known, label)
		l.taken[strings.ToLower(label)] = true
	}
}

// humanLabel tells a human from a speaker of the same name, and two authors
// whose names become the same label from each other: the later one gets a
// number, since one label for two people would merge them.
func (l *labels) humanLabel(author string, ids map[string]bool) string {
	label := speaker.HumanLabel(author)
	if ids[strings.ToLower(label)] {
		label += " (human)"
	}
	unique := label
	for n := 2; l.taken[strings.ToLower(unique)]; n++ {
		unique = label + " " + strconv.Itoa(n)
	}
	return unique
}

// who returns whose words a line's are.
func (l *labels) who(line *Line) voice {
	v, _ := line.voice()
	if v.human && v.name == "" {
		v.name = l.onlyAuthor
	}
	return v
}

// voice returns who said the line; false when it is not something said.
func (l *Line) voice() (voice, bool) {
	name := strings.TrimSpace(l.Speaker)
	return voice{l.Human || name == "", name}, l.Kind == Request || l.Kind == Text
}
