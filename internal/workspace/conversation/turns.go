package conversation

import (
	"slices"

	"jp/internal/workspace/config"
)

// link says where an entry belongs.
type link struct {
	turn    int  // -1 before the first turn
	request int  // entry of the chat request that is answered, -1 when unknown
	broken  bool // has a request id that leads to no chat request
}

// links are kept for the entries seen so far and grow with the log.
type links struct {
	list    []link
	turns   []int // where each turn starts
	filled  bool  // the current turn has something in it
	request int   // the current turn's latest request, -1 before
}

func (s *Stream) link(i int) link {
	l := &s.links
	if l.list == nil {
		l.request = -1
	}
	for n := len(l.list); n < len(s.entries); n++ {
		e := &s.entries[n]
		switch {
		case e.Kind == TurnStart:
			if len(l.turns) == 0 || l.filled {
				l.turns = append(l.turns, n)
			}
			l.filled, l.request = false, -1
		case e.Kind == ChatRequest || e.Kind.Answers():
			if len(l.turns) == 0 {
				l.turns = append(l.turns, n)
			}
			l.filled = true
			if e.Kind == ChatRequest {
				l.request = n
			}
		}
		k := link{turn: len(l.turns) - 1, request: -1}
		if e.Kind.Answers() {
			k.request, k.broken = s.answered(n, l.request)
		}
		l.list = append(l.list, k)
	}
	return l.list[i]
}

// answered finds the request that entry n answers: the one it names, or the
// latest before it in the turn when it names none.
func (s *Stream) answered(n, latest int) (request int, broken bool) {
	id := s.entries[n].Request
	if id == "" {
		return latest, false
	}
	i, ok := s.index[id]
	// Which of two entries with one id was meant nobody knows, except for what
	// was appended since: by then there was one.
	lost := s.doubled[id] && n < s.loaded
	if !ok || i > n || lost || s.entries[i].Kind != ChatRequest {
		return -1, true
	}
	return i, false
}

// Turns returns where the turns begin, in order. A turn is a stretch of the log
// that one or more requests and their answers fill, up to the next. What comes
// before the first, like a configuration change, belongs to none.
func (s *Stream) Turns() []int {
	if len(s.entries) == 0 {
		return nil
	}
	s.link(len(s.entries) - 1)
	return slices.Clone(s.links.turns)
}

// Requests returns the places of the chat requests in order.
func (s *Stream) Requests() []int {
	var at []int
	for i := range s.entries {
		if s.entries[i].Kind == ChatRequest {
			at = append(at, i)
		}
	}
	return at
}

// Participant returns who made entry i, one of the answering kinds: older
// conversations have one participant and do not name it.
func (s *Stream) Participant(i int) string {
	if p := s.entries[i].Participant; p != "" {
		return p
	}
	return config.Reserved
}

// Answered returns the id of the request that entry i answers, empty when it
// answers none or names one that is not there.
func (s *Stream) Answered(i int) string {
	if r := s.link(i).request; r >= 0 {
		return s.entries[r].ID
	}
	return ""
}

// Responders returns who was asked by a request, in order. A request that does
// not say was meant for the roster of its time. Nil when there is no such
// request.
func (s *Stream) Responders(request string) []string {
	i, ok := s.index[request]
	if !ok || s.entries[i].Kind != ChatRequest {
		return nil
	}
	if ev, err := s.Event(i); err == nil && ev.Responders != nil {
		return ev.Responders
	}
	return config.Roster(s.ConfigAt(i))
}

// Complete reports whether a participant has answered a request: its last
// event for it is a message or data that did not break off.
func (s *Stream) Complete(request, participant string) bool {
	at, ok := s.index[request]
	if !ok {
		return false
	}
	for i := len(s.entries) - 1; i > at; i-- {
		if !s.entries[i].Kind.Answers() || s.link(i).request != at || s.Participant(i) != participant {
			continue
		}
		ev, err := s.Event(i)
		return err == nil && ev.Kind == ChatResponse && ev.Form != Reasoning && !ev.Broken()
	}
	return false
}

// Waiting returns who was asked by a request and has not answered it yet.
func (s *Stream) Waiting(request string) []string {
	var names []string
	for _, p := range s.Responders(request) {
		if !s.Complete(request, p) {
			names = append(names, p)
		}
	}
	return names
}
