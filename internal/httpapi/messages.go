package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"jp/internal/scene"
)

// Message is one message of the visible branch, with its place among its
// siblings.
type Message struct {
	ID             int64           `json:"id"`
	ConversationID string          `json:"conversation_id"`
	ParentID       *int64          `json:"parent_id"`
	Role           scene.Role      `json:"role" enum:"user,assistant"`
	Content        string          `json:"content"`
	TurnIndex      int             `json:"turn_index"`
	SpeakerID      *string         `json:"speaker_member_id" doc:"Null for people and summaries"`
	ExchangeID     *string         `json:"exchange_id"`
	Author         string          `json:"author" doc:"Who wrote a user message, when known"`
	Incomplete     string          `json:"incomplete" enum:",error,interrupted" doc:"Why a reply ends early; empty when it does not"`
	Direction      string          `json:"direction" doc:"What a magic rewrite was told"`
	Cut            *Cut            `json:"cut" doc:"What was cut off because the speaker went on as somebody else"`
	HasDraft       Flag            `json:"has_writer_draft"`
	WorkflowState  json.RawMessage `json:"workflow_state"`
	CreatedAt      string          `json:"created_at"`
	Branches       int             `json:"branch_count"`
	Branch         int             `json:"branch_index" doc:"0 for the oldest"`
	PrevBranch     *int64          `json:"prev_branch_id"`
	NextBranch     *int64          `json:"next_branch_id"`
	Uploads        []Attachment    `json:"user_attachments"`
	Made           []Attachment    `json:"workflow_attachments" doc:"What workflows made: nothing, as none makes files"`
}

// Cut is what was cut off a reply.
type Cut struct {
	Label   string `json:"label" doc:"Whose label began the line"`
	Removed string `json:"removed" doc:"Empty when the reply began with the label: it is kept then, and only marked"`
}

func message(s scene.Step) Message {
	m := Message{
		ID: s.ID, ConversationID: s.ConversationID, ParentID: s.ParentID,
		Role: s.Role, Content: s.Content, TurnIndex: s.TurnIndex,
		SpeakerID: s.SpeakerID, ExchangeID: s.ExchangeID,
		Author: s.Author, Incomplete: s.Incomplete, Direction: s.Direction,
		Cut: (*Cut)(s.Cut), HasDraft: s.WriterDraft != nil, WorkflowState: s.Slots, CreatedAt: stamp(s.CreatedAt),
		Branches: s.Branches, Branch: s.Branch, PrevBranch: s.PrevBranch, NextBranch: s.NextBranch,
	}
	for _, u := range s.Uploads {
		m.Uploads = append(m.Uploads, attached(u))
	}
	return m
}

// Extent is what deleting a message takes with it.
type Extent struct {
	Messages   int `json:"message_count"`
	Assistants int `json:"assistant_count"`
}

// Edit is a message's new text.
type Edit struct {
	Content string `json:"content"`
}

func (a *api) messages() {
	const one = "/conversations/{cid}/messages/{mid}"
	route(a, http.MethodGet, "/conversations/{cid}/messages", "list-messages", "Read the visible branch, oldest first", a.listMessages)
	route(a, http.MethodGet, one+"/delete-preview", "preview-delete", "Count what deleting the message would take", func(ctx context.Context, in *MessagePath) (*body[Extent], error) {
		e, err := a.Scenes.DeletePreview(ctx, in.ID, in.Message)
		return &body[Extent]{Extent(e)}, err
	})
	route(a, http.MethodDelete, one, "delete-message", "Delete a message, its siblings and all that follows them", func(ctx context.Context, in *MessagePath) (*body[[]Message], error) {
		path, err := a.Scenes.DeleteMessage(ctx, in.ID, in.Message)
		return results(path, err, message)
	})
	route(a, http.MethodPost, one+"/edit", "edit-message", "Change a message's text in place", a.editMessage, limit(chatLimit))
	route(a, http.MethodPost, one+"/switch-branch", "switch-branch", "Show the branch that goes through the message", func(ctx context.Context, in *MessagePath) (*body[[]Message], error) {
		path, err := a.Scenes.SwitchBranch(ctx, in.ID, in.Message)
		return results(path, err, message)
	})
}

// MessagePath is the path of everything below one message.
type MessagePath struct {
	ConversationPath
	Message int64 `path:"mid"`
}

type listMessages struct {
	ConversationPath
	Before int64 `query:"before" minimum:"1" doc:"Only what comes before this message of the branch"`
	Limit  int   `query:"limit" minimum:"1" doc:"Only the last so many"`
}

func (a *api) listMessages(ctx context.Context, in *listMessages) (*body[[]Message], error) {
	var before *int64
	if in.Before > 0 {
		before = &in.Before
	}
	path, err := a.Scenes.Messages(ctx, in.ID, before, in.Limit)
	return results(path, err, message)
}

type editMessage struct {
	MessagePath
	Body Edit
}

func (a *api) editMessage(ctx context.Context, in *editMessage) (*body[Done], error) {
	return done(), a.Scenes.EditMessage(ctx, in.ID, in.Message, in.Body.Content)
}
