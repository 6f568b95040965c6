package conversation

import (
	"strings"
	"time"
)

// Summary is what a list shows of a log.
type Summary struct {
	Events    int // entries, the base of older versions not among them
	LastEvent time.Time
	Opening   string // the first line of the first request, shortened; untrusted text
}

// openingLength is how many characters of a request name a conversation.
const openingLength = 60

// Summarize reads the log in dir without keeping it, and checks that it and
// the base configuration can be read. Errors: those of Load.
func Summarize(dir string) (Summary, error) {
	s, err := Load(dir, 0, Env{})
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Events: s.Len()}
	for i := s.Len() - 1; i >= 0 && sum.LastEvent.IsZero(); i-- {
		sum.LastEvent = s.At(i).Time
	}
	if at := s.Requests(); len(at) > 0 {
		if ev, err := s.Event(at[0]); err == nil {
			sum.Opening = opening(ev.Content)
		}
	}
	return sum, nil
}

func opening(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > openingLength {
		line, more = strings.TrimSpace(string(runes[:openingLength])), true
	}
	if more {
		line += "…"
	}
	return line
}
