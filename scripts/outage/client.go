package main

import (
	"fmt"

	"jp/scripts/harness"
)

// client writes rosters. Every roster is of one generation, which stands in
// each of its members.
type client struct {
	n           int
	own, shared string // conversations
	generation  int    // the newest that was sent
	kept        int    // the newest that was answered
	answered    int
	wrong       error
}

// newGroup makes a group whose roster client n wrote.
func newGroup(w *harness.Web, n int) (id string, err error) {
	var made struct{ ID string }
	body := map[string]any{"kind": "group", "title": fmt.Sprint("group ", n), "members": roster(0, n)}
	err = w.Call("POST", "/api/conversations", body, &made)
	return made.ID, err
}

// roster is five members, all of a generation.
func roster(generation, n int) []map[string]any {
	var list []map[string]any
	for i := range 5 {
		list = append(list, map[string]any{
			"display_name": fmt.Sprint("Member ", i), "member_kind": "narrator",
			"card_sheet_override": fmt.Sprintf("%d of %d", generation, n), "muted": generation%2 == 1,
		})
	}
	return list
}

// write puts one roster after another, forks and deletes between, until the
// server is gone.
func (c *client) write(w *harness.Web) {
	for {
		c.generation++
		err := w.Call("PUT", "/api/conversations/"+c.own+"/members", map[string]any{"members": roster(c.generation, c.n)}, nil)
		if c.note(err) {
			return
		}
		c.kept = c.generation
		var fork struct{ ID string }
		if c.note(w.Call("POST", "/api/conversations/"+c.own+"/checkpoint", map[string]any{}, &fork)) {
			return
		}
		if c.note(w.Call("PUT", "/api/conversations/"+c.shared+"/members", map[string]any{"members": roster(c.generation, c.n)}, nil)) {
			return
		}
		if c.note(w.Call("DELETE", "/api/conversations/"+fork.ID, nil, nil)) {
			return
		}
	}
}

// note counts an answer. It tells whether the server is gone; a refusal is
// wrong.
func (c *client) note(err error) (gone bool) {
	if err == nil {
		c.answered++
		return false
	}
	if refused, ok := err.(harness.Refusal); ok {
		c.wrong = refused
	}
	return true
}

// check reads both rosters back.
func (c *client) check(w *harness.Web) error {
	got, by, err := generation(w, c.own)
	if err != nil {
		return err
	}
	if by != c.n || got < c.kept || got > c.generation {
		return fmt.Errorf("client %d was answered generation %d, sent %d, and %d of %d is there", c.n, c.kept, c.generation, got, by)
	}
	c.kept, c.generation = got, got
	_, _, err = generation(w, c.shared)
	return err
}

// generation is that of a roster, which must be whole.
func generation(w *harness.Web, conversation string) (generation, by int, err error) {
	var members []struct {
		Sheet string `json:"card_sheet_override"`
	}
	if err := w.Call("GET", "/api/conversations/"+conversation+"/members", nil, &members); err != nil {
		return 0, 0, err
	}
	if len(members) != 5 {
		return 0, 0, fmt.Errorf("a roster has %d members", len(members))
	}
	for _, m := range members {
		if m.Sheet != members[0].Sheet {
			return 0, 0, fmt.Errorf("half a roster: %q beside %q", m.Sheet, members[0].Sheet)
		}
	}
	_, err = fmt.Sscanf(members[0].Sheet, "%d of %d", &generation, &by)
	return generation, by, err
}
