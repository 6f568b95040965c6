package httpapi

import (
	"context"
	"net/http"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/card"
	"jp/internal/scene/lore"
)

func (a *api) exports() {
	route(a, http.MethodGet, "/characters/{id}/export", "export-character", "Download a character card", a.exportCharacter,
		produces("image/png", "application/json"))
	route(a, http.MethodGet, "/worlds/{id}/export", "export-world", "Download a World as a lorebook file", a.exportWorld,
		produces("application/json"))
}

func (a *api) exportCharacter(ctx context.Context, in *struct {
	ByID
	Format string `query:"format" enum:"png,json" default:"png"`
}) (*File, error) {
	c, err := a.Scenes.Card(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	book, err := a.Scenes.CardBook(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Format == "json" {
		data, err := card.EncodeJSON(c, book)
		if err != nil {
			return nil, err
		}
		return download(fileName(c.Name)+".json", "application/json", data), nil
	}
	avatar, err := a.avatar(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	data, err := card.EncodePNG(c, avatar, book)
	if err != nil {
		return nil, err
	}
	return download(fileName(c.Name)+".png", "image/png", data), nil
}

// avatar is a card's picture, nil when it has none.
func (a *api) avatar(ctx context.Context, id string) (*scene.Avatar, error) {
	avatar, err := a.Scenes.Avatar(ctx, id)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	return &avatar, err
}

func (a *api) exportWorld(ctx context.Context, in *struct {
	ByID
	View
	Format string `query:"format" enum:"worldinfo,book" default:"worldinfo" doc:"A SillyTavern world info file, or the character_book of a card"`
}) (*File, error) {
	book, err := a.Scenes.Book(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	encode := lore.EncodeWorldInfo
	if in.Format == "book" {
		encode = lore.EncodeCharacterBook
	}
	data, err := encode(book)
	if err != nil {
		return nil, err
	}
	return download(fileName(book.World.Name)+".json", "application/json", data), nil
}
