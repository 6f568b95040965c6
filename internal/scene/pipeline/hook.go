package pipeline

import (
	"context"
	"encoding/json"
	"strings"

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

// runHooks runs the hooks in order.
func (x *Exchange) runHooks(ctx context.Context) {
	d := x.draft
	for _, h := range x.r.Hooks {
		if ctx.Err() != nil {
			return
		}
		x.say(PhaseStatus, PhaseData{Channel: "workflow:" + h.Name(), State: "running"})
		f := Finished{Conversation: x.snap.Conversation, Member: d.member, Card: x.card(), Text: d.text}
		var c Changes
		err := caught(func() (err error) {
			c, err = h.Reply(ctx, f)
			return err
		})
		x.say(PhaseStatus, PhaseData{Channel: "workflow:" + h.Name(), State: "done"})
		if err != nil {
			x.warn("workflow hook", err)
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
	return plainJSON(both)
}

// card is that of the member who speaks, or the solo chat's.
func (x *Exchange) card() *scene.Card {
	if x.draft.member != nil {
		return x.snap.CardOf(*x.draft.member)
	}
	return x.snap.CardOf(scene.Member{CardID: x.snap.Conversation.CardID})
}
