package sample_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/card"
	"jp/internal/scene/sample"
	"jp/internal/scene/sqlstore"
)

func service(t *testing.T) *scene.Service {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return scene.New(scene.Config{
		Store: store, Rand: rand.NewChaCha8([32]byte{}),
		Now: func() time.Time { return time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
}

func ok[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestInstall: a fresh folder has a scene that can begin.
func TestInstall(t *testing.T) {
	ctx, s := t.Context(), service(t)
	if err := sample.Install(ctx, s); err != nil {
		t.Fatal(err)
	}
	all, err := s.Conversations(ctx)
	c := ok(t, all, err)[0]
	if len(all) != 1 || c.Kind != scene.Group || c.MessageCount != 1 || c.Scenario == "" || c.PostHistory == "" {
		t.Errorf("conversations: %+v", all)
	}
	members, _, err := s.Members(ctx, c.ID, false)
	if ok(t, members, err); len(members) != 4 || members[3].Kind != scene.Narrator {
		t.Errorf("members: %+v", members)
	}
	steps, err := s.Messages(ctx, c.ID, nil, 0)
	if ok(t, steps, err); steps[0].SpeakerID == nil || *steps[0].SpeakerID != members[0].ID {
		t.Errorf("the greeting is not the first member's: %+v", steps)
	}
	cards, err := s.Cards(ctx)
	if ok(t, cards, err); len(cards) != 3 {
		t.Errorf("%d cards", len(cards))
	}
	for _, brief := range cards {
		checkCard(t, s, brief)
	}
	ids, err := s.WorldIDs(ctx, c.ID)
	worlds, err2 := s.Worlds(ctx)
	if ok(t, ids, err); len(ids) != 1 || len(ok(t, worlds, err2)) != 1 || worlds[0].Global {
		t.Errorf("worlds of the scene: %v of %+v", ids, worlds)
	}
	entries, err := s.ActiveEntries(ctx, c.ID)
	if ok(t, entries, err); len(entries) < 5 {
		t.Errorf("%d entries", len(entries))
	}
}

func checkCard(t *testing.T, s *scene.Service, brief scene.CardBrief) {
	t.Helper()
	c, err := s.Card(t.Context(), brief.ID)
	ok(t, c, err)
	var x struct {
		Orb struct {
			Profile scene.Profile `json:"public_profile"`
		} `json:"orb"`
	}
	if err := json.Unmarshal(c.Extensions, &x); err != nil || x.Orb.Profile.Appearance == "" || x.Orb.Profile.Role == "" {
		t.Errorf("%s has no public profile: %s, %v", c.Name, c.Extensions, err)
	}
	if c.Description == "" || c.Personality == "" || c.FirstMessage == "" || c.Examples == "" {
		t.Errorf("%s has an empty field", c.Name)
	}
	a, err := s.Avatar(t.Context(), c.ID)
	ok(t, a, err)
	img, err := png.Decode(bytes.NewReader(a.Data))
	if ok(t, img, err); img.Bounds().Dx() != 256 {
		t.Errorf("%s: %v", c.Name, img.Bounds())
	}
}

// TestDelete: everything of it can be deleted, and nothing is left.
func TestDelete(t *testing.T) {
	ctx, s := t.Context(), service(t)
	if err := sample.Install(ctx, s); err != nil {
		t.Fatal(err)
	}
	all, err := s.Conversations(ctx)
	for _, c := range ok(t, all, err) {
		if err := s.DeleteConversation(ctx, c.ID); err != nil {
			t.Error(err)
		}
	}
	cards, err := s.Cards(ctx)
	for _, c := range ok(t, cards, err) {
		if err := s.DeleteCard(ctx, c.ID, false); err != nil {
			t.Error(err)
		}
	}
	worlds, err := s.Worlds(ctx)
	for _, w := range ok(t, worlds, err) {
		if err := s.DeleteWorld(ctx, w.ID); err != nil {
			t.Error(err)
		}
	}
}

// TestSame: the cards are the same everywhere, pictures too, and are there
// once.
func TestSame(t *testing.T) {
	var first []byte
	for range 2 {
		s := service(t)
		if err := sample.Install(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		a, err := s.Avatar(t.Context(), "sample-maren")
		if ok(t, a, err); first != nil && !bytes.Equal(first, a.Data) {
			t.Error("the portrait is another one")
		}
		first = a.Data
		if err := sample.Install(context.Background(), s); fault.CodeOf(err) != fault.Conflict {
			t.Errorf("installed twice: %v", err)
		}
	}
}

// TestFiles: the embedded cards are read without a word, and no member of the
// cast knows another's secret by its public profile.
func TestFiles(t *testing.T) {
	names, _ := filepath.Glob("cast/*.json")
	if len(names) != 3 {
		t.Fatal(names)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		parsed, err2 := card.Decode(ok(t, raw, err), name)
		if ok(t, parsed, err2); len(parsed.Report) > 0 {
			t.Errorf("%s: %v", name, parsed.Report)
		}
		if !slices.Contains(parsed.Card.Tags, "sample") || !strings.Contains(parsed.Card.Description, "keeps to herself") &&
			!strings.Contains(parsed.Card.Description, "keeps to himself") {
			t.Errorf("%s: %+v", name, parsed.Card)
		}
	}
}
