package pipeline

import (
	"context"
	"encoding/json"
	"strings"

	"jp/internal/lib/literal"
	"jp/internal/scene"
	"jp/internal/scene/voice"
)

// Finished is a reply as hooks see it before it is stored.
type Finished struct {
	Conversation scene.Conversation
	Member       *scene.Member // the speaker; nil in a solo chat
	Card         *scene.Card   // the speaker's, nil for a narrator
	Text         string
}

// Changes are what a hook makes of a reply. A Text that says something replaces
// it, the first one only; files and slots are stored with it.
type Changes struct {
	Text    *string
	Uploads []scene.NewUpload
	Slots   scene.Slots
}

// Hook is a step of a workflow for one reply, after the Editor and before it
// is stored. Its error is a warning, and nothing of it is kept.
type Hook interface {
	Name() string
	Reply(ctx context.Context, f Finished) (Changes, error)
}

// Preparer is a Hook that also prepares an exchange: once, before anybody is
// asked, for all who speak. Its text, in which macros are replaced, ends the
// system body of every call. Where it changes models read anew all that follows
// it, so it should say the same from one exchange to the next. Its error is a
// warning, and the exchange goes on without it.
type Preparer interface {
	Prepare(ctx context.Context, s scene.Snapshot) (string, error)
}

// prepared is what the hooks add to the system body.
func (r *Runner) prepared(ctx context.Context, s scene.Snapshot, tell func(h Hook, state string, err error)) (blocks []string) {
	for _, h := range r.Hooks {
		p, ok := h.(Preparer)
		if !ok || ctx.Err() != nil {
			continue
		}
		tell(h, "running", nil)
		block := ""
		err := caught(func() (err error) {
			block, err = p.Prepare(ctx, s)
			return err
		})
		tell(h, "done", err)
		if err == nil {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// hooked tells what a hook does.
func (x *Exchange) hooked(h Hook, state string, err error) {
	x.say(PhaseStatus, PhaseData{Channel: "workflow:" + h.Name(), State: state})
	if err != nil {
		x.warn("workflow hook", err)
	}
}

// runHooks runs the hooks in order.
func (x *Exchange) runHooks(ctx context.Context) {
	d := x.draft
	for _, h := range x.r.Hooks {
		if ctx.Err() != nil {
			return
		}
		x.hooked(h, "running", nil)
		f := Finished{Conversation: x.snap.Conversation, Member: d.member, Card: x.card(), Text: d.text}
		var c Changes
		err := caught(func() (err error) {
			c, err = h.Reply(ctx, f)
			return err
		})
		x.hooked(h, "done", err)
		if err != nil {
			continue
		}
		if c.Text != nil && d.kept == nil {
			before, text := d.text, strings.TrimSpace(voice.Strip(*c.Text, d.name))
			if text != before && !unspoken(text) {
				d.kept, d.text = &before, text
			}
		}
		d.uploads = append(d.uploads, c.Uploads...)
		d.slots = joined(d.slots, c.Slots)
	}
}

// joined puts the slots of two hooks together; of one name the later stays.
func joined(a, b scene.Slots) scene.Slots {
	var both map[string]json.RawMessage
	for _, slots := range []scene.Slots{a, b} {
		if len(slots) > 0 && json.Unmarshal(slots, &both) != nil {
			return a
		}
	}
	if both == nil {
		return nil
	}
	return literal.Must(both)
}

// card is that of the member who speaks, or the solo chat's.
func (x *Exchange) card() *scene.Card {
	if x.draft.member != nil {
		return x.snap.CardOf(*x.draft.member)
	}
	return x.snap.CardOf(scene.Member{CardID: x.snap.Conversation.CardID})
}
