package storetest

import (
	"testing"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// tables holds every Table to its contract, with rows in which every field
// says something.
func tables(t *testing.T, s scene.Store) {
	leaves := targets(t, s)
	(&contract[scene.Conversation]{
		table: func(tx scene.Tx) scene.Table[scene.Conversation] { return tx.Conversations },
		id:    func(c *scene.Conversation) *string { return &c.ID },
		fit: func(c *scene.Conversation, turn int) {
			c.Kind = []scene.Kind{scene.Group, scene.Solo}[turn]
			c.TurnMode = []scene.TurnMode{scene.RoundRobin, scene.Director}[turn]
			c.ContextMode = []scene.ContextMode{scene.Swap, scene.Shared}[turn]
			c.RootID, c.PersonaLock = ref("c", turn), ref("p", turn)
			c.ActiveLeaf = &leaves[turn]
		},
	}).run(t, s)
	(&contract[scene.Member]{
		table: func(tx scene.Tx) scene.Table[scene.Member] { return tx.Members },
		id:    func(m *scene.Member) *string { return &m.ID },
		fit: func(m *scene.Member, turn int) {
			m.Kind = []scene.MemberKind{scene.Narrator, scene.Character}[turn]
			m.ConversationID = *ref("c", turn)
			m.Key = m.ID
			m.CardID = &m.ID
		},
	}).run(t, s)
	(&contract[scene.Card]{
		table: func(tx scene.Tx) scene.Table[scene.Card] { return tx.Cards },
		id:    func(c *scene.Card) *string { return &c.ID },
		fit:   func(c *scene.Card, turn int) { c.WorldID, c.PersonaLock = ref("w", turn), ref("p", turn) },
	}).run(t, s)
	(&contract[scene.World]{
		table: func(tx scene.Tx) scene.Table[scene.World] { return tx.Worlds },
		id:    func(w *scene.World) *string { return &w.ID },
	}).run(t, s)
	(&contract[scene.Entry]{
		table: func(tx scene.Tx) scene.Table[scene.Entry] { return tx.Entries },
		id:    func(e *scene.Entry) *string { return &e.ID },
		fit:   func(e *scene.Entry, turn int) { e.WorldID = *ref("w", turn) },
	}).run(t, s)
}

// libraries does so for what stands beside conversations.
func libraries(t *testing.T, s scene.Store) {
	targets(t, s)
	(&contract[scene.Mood]{
		table: func(tx scene.Tx) scene.Table[scene.Mood] { return tx.Moods },
		id:    func(m *scene.Mood) *string { return &m.ID },
	}).run(t, s)
	(&contract[scene.Fragment]{
		table: func(tx scene.Tx) scene.Table[scene.Fragment] { return tx.Fragments },
		id:    func(f *scene.Fragment) *string { return &f.ID },
		fit:   func(f *scene.Fragment, turn int) { f.Type = []string{"state", "array"}[turn] },
	}).run(t, s)
	(&contract[scene.Phrase]{
		table: func(tx scene.Tx) scene.Table[scene.Phrase] { return tx.Phrases },
		id:    func(p *scene.Phrase) *string { return &p.ID },
		fit:   func(p *scene.Phrase, turn int) { p.Kind = []string{"regex", "literal"}[turn] },
	}).run(t, s)
	(&contract[scene.Persona]{
		table: func(tx scene.Tx) scene.Table[scene.Persona] { return tx.Personas },
		id:    func(p *scene.Persona) *string { return &p.ID },
	}).run(t, s)
	(&contract[scene.Endpoint]{
		table: func(tx scene.Tx) scene.Table[scene.Endpoint] { return tx.Endpoints },
		id:    func(e *scene.Endpoint) *string { return &e.ID },
		fit: func(e *scene.Endpoint, turn int) {
			e.Source = scene.SourceDatabase // what is stored is nothing else
			e.Provider = []string{"ollama", ""}[turn]
			e.WriterConfig, e.AgentConfig = ref("m", turn), ref("m", 1-turn)
		},
	}).run(t, s)
	(&contract[scene.ModelConfig]{
		table: func(tx scene.Tx) scene.Table[scene.ModelConfig] { return tx.Models },
		id:    func(m *scene.ModelConfig) *string { return &m.ID },
		fit: func(m *scene.ModelConfig, turn int) {
			m.Lane = []scene.Lane{scene.LaneAgent, scene.LaneWriter}[turn]
			m.EndpointID = *ref("e", turn)
		},
	}).run(t, s)
}

// targets makes two rows of everything that is referred to, and returns a
// message of each conversation.
func targets(t *testing.T, s scene.Store) (messages []int64) {
	update(t, s, func(tx scene.Tx) error {
		err := all(
			func() error { return insert(tx.Personas, persona("p0"), persona("p1")) },
			func() error { return insert(tx.Worlds, world("w0"), world("w1")) },
			func() error { return insert(tx.Conversations, group("c0"), group("c1")) },
			func() error {
				return insert(tx.Endpoints, scene.Endpoint{ID: "e0", Mode: "chat"}, scene.Endpoint{ID: "e1", Mode: "chat"})
			},
			func() error { return insert(tx.Models, model("m0", "e0"), model("m1", "e1")) },
		)
		for turn := range 2 {
			if err != nil {
				return err
			}
			var id int64
			id, err = say(tx, *ref("c", turn), nil)
			messages = append(messages, id)
		}
		return err
	})
	return messages
}

// ref is a reference to one of the two rows that are there.
func ref(prefix string, turn int) *string {
	id := prefix + string(rune('0'+turn))
	return &id
}

// contract is a Table with what its rows need.
type contract[T any] struct {
	table func(scene.Tx) scene.Table[T]
	id    func(*T) *string
	fit   func(row *T, turn int) // makes a filled row one that may be stored
}

func (c *contract[T]) row(id string, turn int) T {
	row := filled[T](turn)
	*c.id(&row) = id
	if c.fit != nil {
		c.fit(&row, turn)
	}
	return row
}

func (c *contract[T]) run(t *testing.T, s scene.Store) {
	t.Helper()
	var zero T
	t.Run(typeName(zero), func(t *testing.T) {
		before := len(read(t, s, func(tx scene.Tx) ([]T, error) { return c.table(tx).All() }))
		rows := []T{c.row("row b", 0), c.row("row a", 1), c.row("row c", 0)}
		update(t, s, func(tx scene.Tx) error { return insert(c.table(tx), rows...) })
		c.want(t, s, before, rows...)

		refuse(t, s, fault.Conflict, func(tx scene.Tx) error { return c.table(tx).Insert(c.row("row a", 0)) })
		refuse(t, s, fault.NotFound, func(tx scene.Tx) error { return c.table(tx).Save(c.row("row d", 0)) })
		refuse(t, s, fault.NotFound, func(tx scene.Tx) error { return c.table(tx).Delete("row d") })
		for _, id := range []string{"row d", "", "ROW A", "row a ", "row%"} {
			refuse(t, s, fault.NotFound, func(tx scene.Tx) error {
				_, err := c.table(tx).Get(id)
				return err
			})
		}
		c.want(t, s, before, rows...)

		rows[0], rows[1] = c.row("row b", 1), c.row("row a", 0)
		update(t, s, func(tx scene.Tx) error {
			return all(
				func() error { return c.table(tx).Save(rows[0]) },
				func() error { return c.table(tx).Save(rows[1]) },
			)
		})
		c.want(t, s, before, rows...)

		update(t, s, func(tx scene.Tx) error {
			return all(
				func() error { return c.table(tx).Delete("row b") },
				func() error { return c.table(tx).Insert(rows[0]) },
			)
		})
		c.want(t, s, before, rows[1], rows[2], rows[0])
	})
}

// want compares all rows but the first, in order, and each by its id.
func (c *contract[T]) want(t *testing.T, s scene.Store, skip int, rows ...T) {
	t.Helper()
	got := read(t, s, func(tx scene.Tx) ([]T, error) { return c.table(tx).All() })
	same(t, "All", got[min(skip, len(got)):], rows)
	for _, row := range rows {
		id := *c.id(&row)
		same(t, "Get "+id, read(t, s, func(tx scene.Tx) (T, error) { return c.table(tx).Get(id) }), row)
	}
}
