package httpapi

import (
	"context"
	"net/http"

	"jp/internal/scene"
)

func (a *api) personas() {
	route(a, http.MethodGet, "/user-personas", "list-personas", "List the personas", a.listPersonas)
	route(a, http.MethodPost, "/user-personas", "create-persona", "Create a persona", a.createPersona)
	route(a, http.MethodPut, "/user-personas/{id}", "change-persona", "Change fields of a persona", a.changePersona)
	route(a, http.MethodDelete, "/user-personas/{id}", "delete-persona", "Delete a persona", a.deletePersona)
}

// Persona is somebody a person speaks as.
type Persona struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Color       string `json:"avatar_color"`
	CreatedAt   string `json:"created_at"`
	UpdatedAt   string `json:"updated_at"`
}

func wirePersona(p scene.Persona) Persona {
	return Persona{
		ID: p.ID, Name: p.Name, Description: p.Description, Color: p.Color,
		CreatedAt: stamp(p.CreatedAt), UpdatedAt: stamp(p.UpdatedAt),
	}
}

// NewPersona is what creating a persona takes.
type NewPersona struct {
	Name        string `json:"name" doc:"Not blank"`
	Description string `json:"description,omitempty"`
	Color       string `json:"avatar_color,omitempty" doc:"CSS notation"`
}

// PersonaChange is a partial update.
type PersonaChange struct {
	Name        Opt[string] `json:"name,omitzero"`
	Description Opt[string] `json:"description,omitzero"`
	Color       Opt[string] `json:"avatar_color,omitzero"`
}

func (a *api) listPersonas(ctx context.Context, _ *struct{}) (*body[[]Persona], error) {
	ps, err := a.Scenes.Personas(ctx)
	return results(ps, err, wirePersona)
}

func (a *api) createPersona(ctx context.Context, in *struct{ Body NewPersona }) (*body[Persona], error) {
	b := in.Body
	p, err := a.Scenes.CreatePersona(ctx, scene.Persona{Name: b.Name, Description: b.Description, Color: b.Color})
	return resulting(p, err, wirePersona)
}

func (a *api) changePersona(ctx context.Context, in *struct {
	ByID
	Body PersonaChange
}) (*body[Persona], error) {
	b := in.Body
	p, err := a.Scenes.ChangePersona(ctx, in.ID, scene.PersonaChange{
		Name: value(b.Name), Description: value(b.Description), Color: value(b.Color),
	})
	return resulting(p, err, wirePersona)
}

func (a *api) deletePersona(ctx context.Context, in *ByID) (*body[Done], error) {
	return done(), a.Scenes.DeletePersona(ctx, in.ID)
}
