package chat

import "strings"

const (
	openThink  = "<think>"
	closeThink = "</think>"
	blanks     = " \t\r\n"
)

// thinkSplit parts reasoning from text in the content of models that put it
// there between tags. Only tags at the very start count: later ones are text.
type thinkSplit struct {
	where   place
	blank   strings.Builder // white space before what may be a tag
	held    string          // may still become a tag
	dropped int             // bytes of white space beside tags
}

type place int

const (
	atStart place = iota
	beforeThought
	inThought
	behindThought
	inText
)

// write takes content in and returns what is certain by now.
func (s *thinkSplit) write(content string) (text, thought string) {
	if s.where == inText {
		return content, ""
	}
	if s.where == atStart && s.held == "" {
		start := strings.TrimLeft(content, blanks)
		s.blank.WriteString(content[:len(content)-len(start)])
		content = start
	}
	s.held += content
	if s.where == atStart {
		if strings.HasPrefix(openThink, s.held) && s.held != openThink {
			return "", ""
		}
		if !strings.HasPrefix(s.held, openThink) {
			return s.flush()
		}
		s.where, s.held = beforeThought, strings.TrimPrefix(s.held, openThink)
		s.dropped += s.blank.Len()
		s.blank.Reset()
	}
	if s.where == beforeThought {
		if s.drop(); s.held == "" {
			return "", ""
		}
		s.where = inThought
	}
	if s.where == inThought {
		var closed bool
		if thought, s.held, closed = strings.Cut(s.held, closeThink); !closed {
			keep := overlap(thought, closeThink)
			s.held = thought[len(thought)-keep:]
			return "", thought[:len(thought)-keep]
		}
		s.where = behindThought
	}
	if s.drop(); s.held == "" {
		return "", thought
	}
	text, _ = s.flush()
	return text, thought
}

// drop leaves out white space at the start of what is held.
func (s *thinkSplit) drop() {
	rest := strings.TrimLeft(s.held, blanks)
	s.dropped += len(s.held) - len(rest)
	s.held = rest
}

// untold is how many bytes are held back or were dropped.
func (s *thinkSplit) untold() int { return s.blank.Len() + len(s.held) + s.dropped }

// flush returns what is held; all that follows is text, unless a thought is
// still open.
func (s *thinkSplit) flush() (text, thought string) {
	held := s.blank.String() + s.held
	s.blank.Reset()
	s.held = ""
	if s.where == beforeThought || s.where == inThought {
		return "", held
	}
	s.where = inText
	return held, ""
}

// stopCut ends a text before the string of its that is complete first; of two
// that end together the longer one counts. So the cut is the same however the
// text is split.
type stopCut struct {
	stops []string
	held  string // may still become one
}

// write takes text in and returns what is certain by now, and whether the
// text ends there.
func (s *stopCut) write(text string) (certain string, ends bool) {
	if len(s.stops) == 0 {
		return text, false
	}
	s.held += text
	from, to, keep := 0, -1, 0
	for _, stop := range s.stops {
		at := strings.Index(s.held, stop)
		if end := at + len(stop); at >= 0 && (to < 0 || end < to || end == to && at < from) {
			from, to = at, end
		}
		keep = max(keep, overlap(s.held, stop))
	}
	if to >= 0 {
		certain, s.held = s.held[:from], ""
		return certain, true
	}
	cut := len(s.held) - keep
	certain, s.held = s.held[:cut], s.held[cut:]
	return certain, false
}

// flush returns what is held.
func (s *stopCut) flush() string {
	held := s.held
	s.held = ""
	return held
}

// overlap is the length of the longest end of text with which word begins.
func overlap(text, word string) int {
	for n := min(len(text), len(word)-1); n > 0; n-- {
		if strings.HasSuffix(text, word[:n]) {
			return n
		}
	}
	return 0
}
