package query

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"jp/internal/kernel/exchange"
	"jp/internal/kernel/llm"
	"jp/internal/kernel/projection"
	"jp/internal/kernel/reply"
	"jp/internal/lib/fault"
	"jp/internal/workspace"
	"jp/internal/workspace/attach"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// bundle is everything one responder answers with. Nothing of it is shared
// with another's.
type bundle struct {
	config.Assistant
	model     llm.Model
	system    []string
	documents []llm.Document
	known     []string // identifiers of everybody, for labels
}

// bundles readies the responders: what is missing shows here, before anything
// is saved.
func (st *setup) bundles() ([]bundle, error) {
	documents, err := st.documents(st.tree, st.named)
	if err != nil {
		return nil, err
	}
	tree := config.TakeProviders(st.tree, st.here)
	var out []bundle
	for _, name := range st.responders {
		a, err := config.ParticipantConfig(st.tree, name)
		if err != nil {
			return nil, err
		}
		if err := a.Ready(); err != nil {
			return nil, err
		}
		if base := config.ForeignServer(st.tree, st.here, a.Model.Provider); base != "" {
			st.Notes("the conversation's own server " + base + " is not asked; set providers.llm." + a.Model.Provider + ".base_url in your configuration if it should be")
		}
		model, err := st.Model(tree, a)
		if err != nil && len(st.responders) > 1 {
			err = fault.New(fault.CodeOf(err), "%s: %w", name, err).WithHint("%s", fault.HintOf(err))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, bundle{
			Assistant: a,
			model:     model,
			system:    a.SystemParts(st.Tools != nil),
			documents: slices.Clone(documents),
			known:     Known(st.tree),
		})
	}
	return out, nil
}

// Known lists every participant of a conversation, present or not.
func Known(tree config.Tree) []string {
	return unique(slices.Concat(config.Roster(tree), config.Captured(tree), []string{config.Reserved}))
}

// documents reads what tree attaches, and what a person named in this run.
func (r *Run) documents(tree config.Tree, named []attach.Ref) ([]llm.Document, error) {
	var refs []attach.Ref
	for _, v := range config.Attachments(tree) {
		ref, reason := stored(v)
		if reason != "" {
			r.Notes(reason)
			continue
		}
		refs = append(refs, ref)
	}
	return r.Place.Read(append(refs, named...), named, r.Notes)
}

// Request is what a model is sent for a participant over lines.
func Request(a config.Assistant, system []string, docs []llm.Document, view projection.View) llm.Request {
	return llm.Request{
		Model:      a.Model.Name,
		System:     system,
		Documents:  docs,
		Messages:   view.Messages,
		ToolChoice: a.ToolChoice,
		Params:     a.Params,
	}
}

// speakers answers slots from their bundles.
type speakers struct {
	run     *Run
	open    *workspace.Conversation
	request string
	bundles map[string]bundle
}

var _ exchange.Responder = speakers{}

// Respond implements exchange.Responder.
func (s speakers) Respond(ctx context.Context, slot exchange.Slot) iter.Seq2[reply.Event, error] {
	b := s.bundles[slot.Speaker]
	var view projection.View // as it was shown last
	sp := reply.Speaker{
		Model: b.model,
		Tools: s.run.Tools,
		Limits: reply.Limits{
			Retries:    b.Request.MaxRetries,
			Backoff:    b.Request.BaseBackoff,
			MaxBackoff: b.Request.MaxBackoff,
			Idle:       b.Request.Idle,
			MaxBytes:   b.Request.MaxBytes,
			Cycles:     b.Request.MaxCycles,
		},
		Prompt: func(context.Context) (reply.Prompt, error) {
			if err := s.whole(); err != nil {
				return reply.Prompt{}, err
			}
			view = projection.Project(s.open.Stream.Lines(), projection.Seat{
				Speaker:   b.ID,
				Provider:  b.Model.Provider,
				Answering: s.request,
				Known:     b.known,
			})
			return reply.Prompt{Request: Request(b.Assistant, b.system, b.documents, view), Label: view.Own}, nil
		},
	}
	return func(yield func(reply.Event, error) bool) {
		for e, err := range sp.Reply(ctx) {
			if !yield(e, err) {
				return
			}
			if whose := b.borrowed(view, e.Record); whose != "" {
				s.run.Notes("this answer is " + b.ID + "'s, though it begins with the label of " + whose)
			}
		}
	}
}

// whole refuses a stream that would be sent without what somebody said, as
// others may have made it while the exchange runs.
func (s speakers) whole() error {
	if _, ok := s.open.Stream.Index(s.request); !ok {
		return fault.New(fault.Invalid, "the request is no longer in the conversation").
			WithHint("its files were changed meanwhile; ask again")
	}
	return cmp.Or(s.open.Stream.Check()...)
}

// borrowed is the label of somebody else that an answer begins with, or "".
// It stays in the text, which is nobody's but the speaker's.
func (b bundle) borrowed(view projection.View, rec *reply.Record) string {
	if rec == nil || rec.Answer == nil {
		return ""
	}
	for _, part := range rec.Answer.Parts {
		if part.Kind != reply.Text {
			continue
		}
		for _, label := range slices.Concat(view.Labels, b.known) {
			if label != b.ID && strings.HasPrefix(part.Text, "["+label+"]:") {
				return label
			}
		}
		return ""
	}
	return ""
}

// ledger keeps records as events of the stream.
type ledger struct {
	open    *workspace.Conversation
	request string
	stored  func(*conversation.Event, *llm.Usage)
	notes   func(string)
	lost    bool // it was noted that the request is gone
}

var _ exchange.Ledger = (*ledger)(nil)

// Commit implements exchange.Ledger: all events of a record are saved at once,
// also when somebody took the request they answer out of the files meanwhile.
func (l *ledger) Commit(ctx context.Context, slot exchange.Slot, rec reply.Record) error {
	var ids []string
	for _, e := range l.events(slot.Speaker, rec) {
		id, err := l.open.Stream.Append(e)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if err := l.open.Save(ctx); err != nil {
		return err
	}
	if _, there := l.open.Stream.Index(l.request); !there && !l.lost {
		l.lost = true
		l.notes("the conversation's files were changed meanwhile: this answer is saved, but the request it answers is no longer in the conversation")
	}
	for n, id := range ids {
		i, ok := l.open.Stream.Index(id) // where it is now that others may have written, too
		if l.stored == nil || !ok {
			continue
		}
		e, err := l.open.Stream.Event(i)
		if err != nil {
			return err
		}
		l.stored(e, counted(rec.Answer, n))
	}
	return nil
}

// counted is what an answer took, told with its last part: the n-th event.
func counted(a *reply.Answer, n int) *llm.Usage {
	if a == nil || n != len(a.Parts)-1 || a.Usage == (llm.Usage{}) {
		return nil
	}
	return &a.Usage
}

func (l *ledger) events(participant string, rec reply.Record) []conversation.Event {
	var events []conversation.Event
	add := func(e conversation.Event) {
		e.Participant, e.Request = participant, l.request
		events = append(events, e)
	}
	if a := rec.Answer; a != nil {
		for i, part := range a.Parts {
			e := conversation.Event{Kind: conversation.ChatResponse, Form: conversation.Message, Content: part.Text}
			if part.Kind == reply.Reasoning {
				e.Form, e.Metadata = conversation.Reasoning, part.Replay
			}
			if i == len(a.Parts)-1 {
				e.Incomplete = string(a.Incomplete)
			}
			add(e)
		}
		for _, c := range a.Calls {
			add(conversation.Event{Kind: conversation.ToolCallRequest, CallID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
	}
	for _, r := range rec.Results {
		add(conversation.Event{Kind: conversation.ToolCallResponse, CallID: r.Call, Content: r.Content, IsError: r.IsError})
	}
	return events
}
