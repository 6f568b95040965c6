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

func (a *api) worlds() {
	route(a, http.MethodGet, "/worlds", "list-worlds", "List the Worlds", a.listWorlds)
	route(a, http.MethodPost, "/worlds", "create-world", "Create a World", a.createWorld)
	route(a, http.MethodGet, "/worlds/{id}", "get-world", "Read a World", a.getWorld)
	route(a, http.MethodPut, "/worlds/{id}", "change-world", "Change a World", a.changeWorld)
	route(a, http.MethodPut, "/worlds/{id}/dynamic", "set-world-dynamic", "Let models propose changes to a World, or not", a.setDynamic)
	route(a, http.MethodDelete, "/worlds/{id}", "delete-world", "Delete a World with its entries", a.deleteWorld)
	route(a, http.MethodPost, "/worlds/{id}/import", "import-entries", "Add the entries of a lorebook", a.importEntries, limit(card.MaxFile))
}

// World is a book of lore.
type World struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Global          Flag   `json:"is_global" doc:"On in every conversation that does not say otherwise"`
	Dynamic         Flag   `json:"dynamic_enabled" doc:"Models may propose changes"`
	Recursive       Flag   `json:"recursive" doc:"Entries that fire may fire others"`
	ContentRevision int64  `json:"content_revision"`
	CreatedAt       string `json:"created_at"`
	UpdatedAt       string `json:"updated_at"`
}

func wireWorld(w scene.World) World {
	return World{
		ID: w.ID, Name: w.Name, Global: Flag(w.Global), Dynamic: Flag(w.Dynamic), Recursive: Flag(w.Recursive),
		ContentRevision: w.ContentRevision, CreatedAt: stamp(w.CreatedAt), UpdatedAt: stamp(w.UpdatedAt),
	}
}

func (a *api) listWorlds(ctx context.Context, _ *struct{}) (*body[[]World], error) {
	ws, err := a.Scenes.Worlds(ctx)
	return results(ws, err, wireWorld)
}

func (a *api) getWorld(ctx context.Context, in *ByID) (*body[World], error) {
	w, err := a.Scenes.World(ctx, in.ID)
	return resulting(w, err, wireWorld)
}

// NewWorld is what creating a World takes.
type NewWorld struct {
	Name string `json:"name" doc:"Not blank"`
}

func (a *api) createWorld(ctx context.Context, in *struct{ Body NewWorld }) (*body[World], error) {
	w, err := a.Scenes.CreateWorld(ctx, in.Body.Name)
	return resulting(w, err, wireWorld)
}

// WorldChange is a partial update.
type WorldChange struct {
	Name      Opt[string] `json:"name,omitzero"`
	Global    Opt[Flag]   `json:"is_global,omitzero"`
	Enabled   Opt[Flag]   `json:"enabled,omitzero" doc:"An older name of is_global"`
	Dynamic   Opt[Flag]   `json:"dynamic_enabled,omitzero"`
	Recursive Opt[Flag]   `json:"recursive,omitzero"`
}

func (a *api) changeWorld(ctx context.Context, in *struct {
	ByID
	Body WorldChange
}) (*body[World], error) {
	b := in.Body
	if !b.Global.Set {
		b.Global = b.Enabled
	}
	w, err := a.Scenes.ChangeWorld(ctx, in.ID, scene.WorldChange{
		Name: value(b.Name), Global: truth(b.Global), Dynamic: truth(b.Dynamic), Recursive: truth(b.Recursive),
	})
	return resulting(w, err, wireWorld)
}

// Switch turns something on or off.
type Switch struct {
	Enabled Flag `json:"enabled"`
}

func (a *api) setDynamic(ctx context.Context, in *struct {
	ByID
	Body Switch
}) (*body[World], error) {
	w, err := a.Scenes.ChangeWorld(ctx, in.ID, scene.WorldChange{Dynamic: scene.To(bool(in.Body.Enabled))})
	return resulting(w, err, wireWorld)
}

func (a *api) deleteWorld(ctx context.Context, in *ByID) (*body[Done], error) {
	return done(), a.Scenes.DeleteWorld(ctx, in.ID)
}

// NewEntries are entries in the form of a character_book or of a world info
// file.
type NewEntries struct {
	Entries json.RawMessage `json:"entries" doc:"A list of entries, or an object of them"`
}

// ImportedEntries are the entries that were added.
type ImportedEntries struct {
	Imported int      `json:"imported"`
	Entries  []Entry  `json:"entries"`
	Report   []string `json:"report" doc:"What was coerced or dropped"`
}

func (a *api) importEntries(ctx context.Context, in *struct {
	ByID
	Body NewEntries
}) (*body[ImportedEntries], error) {
	if given(in.Body.Entries) == nil {
		return nil, misfit("entries are needed", "body", "entries")
	}
	raw, err := json.Marshal(in.Body)
	if err != nil {
		return nil, err
	}
	book, report, err := lore.DecodeBook(raw)
	if fault.CodeOf(err) == fault.Invalid {
		return nil, misfit(sentence(err), "body", "entries")
	} else if err != nil {
		return nil, err
	}
	made, err := a.Scenes.ImportEntries(ctx, in.ID, book)
	return resulting(made, err, func(es []scene.Entry) ImportedEntries {
		out := ImportedEntries{Imported: len(es), Report: report}
		for _, e := range es {
			out.Entries = append(out.Entries, wireEntry(e))
		}
		return out
	})
}
