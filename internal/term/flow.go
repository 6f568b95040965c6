package term

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// maxDepth is how many containers are drawn inside one another; deeper ones
// are drawn at that depth.
const maxDepth = 8

// lead is what stands before the lines of a container: first before the first
// line, rest before the others.
type lead struct {
	parent      *lead
	depth       int
	first, rest string
	used        bool
}

func (l *lead) in(first, rest string) *lead {
	c := &lead{parent: l, first: first, rest: rest}
	if l != nil {
		c.depth = l.depth + 1
	}
	if c.depth > maxDepth {
		c.first, c.rest = "", ""
	}
	return c
}

// next returns what to write before the next line.
func (l *lead) next() string {
	if l == nil {
		return ""
	}
	before := l.parent.next()
	if l.used {
		return before + l.rest
	}
	l.used = true
	return before + l.first
}

// width is that of a line's lead, in cells.
func (l *lead) width() int {
	if l == nil {
		return 0
	}
	return l.parent.width() + ansi.StringWidth(l.rest)
}

// flow fills lines with words. A word is written when its end is known, so
// text may come in any pieces. A word that is wider than a line is not cut:
// most are URLs and paths, which one wants to copy. Between wide characters,
// which are written without spaces, a line may break.
type flow struct {
	stream Stream // for its colours
	out    *bytes.Buffer
	lead   *lead
	width  int
	cut    bool // cut words that are wider than a line

	col   int    // cells written on this line, 0 = not begun
	sgr   string // style of the last word on it
	space bool
	word  []run
	cells int // width of word
}

// run is a part of a word in one style.
type run struct{ sgr, text string }

func newFlow(s Stream, out *bytes.Buffer, l *lead, width int) *flow {
	return &flow{stream: s, out: out, lead: l, width: max(width, l.width()+minText)}
}

// minText is the fewest cells that text is squeezed into.
const minText = 12

// text adds text; spaces, tabs and line ends in it separate words.
func (f *flow) text(s, sgr string) {
	for s != "" {
		i := strings.IndexAny(s, " \t\n")
		if i < 0 {
			f.add(s, sgr)
			return
		}
		f.add(s[:i], sgr)
		f.gap()
		s = s[i+1:]
	}
}

// fixed adds text that is one word whatever it holds.
func (f *flow) fixed(s, sgr string) {
	if f.cut {
		f.add(s, sgr)
		return
	}
	f.push(s, sgr, ansi.StringWidth(s))
}

func (f *flow) add(s, sgr string) {
	if s == "" {
		return
	}
	if quiet(s) && !f.cut {
		f.push(s, sgr, len(s))
		return
	}
	for s != "" {
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if w == 2 && !strings.Contains(closers, cluster) || f.cut && f.cells+w > f.width {
			f.endWord()
		}
		f.push(cluster, sgr, w)
		s = s[len(cluster):]
	}
}

// closers are wide punctuation that may not begin a line.
const closers = "、。，．・：；！？）」』】〉》〕］｝…ー"

func (f *flow) push(s, sgr string, cells int) {
	if n := len(f.word); n > 0 && f.word[n-1].sgr == sgr {
		f.word[n-1].text += s
	} else {
		f.word = append(f.word, run{sgr, s})
	}
	f.cells += cells
}

func (f *flow) gap() {
	f.endWord()
	f.space = true
}

// endWord writes the word, on a new line if this one has no room for it.
func (f *flow) endWord() {
	if len(f.word) == 0 {
		return
	}
	sep := 0
	if f.space && f.col > 0 {
		sep = 1
	}
	if f.col > f.lead.width() && f.col+sep+f.cells > f.width {
		f.newline()
		sep = 0
	}
	f.begin()
	if sep == 1 {
		if f.sgr == f.word[0].sgr {
			f.word[0].text = " " + f.word[0].text
		} else {
			f.out.WriteByte(' ')
		}
	}
	for _, r := range f.word {
		f.out.WriteString(f.stream.paint(r.sgr, r.text))
		f.sgr = r.sgr
	}
	f.col += sep + f.cells
	f.word, f.cells, f.space = f.word[:0], 0, false
}

// begin writes the lead of a line that has not begun.
func (f *flow) begin() {
	if f.col == 0 {
		before := f.lead.next()
		f.out.WriteString(before)
		f.col = ansi.StringWidth(before)
	}
}

func (f *flow) newline() {
	f.out.WriteByte('\n')
	f.col, f.space = 0, false
}

// end ends the line if there is one.
func (f *flow) end() {
	f.endWord()
	if f.col > 0 {
		f.newline()
	}
	f.space = false
}

// hard ends the line even if nothing is on it.
func (f *flow) hard() {
	f.endWord()
	f.begin()
	f.newline()
}
