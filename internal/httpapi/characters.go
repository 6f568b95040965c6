package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/card"
	"jp/internal/scene/lore"
)

func (a *api) characters() {
	route(a, http.MethodGet, "/characters", "list-characters", "List the characters", a.listCharacters)
	route(a, http.MethodPost, "/characters", "create-character", "Create a character", a.createCharacter, limit(card.MaxFile))
	route(a, http.MethodGet, "/characters/{id}", "get-character", "Read a character", a.getCharacter)
	route(a, http.MethodPut, "/characters/{id}", "change-character", "Change fields of a character", a.changeCharacter, limit(card.MaxFile))
	route(a, http.MethodDelete, "/characters/{id}", "delete-character", "Delete a character", a.deleteCharacter)
	route(a, http.MethodGet, "/characters/{id}/usage", "character-usage", "List the conversations of a character", a.characterUsage)
	route(a, http.MethodPut, "/characters/{id}/public-profile", "set-public-profile", "Save what a character tells everybody", a.setProfile)
}

// Character is a card without its picture.
type Character struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Personality  string          `json:"personality"`
	Scenario     string          `json:"scenario"`
	FirstMessage string          `json:"first_mes"`
	Examples     string          `json:"mes_example"`
	CreatorNotes string          `json:"creator_notes"`
	SystemPrompt string          `json:"system_prompt"`
	PostHistory  string          `json:"post_history_instructions"`
	Tags         []string        `json:"tags"`
	Creator      string          `json:"creator"`
	Version      string          `json:"character_version"`
	Greetings    []string        `json:"alternate_greetings"`
	Format       string          `json:"source_format"`
	WorldID      *string         `json:"world_id"`
	PersonaLock  *string         `json:"persona_lock_id"`
	Extensions   json.RawMessage `json:"extensions" doc:"An object, kept as it came"`
	Slots        json.RawMessage `json:"workflow_state"`
	CreatedAt    string          `json:"created_at"`
	UpdatedAt    string          `json:"updated_at"`
}

func wireCharacter(c scene.Card) Character {
	return Character{
		ID: c.ID, Name: c.Name, Description: c.Description, Personality: c.Personality, Scenario: c.Scenario,
		FirstMessage: c.FirstMessage, Examples: c.Examples, CreatorNotes: c.CreatorNotes, SystemPrompt: c.SystemPrompt,
		PostHistory: c.PostHistory, Tags: c.Tags, Creator: c.Creator, Version: c.Version, Greetings: c.Greetings,
		Format: c.Format, WorldID: c.WorldID, PersonaLock: c.PersonaLock, Extensions: object(c.Extensions), Slots: c.Slots,
		CreatedAt: stamp(c.CreatedAt), UpdatedAt: stamp(c.UpdatedAt),
	}
}

// CharacterBrief is a row of the list of characters.
type CharacterBrief struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	CreatorNotes string   `json:"creator_notes"`
	Tags         []string `json:"tags"`
	Creator      string   `json:"creator"`
	Format       string   `json:"source_format"`
	WorldID      *string  `json:"world_id"`
	PersonaLock  *string  `json:"persona_lock_id"`
	Chars        int      `json:"def_chars" doc:"Characters of description, personality and examples"`
	HasAvatar    Flag     `json:"has_avatar"`
	CreatedAt    string   `json:"created_at"`
	UpdatedAt    string   `json:"updated_at"`
}

func (a *api) listCharacters(ctx context.Context, _ *struct{}) (*body[[]CharacterBrief], error) {
	briefs, err := a.Scenes.Cards(ctx)
	return results(briefs, err, func(b scene.CardBrief) CharacterBrief {
		return CharacterBrief{
			ID: b.ID, Name: b.Name, CreatorNotes: b.CreatorNotes, Tags: b.Tags, Creator: b.Creator, Format: b.Format,
			WorldID: b.WorldID, PersonaLock: b.PersonaLock, Chars: b.Chars, HasAvatar: Flag(b.HasAvatar),
			CreatedAt: stamp(b.CreatedAt), UpdatedAt: stamp(b.UpdatedAt),
		}
	})
}

func (a *api) getCharacter(ctx context.Context, in *ByID) (*body[Character], error) {
	c, err := a.Scenes.Card(ctx, in.ID)
	return resulting(c, err, wireCharacter)
}

// NewCharacter is what creating a character takes and what an import of a card
// answers.
type NewCharacter struct {
	ID           string          `json:"id" required:"false" doc:"Made when empty"`
	Name         string          `json:"name" doc:"Not blank"`
	Description  string          `json:"description" required:"false"`
	Personality  string          `json:"personality" required:"false"`
	Scenario     string          `json:"scenario" required:"false"`
	FirstMessage string          `json:"first_mes" required:"false"`
	Examples     string          `json:"mes_example" required:"false"`
	CreatorNotes string          `json:"creator_notes" required:"false"`
	SystemPrompt string          `json:"system_prompt" required:"false"`
	PostHistory  string          `json:"post_history_instructions" required:"false"`
	Tags         []string        `json:"tags" required:"false"`
	Creator      string          `json:"creator" required:"false"`
	Version      string          `json:"character_version" required:"false"`
	Greetings    []string        `json:"alternate_greetings" required:"false"`
	Format       string          `json:"source_format" required:"false"`
	WorldID      *string         `json:"world_id" required:"false"`
	PersonaLock  *string         `json:"persona_lock_id" required:"false"`
	Extensions   json.RawMessage `json:"extensions" required:"false" doc:"An object"`
	Slots        json.RawMessage `json:"workflow_state" required:"false" doc:"An object"`
	AvatarB64    string          `json:"avatar_b64" required:"false" doc:"A PNG, JPEG, WebP or GIF file, base64"`
	AvatarMIME   string          `json:"avatar_mime" required:"false" doc:"Told by the file itself when it is sent"`
	Book         json.RawMessage `json:"character_book" required:"false" doc:"A lorebook; it becomes a World unless world_id names one"`
}

func (n NewCharacter) card() scene.Card {
	return scene.Card{
		ID: n.ID, Name: n.Name, Description: n.Description, Personality: n.Personality, Scenario: n.Scenario,
		FirstMessage: n.FirstMessage, Examples: n.Examples, CreatorNotes: n.CreatorNotes, SystemPrompt: n.SystemPrompt,
		PostHistory: n.PostHistory, Tags: n.Tags, Creator: n.Creator, Version: n.Version, Greetings: n.Greetings,
		Format: n.Format, WorldID: n.WorldID, PersonaLock: n.PersonaLock, Extensions: given(n.Extensions), Slots: given(n.Slots),
	}
}

func (a *api) createCharacter(ctx context.Context, in *struct{ Body NewCharacter }) (*body[Character], error) {
	n := in.Body
	if err := anObject(n.Slots, "workflow_state"); err != nil {
		return nil, err
	}
	avatar, err := picture(n.AvatarB64)
	if err != nil {
		return nil, err
	}
	book, err := characterBook(n.Book)
	if err != nil {
		return nil, err
	}
	c, err := a.Scenes.CreateCard(ctx, n.card(), avatar, book)
	return resulting(c, err, wireCharacter)
}

// characterBook reads the lorebook of a card; nil for none.
func characterBook(raw json.RawMessage) (*scene.Book, error) {
	if raw = given(raw); raw == nil {
		return nil, nil
	}
	book, _, err := lore.DecodeBook(raw)
	if fault.CodeOf(err) == fault.Invalid {
		return nil, misfit(sentence(err), "body", "character_book")
	}
	return &book, err
}

// CharacterChange is a partial update: what is absent stays, null clears the
// two references and leaves everything else alone.
type CharacterChange struct {
	Name         Opt[string]          `json:"name,omitzero"`
	Description  Opt[string]          `json:"description,omitzero"`
	Personality  Opt[string]          `json:"personality,omitzero"`
	Scenario     Opt[string]          `json:"scenario,omitzero"`
	FirstMessage Opt[string]          `json:"first_mes,omitzero"`
	Examples     Opt[string]          `json:"mes_example,omitzero"`
	CreatorNotes Opt[string]          `json:"creator_notes,omitzero"`
	SystemPrompt Opt[string]          `json:"system_prompt,omitzero"`
	PostHistory  Opt[string]          `json:"post_history_instructions,omitzero"`
	Tags         Opt[[]string]        `json:"tags,omitzero"`
	Creator      Opt[string]          `json:"creator,omitzero"`
	Version      Opt[string]          `json:"character_version,omitzero"`
	Greetings    Opt[[]string]        `json:"alternate_greetings,omitzero"`
	WorldID      Opt[string]          `json:"world_id,omitzero"`
	PersonaLock  Opt[string]          `json:"persona_lock_id,omitzero"`
	Extensions   Opt[json.RawMessage] `json:"extensions,omitzero"`
	Slots        Opt[json.RawMessage] `json:"workflow_state,omitzero"`
	Format       Opt[string]          `json:"source_format,omitzero"`
	AvatarB64    Opt[string]          `json:"avatar_b64,omitzero"`
	Book         Opt[json.RawMessage] `json:"character_book,omitzero"`
}

func (a *api) changeCharacter(ctx context.Context, in *struct {
	ByID
	Body CharacterChange
}) (*body[Character], error) {
	b := in.Body
	if err := anObject(b.Slots.V, "workflow_state"); err != nil {
		return nil, err
	}
	avatar, err := picture(b.AvatarB64.V)
	if err != nil {
		return nil, err
	}
	book, err := characterBook(b.Book.V)
	if err != nil {
		return nil, err
	}
	c, err := a.Scenes.ChangeCard(ctx, in.ID, scene.CardChange{
		Name: value(b.Name), Description: value(b.Description), Personality: value(b.Personality), Scenario: value(b.Scenario),
		FirstMessage: value(b.FirstMessage), Examples: value(b.Examples), CreatorNotes: value(b.CreatorNotes),
		SystemPrompt: value(b.SystemPrompt), PostHistory: value(b.PostHistory), Tags: value(b.Tags), Creator: value(b.Creator),
		Version: value(b.Version), Greetings: value(b.Greetings), WorldID: clearable(b.WorldID), PersonaLock: clearable(b.PersonaLock),
		Format: value(b.Format), Extensions: value(b.Extensions), Slots: value(b.Slots), Book: book,
	}, avatar)
	return resulting(c, err, wireCharacter)
}

func (a *api) deleteCharacter(ctx context.Context, in *struct {
	ByID
	Conversations bool `query:"delete_conversations" doc:"Its solo chats, too"`
}) (*body[Done], error) {
	return done(), a.Scenes.DeleteCard(ctx, in.ID, in.Conversations)
}

// Usage is where a character appears.
type Usage struct {
	Count         int     `json:"count"`
	Conversations []Place `json:"conversations"`
}

// Place is a conversation, as far as a list of uses tells it.
type Place struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Kind  string `json:"kind" enum:"solo,group"`
}

func (a *api) characterUsage(ctx context.Context, in *ByID) (*body[Usage], error) {
	used, err := a.Scenes.CardUsage(ctx, in.ID)
	return resulting(used, err, func(cs []scene.Conversation) Usage {
		u := Usage{Count: len(cs)}
		for _, c := range cs {
			u.Conversations = append(u.Conversations, Place{ID: c.ID, Title: c.Title, Kind: string(c.Kind)})
		}
		return u
	})
}

// PublicProfile is what a character tells everybody. Both parts are sent, so
// that none is lost by an older client.
type PublicProfile struct {
	Appearance string `json:"appearance"`
	Role       string `json:"role"`
}

func (a *api) setProfile(ctx context.Context, in *struct {
	ByID
	Body PublicProfile
}) (*body[PublicProfile], error) {
	p, err := a.Scenes.SetProfile(ctx, in.ID, scene.Profile(in.Body))
	return resulting(p, err, func(p scene.Profile) PublicProfile { return PublicProfile(p) })
}
