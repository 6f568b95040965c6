package projection

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/speaker"
)

var (
	//go:embed nudge.txt
	nudge string
	//go:embed interrupted.txt
	interrupted string
)

// Project returns what seat's speaker is shown of lines. It takes time linear
// in their number and size, keeps nothing, and shares images and opaque data
// with the lines.
func Project(lines []Line, seat Seat) View {
	p := &projector{lines: lines, seat: seat, labels: newLabels(lines, seat)}
	p.readRequests()
	p.matchResults()
	for i := range lines {
		if p.shown(&lines[i]) {
			p.take(i)
		}
	}
	p.flush()
	view := p.label()
	if n := len(view.Messages); n == 0 || view.Messages[n-1].Role == llm.RoleAssistant {
		view.Messages = append(view.Messages, llm.Message{Role: llm.RoleUser, Text: strings.TrimSpace(nudge)})
	}
	return view
}

type projector struct {
	lines  []Line
	seat   Seat
	labels *labels

	only     map[string][]string // limits of requests, by id
	complete map[answering]bool  // whole replies
	results  map[int]int         // index of an own call → index of its result
	calls    map[int]int         // and back

	draft    draft
	messages []llm.Message
	said     []said // of the user messages, in order
}

// answering names one speaker's reply to one request.
type answering struct{ speaker, request string }

// said ties a user message to its speaker; a note has none.
type said struct {
	message int
	by      voice
	note    bool
}

// draft is the message that the speaker's own consecutive lines fold into.
type draft struct {
	texts     []string
	reasoning []string
	replay    map[string]any
	calls     []int           // indices of lines
	ids       map[string]bool // of calls
	answered  bool            // one of calls has a result
}

// readRequests finds what lines say about other lines: the limits of requests,
// and which replies are whole, that is, end in whole text.
func (p *projector) readRequests() {
	p.only, p.complete = map[string][]string{}, map[answering]bool{}
	for i := range p.lines {
		switch l := &p.lines[i]; {
		case l.Kind == Request:
			if l.Only != nil && l.ID != "" {
				p.only[l.ID] = l.Only
			}
		case l.Kind != Note && l.Answers != "":
			p.complete[answering{l.Speaker, l.Answers}] = l.Kind == Text && !l.Incomplete
		}
	}
}

// matchResults pairs the speaker's own calls with their results: ids are only
// unique within one answer, so a result belongs to the nearest earlier call of
// the same request and id that has none yet.
func (p *projector) matchResults() {
	type key struct{ request, id string }
	p.results, p.calls = map[int]int{}, map[int]int{}
	open := map[key][]int{}
	for i := range p.lines {
		l := &p.lines[i]
		if !p.own(l) || !p.shown(l) {
			continue
		}
		k := key{l.Answers, l.Call.ID}
		switch l.Kind {
		case ToolCall:
			open[k] = append(open[k], i)
		case ToolResult:
			if n := len(open[k]); n > 0 {
				call := open[k][n-1]
				p.results[call], p.calls[i] = i, call
				open[k] = open[k][:n-1]
			}
		}
	}
}

func (p *projector) own(l *Line) bool {
	return !l.Human && l.Speaker == p.seat.Speaker && l.Kind != Request && l.Kind != Note
}

func (p *projector) shown(l *Line) bool {
	only := l.Only
	if only == nil && l.Answers != "" && l.Kind != Note && !p.own(l) {
		only = p.only[l.Answers]
	}
	if only != nil && !slices.Contains(only, p.seat.Speaker) {
		return false
	}
	if !l.Incomplete || l.Answers == "" {
		return true
	}
	// A part is worth nothing beside the whole, and its author starts afresh.
	return !p.complete[answering{l.Speaker, l.Answers}] && !(p.own(l) && l.Answers == p.seat.Answering)
}

func (p *projector) take(i int) {
	l := &p.lines[i]
	switch {
	case p.own(l):
		p.takeOwn(i)
	case l.Kind == Note:
		p.say(l, said{note: true})
	case l.Kind == Request, l.Kind == Text:
		p.say(l, said{by: p.labels.who(l)})
	}
}

// say appends user text. Blank text is refused by providers for ever after,
// so it is left out.
func (p *projector) say(l *Line, s said) {
	if blank(l.Text) && len(l.Images) == 0 {
		return
	}
	p.flush()
	s.message = len(p.messages)
	p.said = append(p.said, s)
	p.messages = append(p.messages, llm.Message{Role: llm.RoleUser, Text: l.Text, Images: l.Images})
}

func (p *projector) takeOwn(i int) {
	l := &p.lines[i]
	switch l.Kind {
	case Text:
		if !blank(l.Text) {
			p.flushAbandoned()
			p.draft.texts = append(p.draft.texts, l.Text)
		}
	case Reasoning:
		if l.Provider == p.seat.Provider {
			p.flushAbandoned()
			p.draft.think(l)
		}
	case ToolCall:
		if p.draft.ids[l.Call.ID] {
			p.flush() // a message must not hold an id twice
		}
		p.draft.call(i, l.Call.ID)
		if _, ok := p.results[i]; ok {
			p.draft.answered = true
		}
	case ToolResult:
		// Where a result is, the answer that asked for it has ended. All
		// results are written with their calls.
		if call, ok := p.calls[i]; ok && len(p.draft.calls) > 0 && call >= p.draft.calls[0] {
			p.flush()
		}
	}
}

// flushAbandoned ends the message before further text if its calls were never
// answered: the text is a later attempt's and knows of the interruption.
func (p *projector) flushAbandoned() {
	if len(p.draft.calls) > 0 && !p.draft.answered {
		p.flush()
	}
}

func (d *draft) call(i int, id string) {
	if d.ids == nil {
		d.ids = map[string]bool{}
	}
	d.ids[id] = true
	d.calls = append(d.calls, i)
}

// think adds reasoning. Opaque data vouches for the bytes of one reasoning
// line, so it is kept only while that line stays alone.
func (d *draft) think(l *Line) {
	d.replay = nil
	if len(d.reasoning) == 0 {
		d.replay = l.Replay
	}
	d.reasoning = append(d.reasoning, l.Text)
}

// flush writes the draft and the results of its calls. Reasoning that led to
// nothing is no message.
func (p *projector) flush() {
	d := p.draft
	p.draft = draft{}
	if len(d.texts) == 0 && len(d.calls) == 0 {
		return
	}
	m := llm.Message{
		Role:      llm.RoleAssistant,
		Text:      strings.Join(d.texts, "\n\n"),
		Reasoning: strings.Join(d.reasoning, "\n\n"),
		Replay:    maps.Clone(d.replay),
	}
	for _, c := range d.calls {
		call := p.lines[c].Call
		if len(call.Arguments) == 0 {
			call.Arguments = json.RawMessage("{}")
		}
		m.ToolCalls = append(m.ToolCalls, call)
	}
	p.messages = append(p.messages, m)
	for _, c := range d.calls {
		call := p.lines[c].Call
		m := llm.Message{Role: llm.RoleTool, ToolCall: call.ID, ToolName: call.Name}
		if r, ok := p.results[c]; ok {
			m.Text, m.IsError = p.lines[r].Text, p.lines[r].IsError
		} else {
			m.Text, m.IsError = strings.TrimSpace(interrupted), true
		}
		p.messages = append(p.messages, m)
	}
}

// label marks who says what, if more than one voice besides the speaker's own
// is heard.
func (p *projector) label() View {
	heard := map[voice]bool{}
	var names []string
	for _, s := range p.said {
		if !s.note && !heard[s.by] {
			heard[s.by] = true
			names = append(names, p.labels.of[s.by])
		}
	}
	if len(heard) < 2 {
		return View{Messages: p.messages}
	}
	for _, s := range p.said {
		m := &p.messages[s.message]
		text := speaker.EscapeLabels(m.Text, p.labels.known)
		switch {
		case s.note:
			m.Text = text
		case blank(text):
			m.Text = "[" + p.labels.of[s.by] + "]:" // an image alone
		default:
			m.Text = "[" + p.labels.of[s.by] + "]: " + text
		}
	}
	own := p.seat.Speaker
	if !slices.Contains(names, own) {
		names = append(names, own)
	}
	return View{Messages: p.messages, Labels: names, Own: own}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
