package httpapi

import (
	"context"
	"net/http"

	"jp/internal/scene"
	"jp/internal/scene/lore"
)

func (a *api) entries() {
	route(a, http.MethodGet, "/worlds/{id}/entries", "list-entries", "List a World's entries", a.listEntries)
	route(a, http.MethodPost, "/worlds/{id}/entries", "create-entry", "Add an entry", a.createEntry)
	route(a, http.MethodGet, "/worlds/{id}/entries/{eid}", "get-entry", "Read an entry", a.getEntry)
	route(a, http.MethodPut, "/worlds/{id}/entries/{eid}", "change-entry", "Change fields of an entry", a.changeEntry)
	route(a, http.MethodDelete, "/worlds/{id}/entries/{eid}", "delete-entry", "Delete an entry", a.deleteEntry)
	route(a, http.MethodGet, "/lorebook-entries/active", "active-entries", "List the entries that count in a conversation", a.activeEntries)
}

// View is which layer of a World is meant. Every entry is an authored one, so
// that all views show the same.
type View struct {
	View string `query:"view" enum:"all,authored,effective" default:"all"`
}

// Entry is a piece of lore.
type Entry struct {
	ID              string   `json:"id"`
	WorldID         string   `json:"world_id"`
	Name            string   `json:"name"`
	Content         string   `json:"content"`
	Keys            []string `json:"keywords"`
	SecondaryKeys   []string `json:"secondary_keys"`
	Selective       Flag     `json:"selective" doc:"One secondary key is needed, too"`
	CaseInsensitive Flag     `json:"case_insensitive"`
	WholeWords      Flag     `json:"match_whole_words"`
	Regex           Flag     `json:"use_regex"`
	Constant        Flag     `json:"constant" doc:"Always there"`
	AtDepth         Flag     `json:"at_depth" doc:"A constant one stands behind the history"`
	Priority        int      `json:"priority"`
	Enabled         Flag     `json:"enabled"`
	Order           int      `json:"sort_order"`
	Layer           string   `json:"entry_layer" enum:"authored"`
	Revision        int64    `json:"entry_revision"`
	Warnings        []string `json:"warnings" doc:"Keys that can never match, and why"`
	CreatedAt       string   `json:"created_at"`
	UpdatedAt       string   `json:"updated_at"`
}

func wireEntry(e scene.Entry) Entry {
	return Entry{
		ID: e.ID, WorldID: e.WorldID, Name: e.Name, Content: e.Content, Keys: e.Keys, SecondaryKeys: e.SecondaryKeys,
		Selective: Flag(e.Selective), CaseInsensitive: Flag(e.CaseInsensitive), WholeWords: Flag(e.WholeWords),
		Regex: Flag(e.Regex), Constant: Flag(e.Constant), AtDepth: Flag(e.AtDepth), Priority: e.Priority,
		Enabled: Flag(e.Enabled), Order: e.Order, Layer: "authored", Revision: e.Revision, Warnings: lore.Warnings(e),
		CreatedAt: stamp(e.CreatedAt), UpdatedAt: stamp(e.UpdatedAt),
	}
}

// EntryChange is a partial update. A new entry takes the defaults for what is
// absent: enabled, priority 100, case-insensitive, whole words.
type EntryChange struct {
	Name            Opt[string]   `json:"name,omitzero"`
	Content         Opt[string]   `json:"content,omitzero"`
	Keys            Opt[[]string] `json:"keywords,omitzero"`
	SecondaryKeys   Opt[[]string] `json:"secondary_keys,omitzero"`
	Selective       Opt[Flag]     `json:"selective,omitzero"`
	CaseInsensitive Opt[Flag]     `json:"case_insensitive,omitzero"`
	WholeWords      Opt[Flag]     `json:"match_whole_words,omitzero"`
	Regex           Opt[Flag]     `json:"use_regex,omitzero"`
	Constant        Opt[Flag]     `json:"constant,omitzero"`
	AtDepth         Opt[Flag]     `json:"at_depth,omitzero"`
	Priority        Opt[int]      `json:"priority,omitzero"`
	Enabled         Opt[Flag]     `json:"enabled,omitzero"`
	Order           Opt[int]      `json:"sort_order,omitzero"`
}

func (b EntryChange) entry() scene.Entry {
	e := scene.NewEntry()
	e.Name, e.Content, e.Keys, e.SecondaryKeys, e.Order = b.Name.V, b.Content.V, b.Keys.V, b.SecondaryKeys.V, b.Order.V
	e.Selective, e.CaseInsensitive = on(b.Selective, e.Selective), on(b.CaseInsensitive, e.CaseInsensitive)
	e.WholeWords, e.Regex = on(b.WholeWords, e.WholeWords), on(b.Regex, e.Regex)
	e.Constant, e.AtDepth = on(b.Constant, e.Constant), on(b.AtDepth, e.AtDepth)
	e.Priority, e.Enabled = or(b.Priority, e.Priority), on(b.Enabled, e.Enabled)
	return e
}

func (a *api) listEntries(ctx context.Context, in *struct {
	ByID
	View
}) (*body[[]Entry], error) {
	es, err := a.Scenes.Entries(ctx, in.ID)
	return results(es, err, wireEntry)
}

func (a *api) createEntry(ctx context.Context, in *struct {
	ByID
	Body EntryChange
}) (*body[Entry], error) {
	e, err := a.Scenes.CreateEntry(ctx, in.ID, in.Body.entry())
	return resulting(e, err, wireEntry)
}

type EntryPath struct {
	ByID
	Entry string `path:"eid"`
}

func (a *api) getEntry(ctx context.Context, in *EntryPath) (*body[Entry], error) {
	e, err := a.Scenes.Entry(ctx, in.ID, in.Entry)
	return resulting(e, err, wireEntry)
}

func (a *api) changeEntry(ctx context.Context, in *struct {
	EntryPath
	Body EntryChange
}) (*body[Entry], error) {
	b := in.Body
	e, err := a.Scenes.ChangeEntry(ctx, in.ID, in.Entry, scene.EntryChange{
		Name: value(b.Name), Content: value(b.Content), Keys: value(b.Keys), SecondaryKeys: value(b.SecondaryKeys),
		Selective: truth(b.Selective), CaseInsensitive: truth(b.CaseInsensitive), WholeWords: truth(b.WholeWords),
		Regex: truth(b.Regex), Constant: truth(b.Constant), AtDepth: truth(b.AtDepth), Priority: value(b.Priority),
		Enabled: truth(b.Enabled), Order: value(b.Order),
	})
	return resulting(e, err, wireEntry)
}

func (a *api) deleteEntry(ctx context.Context, in *EntryPath) (*body[Done], error) {
	return done(), a.Scenes.DeleteEntry(ctx, in.ID, in.Entry)
}

func (a *api) activeEntries(ctx context.Context, in *struct {
	Conversation string `query:"cid" required:"true"`
}) (*body[[]Entry], error) {
	es, err := a.Scenes.ActiveEntries(ctx, in.Conversation)
	return results(es, err, wireEntry)
}
