package httpapi

import (
	"context"
	"net/http"

	"jp/internal/scene"
)

func (a *api) phrases() {
	route(a, http.MethodGet, "/phrase-bank", "list-phrases", "List the phrases that the Editor does not let pass", a.listPhrases)
	route(a, http.MethodPost, "/phrase-bank", "create-phrase", "Add a phrase", a.createPhrase)
	route(a, http.MethodPut, "/phrase-bank/{id}", "change-phrase", "Change fields of a phrase", a.changePhrase)
	route(a, http.MethodDelete, "/phrase-bank/{id}", "delete-phrase", "Delete a phrase", a.deletePhrase)
}

// Phrase is an entry of the phrase bank.
type Phrase struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind" enum:"literal,regex"`
	Variants []string `json:"variants"`
	Pattern  string   `json:"pattern"`
}

func wirePhrase(p scene.Phrase) Phrase {
	return Phrase{ID: p.ID, Kind: p.Kind, Variants: p.Variants, Pattern: p.Pattern}
}

// PhraseChange is a partial update; a new phrase is a literal unless it says
// otherwise.
type PhraseChange struct {
	Kind     Enum[string]  `json:"kind,omitzero" enum:"literal,regex"`
	Variants Opt[[]string] `json:"variants,omitzero"`
	Pattern  Opt[string]   `json:"pattern,omitzero"`
}

func (a *api) listPhrases(ctx context.Context, _ *struct{}) (*body[[]Phrase], error) {
	ps, err := a.Scenes.Phrases(ctx)
	return results(ps, err, wirePhrase)
}

func (a *api) createPhrase(ctx context.Context, in *struct{ Body PhraseChange }) (*body[Phrase], error) {
	b := in.Body
	p, err := a.Scenes.CreatePhrase(ctx, scene.Phrase{Kind: or(b.Kind.Opt, "literal"), Variants: b.Variants.V, Pattern: b.Pattern.V})
	return resulting(p, err, wirePhrase)
}

func (a *api) changePhrase(ctx context.Context, in *struct {
	ByID
	Body PhraseChange
}) (*body[Phrase], error) {
	b := in.Body
	p, err := a.Scenes.ChangePhrase(ctx, in.ID, scene.PhraseChange{
		Kind: value(b.Kind.Opt), Variants: value(b.Variants), Pattern: value(b.Pattern),
	})
	return resulting(p, err, wirePhrase)
}

func (a *api) deletePhrase(ctx context.Context, in *ByID) (*body[Done], error) {
	return done(), a.Scenes.DeletePhrase(ctx, in.ID)
}
