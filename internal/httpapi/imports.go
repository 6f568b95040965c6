package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/card"
	"jp/internal/scene/lore"
)

func (a *api) imports() {
	route(a, http.MethodPost, "/characters/import", "import-character", "Read a character card; nothing is stored", a.importCharacter, limit(card.MaxFile))
	route(a, http.MethodPost, "/worlds/import", "import-world", "Make a World of a lorebook file", a.importWorld, limit(card.MaxFile))
	a.takesFile("/characters/import")
	a.takesFile("/worlds/import")
}

// takesFile describes a body that is a form with a file, or the file itself
// when it is JSON.
func (a *api) takesFile(path string) {
	form := &huma.Schema{Type: huma.TypeObject, Required: []string{"file"}, Properties: map[string]*huma.Schema{
		"file": {Type: huma.TypeString, Format: "binary"},
	}}
	a.huma.OpenAPI().Paths["/api"+path].Post.RequestBody.Content = map[string]*huma.MediaType{
		"multipart/form-data": {Schema: form},
		"application/json":    {Schema: &huma.Schema{Type: huma.TypeObject}},
	}
}

type fileInput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	RawBody     []byte `contentType:"multipart/form-data"`
}

// file returns the file that was sent and its name, if it has one.
func (in fileInput) file() (data []byte, name string, err error) {
	kind, params, _ := mime.ParseMediaType(in.ContentType)
	if kind != "multipart/form-data" {
		return in.RawBody, "", nil
	}
	form := multipart.NewReader(bytes.NewReader(in.RawBody), params["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, "", misfit("a file is needed", "body", "file")
		} else if err != nil {
			return nil, "", misfit("this form cannot be read", "body")
		}
		if part.FormName() != "file" {
			continue
		}
		if data, err = io.ReadAll(part); err != nil {
			return nil, "", misfit("this form breaks off", "body")
		}
		return data, part.FileName(), nil
	}
}

// ImportedCharacter is a card as it was read, in the shape that creating a
// character takes.
type ImportedCharacter struct {
	NewCharacter
	Exists bool     `json:"exists" doc:"A character with this id is there: update it, or create a copy without an id"`
	Report []string `json:"report" doc:"What was coerced, dropped or linked"`
}

func (a *api) importCharacter(ctx context.Context, in *fileInput) (*body[ImportedCharacter], error) {
	data, name, err := in.file()
	if err != nil {
		return nil, err
	}
	parsed, err := card.Decode(data, name)
	if err != nil {
		return nil, err
	}
	out := ImportedCharacter{NewCharacter: wireNew(parsed.Card), Report: parsed.Report}
	if parsed.Avatar != nil {
		out.AvatarB64 = base64.StdEncoding.EncodeToString(parsed.Avatar.Data)
		out.AvatarMIME = parsed.Avatar.MIME
	}
	if parsed.Book != nil {
		if out.Book, err = lore.EncodeCharacterBook(*parsed.Book); err != nil {
			return nil, err
		}
	}
	switch _, err := a.Scenes.Card(ctx, out.ID); {
	case err == nil:
		out.Exists = true
	case fault.CodeOf(err) != fault.NotFound:
		return nil, err
	}
	return &body[ImportedCharacter]{out}, nil
}

func wireNew(c scene.Card) NewCharacter {
	return NewCharacter{
		ID: c.ID, Name: c.Name, Description: c.Description, Personality: c.Personality, Scenario: c.Scenario,
		FirstMessage: c.FirstMessage, Examples: c.Examples, CreatorNotes: c.CreatorNotes, SystemPrompt: c.SystemPrompt,
		PostHistory: c.PostHistory, Tags: c.Tags, Creator: c.Creator, Version: c.Version, Greetings: c.Greetings,
		Format: c.Format, WorldID: c.WorldID, PersonaLock: c.PersonaLock, Extensions: object(c.Extensions), Slots: c.Slots,
	}
}

// ImportedWorld is the World that a lorebook became.
type ImportedWorld struct {
	World
	Imported int      `json:"imported" doc:"Entries of the book"`
	Report   []string `json:"report" doc:"What was coerced or dropped"`
}

func (a *api) importWorld(ctx context.Context, in *fileInput) (*body[ImportedWorld], error) {
	data, name, err := in.file()
	if err != nil {
		return nil, err
	}
	book, report, err := lore.DecodeBook(json.RawMessage(data))
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(book.World.Name) == "" {
		book.World.Name = strings.TrimSuffix(name, path.Ext(name))
	}
	w, err := a.Scenes.ImportWorld(ctx, book)
	return resulting(w, err, func(w scene.World) ImportedWorld {
		return ImportedWorld{World: wireWorld(w), Imported: len(book.Entries), Report: report}
	})
}
