package conversation

import (
	"encoding/json"
	"fmt"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/projection"
)

// Lines returns what was said and done so far, for a projection.
func (s *Stream) Lines() []projection.Line { return s.LinesAt(len(s.entries)) }

// LinesAt returns the lines of the first end entries.
//
// A response to a request that cannot be found stays; a tool call or result to
// one is left out together with its partner, and so is a result without a
// call. A call without a result stays: its tool may have run. Compactions
// among the entries are applied. Inquiries are no lines.
func (s *Stream) LinesAt(end int) []projection.Line {
	lines := make([]projection.Line, 0, end)
	calls, drop := s.pairs(end)
	cut := s.compactions(end)
	said := map[*Event]bool{}
	for i := range end {
		policy := cut[s.link(i).turn]
		if policy.summary != nil {
			if k := s.entries[i].Kind; !said[policy.summary] && (k == ChatRequest || k.Answers()) {
				said[policy.summary] = true
				lines = append(lines, projection.Line{Kind: projection.Note,
					Text: "[Summary of previous conversation]\n\n" + *policy.summary.Summary})
			}
			continue
		}
		if drop[i] {
			continue
		}
		if line, ok := s.line(i, calls, policy); ok {
			lines = append(lines, line)
		}
	}
	markBroken(lines)
	return lines
}

func (s *Stream) line(i int, calls map[int]int, policy policy) (projection.Line, bool) {
	k := s.entries[i].Kind
	if k != ChatRequest && k != ChatResponse && k != ToolCallRequest && k != ToolCallResponse {
		return projection.Line{}, false
	}
	ev, err := s.Event(i)
	if err != nil {
		return projection.Line{}, false
	}
	l := projection.Line{Only: ev.Only}
	if k == ChatRequest {
		l.Kind, l.Speaker, l.Human, l.ID, l.Text = projection.Request, ev.Author, true, ev.ID, ev.Content
		return l, true
	}
	l.Speaker, l.Answers = s.Participant(i), s.Answered(i)
	l.Provider = s.provider(l.Speaker, i)
	l.Incomplete = ev.Broken()
	switch {
	case k == ToolCallRequest:
		if policy.omitTools {
			return l, false
		}
		l.Kind = projection.ToolCall
		l.Call = llm.ToolCall{ID: ev.CallID, Name: ev.Name, Arguments: ev.Arguments}
		if policy.stripCalls {
			l.Call.Arguments = json.RawMessage("{}")
		}
	case k == ToolCallResponse:
		call, err := s.Event(calls[i])
		if policy.omitTools || err != nil {
			return l, false
		}
		l.Kind, l.Text, l.IsError = projection.ToolResult, ev.Content, ev.IsError
		l.Call = llm.ToolCall{ID: ev.CallID, Name: call.Name}
		if policy.stripResults {
			l.Text = compacted(call.Name, ev.IsError)
		}
	case ev.Form == Reasoning:
		if policy.stripReasoning {
			return l, false
		}
		l.Kind, l.Text, l.Replay = projection.Reasoning, ev.Content, ev.Metadata
	case ev.Form == Data:
		l.Kind, l.Text = projection.Text, string(ev.Data)
	default:
		l.Kind, l.Text = projection.Text, ev.Content
	}
	return l, true
}

func compacted(tool string, isError bool) string {
	outcome := "success"
	if isError {
		outcome = "error"
	}
	return fmt.Sprintf("[compacted] %s: %s", tool, outcome)
}

// markBroken extends the mark of a broken text over the reasoning and text of
// the same answer before it, which are as unfinished.
func markBroken(lines []projection.Line) {
	for i := len(lines) - 1; i > 0; i-- {
		l, before := &lines[i], &lines[i-1]
		if !l.Incomplete || before.Speaker != l.Speaker || before.Answers != l.Answers {
			continue
		}
		if before.Kind == projection.Reasoning || before.Kind == projection.Text {
			before.Incomplete = true
		}
	}
}

// callKey is what makes a result belong to a call.
type callKey struct {
	participant string
	request     int
	id          string
}

// pairs matches results with calls: by participant, request and id, and among
// these the nearest earlier call without a result. It returns the call of each
// result and the entries to leave out.
func (s *Stream) pairs(end int) (calls map[int]int, drop map[int]bool) {
	calls, drop = map[int]int{}, map[int]bool{}
	open := map[callKey][]int{}
	take := func(k callKey) (int, bool) {
		list := open[k]
		if len(list) == 0 {
			return 0, false
		}
		open[k] = list[:len(list)-1]
		return list[len(list)-1], true
	}
	for i := range end {
		kind := s.entries[i].Kind
		if kind != ToolCallRequest && kind != ToolCallResponse {
			continue
		}
		ev, err := s.Event(i)
		if err != nil {
			continue
		}
		l := s.link(i)
		key := callKey{s.Participant(i), l.request, ev.CallID}
		switch {
		case kind == ToolCallRequest && l.broken:
			drop[i] = true
		case kind == ToolCallRequest:
			open[key] = append(open[key], i)
		case l.broken:
			drop[i] = true
			if call, ok := s.nearest(open, key); ok {
				drop[call] = true
			}
		default:
			call, ok := take(key)
			calls[i] = call
			drop[i] = !ok
		}
	}
	return calls, drop
}

// nearest finds and takes the latest open call with a participant and id,
// whatever its request: that of a result whose request is not known.
func (s *Stream) nearest(open map[callKey][]int, key callKey) (int, bool) {
	best, from := -1, callKey{}
	for k, list := range open {
		if k.participant == key.participant && k.id == key.id && len(list) > 0 && list[len(list)-1] > best {
			best, from = list[len(list)-1], k
		}
	}
	if best < 0 {
		return 0, false
	}
	open[from] = open[from][:len(open[from])-1]
	return best, true
}

// policy is what compactions do with a turn.
type policy struct {
	summary                             *Event
	stripReasoning, omitTools           bool
	stripCalls, stripResults            bool
	atSummary, atReasoning, atToolCalls time.Time
}

// compactions returns the policies of the turns. For each turn and each of the
// three policies the latest compaction wins, of equal ones the later entry.
func (s *Stream) compactions(end int) map[int]policy {
	turns := map[int]policy{}
	for i := range end {
		if s.entries[i].Kind != Compaction {
			continue
		}
		c, err := s.Event(i)
		if err != nil {
			continue
		}
		last := min(c.ToTurn, s.link(i).turn)
		for t := max(c.FromTurn, 0); t <= last; t++ {
			p := turns[t]
			if c.Summary != nil && !c.Time.Before(p.atSummary) {
				p.summary, p.atSummary = c, c.Time
			}
			if c.StripReasoning && !c.Time.Before(p.atReasoning) {
				p.stripReasoning, p.atReasoning = true, c.Time
			}
			if tools := c.StripTools; tools != nil && !c.Time.Before(p.atToolCalls) {
				p.omitTools, p.atToolCalls = tools.Omit, c.Time
				p.stripCalls, p.stripResults = tools.Request, tools.Response
			}
			turns[t] = p
		}
	}
	return turns
}
