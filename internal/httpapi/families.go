package httpapi

import (
	"context"
	"net/http"
)

// Converted is a chat that became a group, and the card that became a member.
type Converted struct {
	Conversation Conversation `json:"conversation"`
	Member       Member       `json:"member"`
}

// Gone is how many conversations a group had.
type Gone struct {
	OK      bool `json:"ok"`
	Deleted int  `json:"deleted"`
}

// CheckpointDraft names a checkpoint.
type CheckpointDraft struct {
	Title string `json:"title,omitempty"`
}

// CompressDraft is a summary to go on from. It is the route that says which
// counts there are, so that a wrong one is a sentence.
type CompressDraft struct {
	Summary   string `json:"summary"`
	KeepCount int    `json:"keep_count" doc:"How many of the last messages to keep: 2, 4, 6 or 8"`
}

// Compressed names the conversation that goes on from a summary.
type Compressed struct {
	ID string `json:"new_conversation_id"`
}

func (a *api) families() {
	route(a, http.MethodPost, "/conversations/{cid}/convert-to-group", "convert-to-group", "Make a chat a group, in place", a.convert)
	route(a, http.MethodPost, "/conversations/{cid}/group-conversation", "start-in-group", "Start an empty conversation in the same family", func(ctx context.Context, in *ConversationPath) (*revised, error) {
		c, err := a.Scenes.NewInGroup(ctx, in.ID)
		return revisedRow(c), err
	})
	route(a, http.MethodDelete, "/conversations/{cid}/group", "delete-group", "Delete the whole family", func(ctx context.Context, in *ConversationPath) (*body[Gone], error) {
		n, err := a.Scenes.DeleteGroup(ctx, in.ID)
		return &body[Gone]{Gone{OK: true, Deleted: n}}, err
	})
	route(a, http.MethodPost, "/conversations/{cid}/checkpoint", "checkpoint", "Fork the conversation as it stands", a.checkpoint)
	route(a, http.MethodPost, "/conversations/{cid}/compress", "compress", "Fork it with a summary in place of all but the last messages", a.compress, limit(chatLimit))
}

func (a *api) convert(ctx context.Context, in *ConversationPath) (*body[Converted], error) {
	c, m, err := a.Scenes.ConvertToGroup(ctx, in.ID)
	return &body[Converted]{Converted{conversation(c), member(m)}}, err
}

type checkpoint struct {
	ConversationPath
	Body *CheckpointDraft
}

func (a *api) checkpoint(ctx context.Context, in *checkpoint) (*revised, error) {
	var draft CheckpointDraft
	if in.Body != nil {
		draft = *in.Body
	}
	c, err := a.Scenes.Checkpoint(ctx, in.ID, draft.Title)
	return revisedRow(c), err
}

type compress struct {
	ConversationPath
	Body CompressDraft
}

func (a *api) compress(ctx context.Context, in *compress) (*body[Compressed], error) {
	c, err := a.Scenes.Compress(ctx, in.ID, in.Body.Summary, in.Body.KeepCount)
	return &body[Compressed]{Compressed{c.ID}}, err
}
