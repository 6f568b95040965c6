package scene_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/sqlstore"
)

// dawn is when all tests take place.
func dawn() time.Time { return time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC) }

// newService works on an empty store; clock and chance are the same each time.
func newService(t testing.TB) *scene.Service {
	t.Helper()
	return serviceOn(newStore(t))
}

func newStore(t testing.TB) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(context.Background(), filepath.Join(t.TempDir(), "scenes.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func serviceOn(store scene.Store) *scene.Service {
	return scene.New(scene.Config{Store: store, Now: dawn, Rand: rand.NewChaCha8([32]byte{1})})
}

// failing is the part of testing.TB that rapid.T has, too.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// ok returns v, and fails the test on an error.
func ok[T any](t failing, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return v
}

// refuse fails the test unless err has the code.
func refuse(t failing, err error, code fault.Code) {
	t.Helper()
	if err == nil || fault.CodeOf(err) != code {
		t.Fatalf("got error %v (%s), want %s", err, fault.CodeOf(err), code)
	}
}

func ptr[T any](v T) *T { return &v }

// change runs fn in a transaction, for what no method of Service does.
func change(t failing, s *scene.Service, fn func(scene.Tx) error) {
	t.Helper()
	if err := s.Store.Update(context.Background(), fn); err != nil {
		t.Fatalf("%v", err)
	}
}

// addCard stores a card whose id is its name unless it has one.
func addCard(t failing, s *scene.Service, c scene.Card) scene.Card {
	t.Helper()
	if c.ID == "" {
		c.ID = c.Name
	}
	c.CreatedAt, c.UpdatedAt = dawn(), dawn()
	change(t, s, func(tx scene.Tx) error { return tx.Cards.Insert(c) })
	return c
}

// addWorld stores a world whose id is its name.
func addWorld(t failing, s *scene.Service, w scene.World) scene.World {
	t.Helper()
	w.ID, w.CreatedAt, w.UpdatedAt = w.Name, dawn(), dawn()
	change(t, s, func(tx scene.Tx) error { return tx.Worlds.Insert(w) })
	return w
}

// addModel stores an endpoint and returns the id of its writer's model config.
func addModel(t failing, s *scene.Service) string {
	t.Helper()
	e, err := s.CreateEndpoint(context.Background(), scene.Endpoint{URL: "http://localhost:1/v1"})
	return *ok(t, e, err).WriterConfig
}

// addGroup makes a group of members without cards.
func addGroup(t failing, s *scene.Service, names ...string) (scene.Conversation, []scene.Member) {
	t.Helper()
	n := scene.NewConversation{Kind: scene.Group, Title: "The inn"}
	for _, name := range names {
		n.Members = append(n.Members, scene.MemberSpec{Name: name})
	}
	c, err := s.CreateConversation(context.Background(), n)
	ok(t, c, err)
	return c, roster(t, s, c.ID, false)
}

func roster(t failing, s *scene.Service, id string, all bool) []scene.Member {
	t.Helper()
	members, _, err := s.Members(context.Background(), id, all)
	return ok(t, members, err)
}

// specs names members as they are.
func specs(members ...scene.Member) []scene.MemberSpec {
	var out []scene.MemberSpec
	for _, m := range members {
		out = append(out, scene.MemberSpec{
			ID: m.ID, CardID: m.CardID, Name: m.Name, PublicProfile: m.PublicProfile, Sheet: m.Sheet, Kind: m.Kind, Muted: m.Muted,
		})
	}
	return out
}

// say appends a message and returns its id; by is a member, or nil for a
// person.
func say(t failing, s *scene.Service, id, text string, by *scene.Member) int64 {
	t.Helper()
	n := scene.NewMessage{Role: scene.RoleUser, Content: text}
	if by != nil {
		n.Role, n.SpeakerID = scene.RoleAssistant, &by.ID
	}
	m, err := s.Append(context.Background(), id, n)
	return ok(t, m, err).ID
}

// texts is what a path says.
func texts(path []scene.Step) []string {
	out := []string{}
	for _, s := range path {
		out = append(out, s.Content)
	}
	return out
}

// shown is what the visible branch says.
func shown(t failing, s *scene.Service, id string) []string {
	t.Helper()
	path, err := s.Messages(context.Background(), id, nil, 0)
	return texts(ok(t, path, err))
}

// conversation reads one.
func conversation(t failing, s *scene.Service, id string) scene.Conversation {
	t.Helper()
	c, err := s.Conversation(context.Background(), id)
	return ok(t, c, err)
}
