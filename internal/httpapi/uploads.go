package httpapi

import (
	"context"
	"net/http"

	"jp/internal/scene"
)

// Attachment is a file of a message, without its bytes.
type Attachment struct {
	ID        int64  `json:"id"`
	MessageID int64  `json:"message_id"`
	MIME      string `json:"mime_type"`
	Filename  string `json:"filename"`
	Size      int    `json:"size" doc:"Bytes"`
	CreatedAt string `json:"created_at"`
}

func attached(u scene.Upload) Attachment {
	return Attachment{ID: u.ID, MessageID: u.MessageID, MIME: u.MIME, Filename: u.Filename, Size: u.Size, CreatedAt: stamp(u.CreatedAt)}
}

func (a *api) uploads() {
	route(a, http.MethodGet, "/user-attachments/{id}/content", "get-attachment", "Get a file that was attached to a message", a.upload,
		produces(append([]string{octets}, pictures...)...))
}

func (a *api) upload(ctx context.Context, in *struct {
	ID int64 `path:"id"`
}) (*File, error) {
	u, data, err := a.Scenes.Upload(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return stored(u.Filename, u.MIME, data), nil
}

// octets is the media type of what nobody vouches for.
const octets = "application/octet-stream"
