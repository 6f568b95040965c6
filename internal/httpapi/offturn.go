package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"jp/internal/lib/fanout"
	"jp/internal/lib/sse"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
	"jp/internal/scene/prompt"
)

// offturn registers what asks a model beside exchanges. None of it claims the
// conversation or stores anything, and it ends with the client that asked.
func (a *api) offturn() {
	const one = "/conversations/{cid}"
	route(a, http.MethodPost, one+"/summarize", "summarize", "Sum up all messages but the last ones", a.summarize, produces("text/event-stream"))
	route(a, http.MethodPost, one+"/autocomplete", "autocomplete", "Go on with what a person is writing", a.autocomplete)
	route(a, http.MethodGet, one+"/context-size", "get-context-size", "Measure what the next call would be given", a.contextSize)
	route(a, http.MethodPost, one+"/members/scene-profile/generate", "draft-scene-profile", "Draft what the cast sees of a character", a.draftSceneProfile)
	route(a, http.MethodPost, "/characters/{id}/public-profile/generate", "draft-public-profile", "Draft a character's public profile", a.draftPublicProfile)
}

// Summarizing is what is to be summed up.
type Summarizing struct {
	Keep   int    `json:"keep_count" doc:"How many messages at the end are left out: 2, 4, 6 or 8"`
	Custom string `json:"custom_instructions,omitempty"`
}

func (a *api) summarize(ctx context.Context, in *struct {
	ConversationPath
	Body Summarizing
}) (*streamOut, error) {
	s, err := a.Runner.BeginSummary(ctx, in.ID, in.Body.Keep, in.Body.Custom)
	if err != nil {
		return nil, err
	}
	return &streamOut{Body: func(c huma.Context) { a.write(c, in.ID, s) }}, nil
}

// write lets a client follow a summary from its start. When the client goes,
// the model is let go, too.
func (a *api) write(c huma.Context, conversation string, s *pipeline.Summary) {
	ctx, leave := context.WithCancel(c.Context())
	// The pipeline bounds an answer, and nobody comes back for this one: all of
	// it is kept.
	log := fanout.New(a.logName(s.ID()), 1, func(sse.Event) int { return 0 })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer log.Close()
		s.Run(ctx, func(e pipeline.Event) { log.Append(a.wire(conversation, s.ID(), e)) })
	}()
	a.follow(c, conversation, log, 0)
	leave()
	<-ended
}

// Draft is what a person has written so far.
type Draft struct {
	Text string `json:"draft,omitempty"`
}

// Completion is what follows a draft.
type Completion struct {
	Text string `json:"completion" doc:"Without the draft; a space that parts them is part of it"`
}

func (a *api) autocomplete(ctx context.Context, in *struct {
	ConversationPath
	Body Draft
}) (*body[Completion], error) {
	text, err := a.Runner.Autocomplete(ctx, in.ID, in.Body.Text)
	if pipeline.Unreached(err) {
		return nil, &Problem{Status: http.StatusServiceUnavailable, Detail: sentence(err)}
	}
	return &body[Completion]{Completion{text}}, err
}

// ContextSize is how much a call is given.
type ContextSize struct {
	Chars     int                 `json:"total_chars"`
	Tokens    int                 `json:"total_tokens_est"`
	Breakdown map[string]PartSize `json:"breakdown" doc:"By what makes it up; which parts there are depends on the context mode"`
	Messages  int                 `json:"message_count" doc:"Of the visible branch"`
	Kind      string              `json:"estimate_kind" enum:"single_call,maximum" doc:"maximum counts the largest member, as for a group"`
}

// PartSize is the size of one part.
type PartSize struct {
	Chars  int `json:"chars"`
	Tokens int `json:"tokens_est"`
}

func (a *api) contextSize(ctx context.Context, in *ConversationPath) (*body[ContextSize], error) {
	size, err := a.Runner.ContextSize(ctx, in.ID)
	return resulting(size, err, func(s prompt.Size) ContextSize {
		out := ContextSize{Chars: s.Chars, Tokens: s.Tokens, Messages: s.Messages, Kind: "single_call", Breakdown: map[string]PartSize{}}
		if s.Maximum {
			out.Kind = "maximum"
		}
		for _, p := range s.Parts {
			out.Breakdown[p.Key] = PartSize{p.Chars, p.Tokens}
		}
		return out
	})
}

// ProfileDraft is for whom a public profile is drafted. The scene's premise is
// the stored one.
type ProfileDraft struct {
	CardID Opt[string]   `json:"character_card_id,omitzero" doc:"Of a member, or of one who is to become one"`
	Name   string        `json:"display_name,omitempty" doc:"In the scene; empty is the card's"`
	Cast   Opt[[]string] `json:"cast_names,omitzero" doc:"The others' names; left out, they are those of the stored cast"`
}

// DraftedProfile is a public profile as a member's override holds it.
type DraftedProfile struct {
	Profile string `json:"profile" doc:"Appearance: … and Role: …, a line each"`
}

func (a *api) draftSceneProfile(ctx context.Context, in *struct {
	ConversationPath
	Body *ProfileDraft
}) (*body[DraftedProfile], error) {
	b := orZero(in.Body)
	text, err := a.Runner.DraftSceneProfile(ctx, in.ID, pipeline.ProfileDraft{
		CardID: clearable(b.CardID).To, Name: b.Name, Cast: or(b.Cast, nil),
	})
	return &body[DraftedProfile]{DraftedProfile{text}}, err
}

func (a *api) draftPublicProfile(ctx context.Context, in *ByID) (*body[PublicProfile], error) {
	p, err := a.Runner.DraftPublicProfile(ctx, in.ID)
	return resulting(p, err, func(p scene.Profile) PublicProfile { return PublicProfile(p) })
}
