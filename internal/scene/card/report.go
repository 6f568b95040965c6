package card

import (
	"fmt"
	"strconv"
	"strings"
)

// maxLines is how long a report gets before it only counts.
const maxLines = 100

// report collects lines for people.
type report struct {
	lines []string
	more  int
}

func (r *report) note(format string, args ...any) {
	if len(r.lines) == maxLines {
		r.more++
		return
	}
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// finish returns the lines, and how many more there would be.
func (r *report) finish() []string {
	if r.more > 0 {
		return append(r.lines, fmt.Sprintf("and %d more of this kind", r.more))
	}
	return r.lines
}

// mark and reset take back what a failed attempt noted.
func (r *report) mark() report   { return *r }
func (r *report) reset(m report) { *r = m }

// quoted is a text from a file, fit for a line: short, printable, in quotes.
func quoted(s string) string {
	if runes := []rune(s[:min(len(s), 400)]); len(runes) > 60 || len(s) > 400 {
		s = string(runes[:min(len(runes), 60)]) + "…"
	}
	return strconv.Quote(s)
}

// listed is a list of texts from a file, fit for a line.
func listed(items []string) string {
	const most = 12
	var b strings.Builder
	for i, item := range items[:min(len(items), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(item))
	}
	if len(items) > most {
		fmt.Fprintf(&b, " and %d more", len(items)-most)
	}
	return b.String()
}
