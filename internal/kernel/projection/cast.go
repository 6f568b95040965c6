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

// cast knows how everybody in a conversation is labelled. It is made from all
// lines, seen or not, so that a label never depends on who is asking.
type cast struct {
	onlyAuthor string // the named author, if there is exactly one
	labels     map[voice]string
	known      []string        // every label that text must not imitate
	taken      map[string]bool // known, in lower case
}

func newCast(lines []Line, seat Seat) *cast {
	c := &cast{labels: map[voice]string{}, taken: map[string]bool{}}
	for _, id := range append([]string{seat.Speaker}, seat.Known...) {
		c.add(voice{name: id}, id)
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
			c.add(v, label)
		} else if v.name != "" {
			authors = append(authors, v)
		}
	}
	if len(authors) == 1 {
		c.onlyAuthor = authors[0].name
	} else if heard[voice{human: true}] {
		// First, so that "user" is the unnamed human's.
		authors = append([]voice{{human: true}}, authors...)
	}
	ids := maps.Clone(c.taken)
	for _, v := range authors {
		c.add(v, c.humanLabel(v.name, ids))
	}
	return c
}

func (c *cast) add(v voice, label string) {
	if _, ok := c.labels[v]; !ok && label != "" {
		c.labels[v] = label
		c.known = append(c.known, label)
		c.taken[strings.ToLower(label)] = true
	}
}

// humanLabel tells a human from a speaker of the same name, and two authors
// whose names become the same label from each other: the later one gets a
// number, since one label for two people would merge them.
func (c *cast) humanLabel(author string, ids map[string]bool) string {
	label := speaker.HumanLabel(author)
	if ids[strings.ToLower(label)] {
		label += " (human)"
	}
	unique := label
	for n := 2; c.taken[strings.ToLower(unique)]; n++ {
		unique = label + " " + strconv.Itoa(n)
	}
	return unique
}

// who returns whose words a line's are.
func (c *cast) who(l *Line) voice {
	v, _ := l.voice()
	if v.human && v.name == "" {
		v.name = c.onlyAuthor
	}
	return v
}

// voice returns who said the line; false when it is not something said.
func (l *Line) voice() (voice, bool) {
	name := strings.TrimSpace(l.Speaker)
	return voice{l.Human || name == "", name}, l.Kind == Request || l.Kind == Text
}
