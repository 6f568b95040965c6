package httpapi

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/tavern"
)

// Imported is a conversation that came in, and what of its file was changed,
// guessed or left out.
type Imported struct {
	Conversation Conversation `json:"conversation"`
	Report       []string     `json:"report"`
}

// chatForm is a SillyTavern chat. The definition of a group may come along, or
// alone.
type chatForm struct {
	RawBody huma.MultipartFormFiles[struct {
		Chat  huma.FormFile `form:"file" required:"false" doc:"A chat of SillyTavern, .jsonl"`
		Group huma.FormFile `form:"group" required:"false" doc:"The definition of the group that it is of, .json"`
	}]
}

func (a *api) chats() {
	route(a, http.MethodPost, "/conversations/import", "import-chat", "Make a conversation from a SillyTavern chat", a.importChat, limit(chatLimit))
	route(a, http.MethodGet, "/conversations/{cid}/export", "export-chat", "Get the visible branch as a SillyTavern chat", a.exportChat, produces("application/jsonl"))
	route(a, http.MethodGet, "/conversations/{cid}/export-group", "export-group", "Get the cast as a SillyTavern group", a.exportGroup, produces("application/json"))
}

func (a *api) importChat(ctx context.Context, in *chatForm) (*body[Imported], error) {
	form := in.RawBody.Data()
	if !form.Chat.IsSet && !form.Group.IsSet {
		return nil, fault.New(fault.Invalid, "there is no file").WithHint("send the chat as file, the definition of its group as group")
	}
	chat, err := content(form.Chat)
	if err != nil {
		return nil, err
	}
	group, err := content(form.Group)
	if err != nil {
		return nil, err
	}
	cards, err := a.Scenes.Cards(ctx)
	if err != nil {
		return nil, err
	}
	transcript, report, err := tavern.Decode(chat, group, cards)
	if err != nil {
		return nil, err
	}
	c, err := a.Scenes.ImportTranscript(ctx, transcript)
	return &body[Imported]{Imported{conversation(c), report}}, err
}

// content is a file of a form; nil when it was not sent.
func content(f huma.FormFile) ([]byte, error) {
	if !f.IsSet {
		return nil, nil
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fault.New(fault.Invalid, "a file of the form cannot be read: %w", err)
	}
	return data, nil
}

func (a *api) exportChat(ctx context.Context, in *ConversationPath) (*File, error) {
	t, err := a.Scenes.Transcript(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	data, err := tavern.EncodeChat(t)
	return download(chatName(t)+jsonLines, "application/jsonl", data), err
}

func (a *api) exportGroup(ctx context.Context, in *ConversationPath) (*File, error) {
	t, err := a.Scenes.Transcript(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	data, err := tavern.EncodeGroup(t, chatName(t))
	return download(chatName(t)+".json", "application/json", data), err
}

// jsonLines is how the name of a chat's file ends.
const jsonLines = ".jsonl"

// chatName is what a chat's file is called without its ending: a group's
// definition names it.
func chatName(t scene.Transcript) string {
	return strings.TrimSuffix(fileName(fileName(t.Conversation.Title)+jsonLines), jsonLines)
}
