package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"jp/internal/scene"
)

func (a *api) fragments() {
	route(a, http.MethodGet, "/fragments", "list-moods", "List the moods", a.listMoods)
	route(a, http.MethodPost, "/fragments", "create-mood", "Create a mood", a.createMood)
	route(a, http.MethodPut, "/fragments/{id}", "change-mood", "Change fields of a mood", a.changeMood)
	route(a, http.MethodDelete, "/fragments/{id}", "delete-mood", "Delete a mood", a.deleteMood)
	route(a, http.MethodGet, "/interactive-fragments", "list-fragments", "List the fields that the Director fills in", a.listFragments)
	route(a, http.MethodPost, "/interactive-fragments", "create-fragment", "Create a field", a.createFragment)
	route(a, http.MethodPut, "/interactive-fragments/{id}", "change-fragment", "Change a field", a.changeFragment)
	route(a, http.MethodDelete, "/interactive-fragments/{id}", "delete-fragment", "Delete a field", a.deleteFragment)
}

// Mood is a fragment that the Director turns on and off.
type Mood struct {
	ID             string `json:"id"`
	Label          string `json:"label"`
	Description    string `json:"description" doc:"When to use it, for the Director"`
	Prompt         string `json:"prompt_text" doc:"For the Writer, while it is on"`
	NegativePrompt string `json:"negative_prompt" doc:"For the Writer, once, when it went off"`
	Enabled        Flag   `json:"enabled"`
	Cooldown       int    `json:"cooldown_turns"`
}

func wireMood(m scene.Mood) Mood {
	return Mood{
		ID: m.ID, Label: m.Label, Description: m.Description, Prompt: m.Prompt, NegativePrompt: m.NegativePrompt,
		Enabled: Flag(m.Enabled), Cooldown: m.Cooldown,
	}
}

// MoodChange is a partial update.
type MoodChange struct {
	Label          Opt[string] `json:"label,omitzero"`
	Description    Opt[string] `json:"description,omitzero"`
	Prompt         Opt[string] `json:"prompt_text,omitzero"`
	NegativePrompt Opt[string] `json:"negative_prompt,omitzero"`
	Enabled        Opt[Flag]   `json:"enabled,omitzero"`
	Cooldown       Opt[int]    `json:"cooldown_turns,omitzero" minimum:"0" maximum:"50"`
}

// NewMood is what creating a mood takes.
type NewMood struct {
	ID string `json:"id" doc:"Chosen by the person"`
	MoodChange
}

func (a *api) listMoods(ctx context.Context, _ *struct{}) (*body[[]Mood], error) {
	ms, err := a.Scenes.Moods(ctx)
	return results(ms, err, wireMood)
}

func (a *api) createMood(ctx context.Context, in *struct{ Body NewMood }) (*body[Mood], error) {
	b := in.Body
	m, err := a.Scenes.CreateMood(ctx, scene.Mood{
		ID: b.ID, Label: b.Label.V, Description: b.Description.V, Prompt: b.Prompt.V, NegativePrompt: b.NegativePrompt.V,
		Enabled: on(b.Enabled, true), Cooldown: b.Cooldown.V,
	})
	return resulting(m, err, wireMood)
}

func (a *api) changeMood(ctx context.Context, in *struct {
	ByID
	Body MoodChange
}) (*body[Mood], error) {
	b := in.Body
	m, err := a.Scenes.ChangeMood(ctx, in.ID, scene.MoodChange{
		Label: value(b.Label), Description: value(b.Description), Prompt: value(b.Prompt),
		NegativePrompt: value(b.NegativePrompt), Enabled: truth(b.Enabled), Cooldown: value(b.Cooldown),
	})
	return resulting(m, err, wireMood)
}

func (a *api) deleteMood(ctx context.Context, in *ByID) (*body[Done], error) {
	return done(), a.Scenes.DeleteMood(ctx, in.ID)
}

// Fragment is a field that the Director fills in.
type Fragment struct {
	ID          string          `json:"id"`
	Label       string          `json:"label"`
	Description string          `json:"description" doc:"The instruction, for the Director"`
	Type        string          `json:"field_type" enum:"string,array,feedback,post_processing,state,decision"`
	Required    Flag            `json:"required"`
	Enabled     Flag            `json:"enabled"`
	Heading     string          `json:"injection_label" doc:"What the Writer sees above it"`
	Order       int             `json:"sort_order"`
	Cooldown    int             `json:"cooldown_turns"`
	Options     json.RawMessage `json:"options" doc:"What only its type knows, an object"`
}

func wireFragment(f scene.Fragment) Fragment {
	return Fragment{
		ID: f.ID, Label: f.Label, Description: f.Description, Type: f.Type, Required: Flag(f.Required),
		Enabled: Flag(f.Enabled), Heading: f.Heading, Order: f.Order, Cooldown: f.Cooldown, Options: object(f.Options),
	}
}

// FragmentChange is a partial update.
type FragmentChange struct {
	Label       Opt[string]          `json:"label,omitzero"`
	Description Opt[string]          `json:"description,omitzero"`
	Type        Enum[string]         `json:"field_type,omitzero" enum:"string,array,feedback,post_processing,state,decision,progressive,direction_note"`
	Required    Opt[Flag]            `json:"required,omitzero"`
	Enabled     Opt[Flag]            `json:"enabled,omitzero"`
	Heading     Opt[string]          `json:"injection_label,omitzero"`
	Order       Opt[int]             `json:"sort_order,omitzero"`
	Cooldown    Opt[int]             `json:"cooldown_turns,omitzero" minimum:"0" maximum:"50"`
	Options     Opt[json.RawMessage] `json:"options,omitzero"`
}

// NewFragment is what creating a field takes.
type NewFragment struct {
	ID string `json:"id" doc:"Chosen by the person"`
	FragmentChange
}

func (a *api) listFragments(ctx context.Context, _ *struct{}) (*body[[]Fragment], error) {
	fs, err := a.Scenes.Fragments(ctx)
	return results(fs, err, wireFragment)
}

func (a *api) createFragment(ctx context.Context, in *struct{ Body NewFragment }) (*body[Fragment], error) {
	b := in.Body
	if err := anObject(b.Options.V, "options"); err != nil {
		return nil, err
	}
	f, err := a.Scenes.CreateFragment(ctx, scene.Fragment{
		ID: b.ID, Label: b.Label.V, Description: b.Description.V, Type: or(b.Type.Opt, "string"),
		Required: on(b.Required, false), Enabled: on(b.Enabled, true), Heading: b.Heading.V, Order: b.Order.V,
		Cooldown: b.Cooldown.V, Options: given(b.Options.V),
	})
	return resulting(f, err, wireFragment)
}

func (a *api) changeFragment(ctx context.Context, in *struct {
	ByID
	Body FragmentChange
}) (*body[Fragment], error) {
	b := in.Body
	if err := anObject(b.Options.V, "options"); err != nil {
		return nil, err
	}
	f, err := a.Scenes.ChangeFragment(ctx, in.ID, scene.FragmentChange{
		Label: value(b.Label), Description: value(b.Description), Type: value(b.Type.Opt), Required: truth(b.Required),
		Enabled: truth(b.Enabled), Heading: value(b.Heading), Order: value(b.Order), Cooldown: value(b.Cooldown),
		Options: value(b.Options),
	})
	return resulting(f, err, wireFragment)
}

func (a *api) deleteFragment(ctx context.Context, in *ByID) (*body[Done], error) {
	return done(), a.Scenes.DeleteFragment(ctx, in.ID)
}
