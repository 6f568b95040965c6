// Package sample puts a cast and a scene into a fresh data folder, so that a
// first start has something to talk to: three cards, a World linked from one of
// them, and a group that is about to begin.
//
// They are ordinary rows with nothing global about them. Whoever deletes them
// is rid of them: Install belongs to the moment a store is made and is never
// called again.
package sample

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"

	"jp/internal/scene"
	"jp/internal/scene/card"
)

//go:embed scene.json cast
var files embed.FS

// opening is the scene that the cards are for.
type opening struct {
	Title        string             `json:"title"`
	Premise      string             `json:"premise"`
	Instructions string             `json:"instructions"`
	Opening      string             `json:"opening"` // the key of who says the greeting
	Greeting     string             `json:"greeting"`
	Members      []part             `json:"members"`
	Portraits    map[string]palette `json:"portraits"` // by card
}

// part is a member: of a card, or with texts of its own.
type part struct {
	Key     string           `json:"key"`
	Card    string           `json:"card"`
	Name    string           `json:"name"`
	Kind    scene.MemberKind `json:"kind"`
	Profile *string          `json:"public_profile"`
	Sheet   *string          `json:"sheet"`
}

// Install makes the cards, the World and the conversation. The cards' ids are
// the same everywhere. Errors: Conflict when a card is there already, and what
// the store says; what was made before it stays.
func Install(ctx context.Context, s *scene.Service) error {
	o, err := load()
	if err != nil {
		return err
	}
	conversation := scene.NewConversation{
		Kind: scene.Group, Title: o.Title, Scenario: o.Premise, PostHistory: o.Instructions,
		FirstMessage: o.Greeting, OpeningKey: o.Opening,
	}
	for _, p := range o.Members {
		m := scene.MemberSpec{Key: p.Key, Name: p.Name, Kind: p.Kind, PublicProfile: p.Profile, Sheet: p.Sheet}
		if p.Card != "" {
			c, err := install(ctx, s, p.Card, o.Portraits[p.Card])
			if err != nil {
				return err
			}
			m.CardID, m.Name = &c.ID, c.Name
		}
		conversation.Members = append(conversation.Members, m)
	}
	_, err = s.CreateConversation(ctx, conversation)
	return err
}

func load() (o opening, err error) {
	raw, err := files.ReadFile("scene.json")
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		return o, fmt.Errorf("the sample scene: %w", err)
	}
	return o, nil
}

// install makes one card with its portrait and its World.
func install(ctx context.Context, s *scene.Service, name string, p palette) (scene.Card, error) {
	raw, err := files.ReadFile("cast/" + name + ".json")
	if err != nil {
		return scene.Card{}, fmt.Errorf("the sample cast: %w", err)
	}
	parsed, err := card.Decode(raw, name)
	if err != nil {
		return scene.Card{}, err
	}
	picture, err := portrait(p)
	if err != nil {
		return scene.Card{}, fmt.Errorf("the sample cast: %w", err)
	}
	parsed.Card.ID = "sample-" + name
	return s.CreateCard(ctx, parsed.Card, &scene.Avatar{MIME: "image/png", Data: picture}, parsed.Book)
}
