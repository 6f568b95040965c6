package pipeline

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/kernel/reply"
	"jp/internal/scene"
	"jp/internal/scene/macro"
	"jp/internal/scene/prompt"
	"jp/internal/scene/voice"
)

// draft is a reply that is being made.
type draft struct {
	member    *scene.Member // nil in a solo chat
	name      string
	text      string
	kept      *string // the text before the last rewriter
	cut       *scene.Cut
	reasoning string
	edited    string // the Editor's reasoning
	tools     []ToolCallData
	feedback  json.RawMessage
	usage     *scene.CallUsage
	timing    *scene.CallTiming
	uploads   []scene.NewUpload
	slots     scene.Slots
	saved     *scene.Message
}

// Respond implements exchange.Responder: Writer, filters, Editor, feedback,
// hooks; then the whole reply as one record. A part that is worth keeping is a
// record marked incomplete, before the error.
func (x *Exchange) Respond(ctx context.Context, slot exchange.Slot) iter.Seq2[reply.Event, error] {
	return func(yield func(reply.Event, error) bool) {
		x.draft = x.newDraft(slot)
		writer := x.writerPass(slot)
		left := false
		err := x.write(ctx, writer, func(ev reply.Event) bool {
			left = left || !yield(ev, nil)
			return !left
		})
		if left {
			return
		}
		incomplete := partial(ctx, err)
		if err == nil {
			err = x.finish(ctx, writer)
		}
		if strings.TrimSpace(x.draft.text) != "" {
			if !yield(reply.Event{Record: recordOf(x.draft.text, incomplete)}, nil) {
				return
			}
		} else if err == nil {
			err = writer.nothing()
		}
		if err != nil {
			yield(reply.Event{}, err)
		}
	}
}

// nothing is the error of a call whose answer comes to nothing.
func (p pass) nothing() error {
	return &stage{name: p.stage(), model: p.lane.Name, err: &llm.Error{Kind: llm.Empty, Message: "the model said nothing"}}
}

func (x *Exchange) newDraft(slot exchange.Slot) *draft {
	if m, ok := x.snap.Member(slot.Speaker); ok {
		return &draft{member: &m, name: m.Name}
	}
	return &draft{name: x.snap.Conversation.CharacterName}
}

// partial says why a text that ended in err is only a part.
func partial(ctx context.Context, err error) reply.Incomplete {
	switch {
	case err == nil:
		return reply.Whole
	case ctx.Err() != nil:
		return reply.Interrupted
	}
	return reply.ByError
}

func recordOf(text string, incomplete reply.Incomplete) *reply.Record {
	return &reply.Record{Answer: &reply.Answer{Parts: []reply.Part{{Kind: reply.Text, Text: text}}, Incomplete: incomplete}}
}

// writerPass is the Writer's call for a slot. The first speaker is told what
// the person said; the later ones read it in the history.
func (x *Exchange) writerPass(slot exchange.Slot) pass {
	lane, tools := x.lanes.of(slot.Speaker), x.tools
	if x.lanes.apart(slot.Speaker) {
		tools = nil // nothing is ever forced in this lane
	}
	t := prompt.Turn{
		Speaker: slot.Speaker, Path: x.path, Cue: slot.Cue, Lore: x.lore, Injection: x.direct.Injection,
		ToolsShipped: lane.Forcing == ByTool && tools != nil, LengthNudge: x.lengthNudge(), Steer: x.turn.steered,
	}
	var images []llm.Image
	if len(x.stored) == 0 {
		t.Message = x.turn.message
		if x.turn.asked != nil && !x.turn.steered {
			t.Author, images = x.turn.asked.Author, x.images.of(x.turn.asked.ID)
		}
	}
	p := passOf("writer", lane, x.body(lane, slot.Speaker), x.frame.History(x.path, x.images.of), x.frame.Trailing(t), images)
	p.req = Ship(lane, tools, p.req)
	return x.rehearsed(p, x.draft.name, t)
}

// body is the system body of a lane, from a speaker's seat.
func (x *Exchange) body(lane Lane, speaker string) []prompt.Section {
	return x.frame.System(lane.prompt(x.frame), x.lore, speaker)
}

// write streams the Writer's text through the filters.
func (x *Exchange) write(ctx context.Context, p pass, show func(reply.Event) bool) error {
	x.say(StepStart, StepData{Step: "writer"})
	d := x.draft
	filter := voice.New(voice.Options{Own: d.name, Others: x.others(), Cut: x.cuts()})
	keep := func(c scene.Call) {
		x.keep(c)
		d.usage, d.timing = &c.Usage, &c.Timing
	}
	var failed error
	var thought strings.Builder
	for ev, err := range x.r.stream(ctx, p, keep) {
		if err != nil {
			failed = err
			break
		}
		out := reply.Event{Delta: reply.Delta{Notice: ev.Delta.Notice, Reasoning: ev.Delta.Reasoning}}
		thought.WriteString(ev.Delta.Reasoning)
		out.Delta.Text = filter.Write(ev.Delta.Text)
		if !show(out) {
			return nil
		}
		if filter.Cut() != nil {
			break // the call ends here, and the reply is complete
		}
	}
	if rest := filter.Flush(); rest != "" && !show(reply.Event{Delta: reply.Delta{Text: rest}}) {
		return nil
	}
	d.text, d.cut, d.reasoning = strings.TrimSpace(filter.Text()), filter.Cut(), thought.String()
	if label := filter.Flagged(); d.cut == nil && label != "" && x.cuts() {
		d.cut = &scene.Cut{Label: label} // nothing would be left without it
	}
	if unspoken(d.text) {
		d.text = ""
	}
	return failed
}

// unspoken tells whether a text comes to nothing once its macros are rolled.
func unspoken(text string) bool {
	return strings.TrimSpace(macro.Inline(text, func(int) int { return 0 }, time.Time{})) == ""
}

// others are the labels that a reply may not go on under: the rest of the cast,
// who left it, and the person.
func (x *Exchange) others() []string {
	if !x.group() {
		return []string{x.snap.UserName()}
	}
	names := []string{x.snap.UserName()}
	for _, m := range x.snap.Members {
		if x.draft.member == nil || m.ID != x.draft.member.ID {
			names = append(names, m.Name)
		}
	}
	return names
}

// cuts tells whether a reply is cut where it goes on as somebody else. A
// narrator may speak for everybody.
func (x *Exchange) cuts() bool {
	m := x.draft.member
	return x.snap.Conversation.CutImpersonation && (m == nil || m.Kind != scene.Narrator)
}

// lengthNudge asks for brevity where the length is enforced.
func (x *Exchange) lengthNudge() string {
	set := x.snap.Settings
	if !set.LengthGuard || !set.LengthGuardEnforce {
		return ""
	}
	return phrase("length_nudge.txt", set)
}
