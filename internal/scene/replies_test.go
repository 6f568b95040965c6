package scene_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// everyLog is a log in which every field says something that is not written by
// SaveReply.
func everyLog() *scene.Log {
	return &scene.Log{
		ConversationID: "ignored", ToolCalls: json.RawMessage(`[{"name":"direct_scene"}]`), ActiveMoods: []string{"tense"},
		Cooldowns: map[string]int{"tense": 3}, Injection: "Be short.", AgentLatency: 1500 * time.Millisecond,
		ReasoningDirector: "d", ReasoningWriter: "w", ReasoningEditor: "e", Feedback: json.RawMessage(`{"a":"b"}`),
		Plan: json.RawMessage(`[]`), Lore: json.RawMessage(`{"constant":[]}`),
	}
}

func TestSaveReply(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, members := addGroup(t, s, "Anna")
	say(t, s, c.ID, "Hi.", nil)
	state := scene.DirectorState{
		ConversationID: "ignored", ActiveMoods: []string{"tense"}, MacroChoices: map[string]string{"{{random::a::b}}": "b"}, Cooldowns: map[string]int{"tense": 3},
	}
	reply := scene.Reply{
		NewMessage: scene.NewMessage{
			Role: scene.RoleAssistant, Content: "Hello.", SpeakerID: &members[0].ID, ExchangeID: ptr("x"), TurnIndex: ptr(7),
			Once: &scene.Once{Key: "k", Body: "hash", ExchangeID: "x"},
		},
		Log: everyLog(), Director: &state,
	}
	m, err := s.SaveReply(ctx, c.ID, reply)
	ok(t, m, err)
	if path := must(s.Messages(ctx, c.ID, nil, 0)); len(path) != 2 || path[1].ID != m.ID || path[1].Content != "Hello." {
		t.Errorf("%+v", path)
	}
	want := everyLog()
	logs := must(s.Logs(ctx, c.ID))
	want.ID, want.ConversationID, want.MessageID, want.ExchangeID, want.TurnIndex, want.CreatedAt = logs[0].ID, c.ID, &m.ID, "x", 7, m.CreatedAt
	if diff := cmp.Diff([]scene.Log{*want}, logs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(logs, must(s.LogsOf(ctx, c.ID, []int64{m.ID}))); diff != "" {
		t.Error(diff)
	}
	state.ConversationID = c.ID
	if diff := cmp.Diff(state, must(s.DirectorState(ctx, c.ID))); diff != "" {
		t.Error(diff)
	}
	_, known, err := s.OnceOf(ctx, c.ID, "k")
	if ok(t, known, err); !known {
		t.Error("the key is lost")
	}

	// Neither log nor state: nothing of either changes.
	plain, err := s.SaveReply(ctx, c.ID, scene.Reply{NewMessage: scene.NewMessage{Role: scene.RoleAssistant}})
	ok(t, plain, err)
	if got := must(s.LogsOf(ctx, c.ID, []int64{plain.ID})); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(state, must(s.DirectorState(ctx, c.ID))); diff != "" {
		t.Error(diff)
	}

	// All or nothing.
	for name, n := range map[string]scene.NewMessage{
		"unknown parent":   {Role: scene.RoleAssistant, Parent: scene.To(ptr(int64(999)))},
		"key that is used": {Role: scene.RoleAssistant, Once: reply.Once},
	} {
		_, err := s.SaveReply(ctx, c.ID, scene.Reply{NewMessage: n, Log: everyLog(), Director: &scene.DirectorState{}})
		if err == nil {
			t.Errorf("%s: saved", name)
		}
		if diff := cmp.Diff(state, must(s.DirectorState(ctx, c.ID))); diff != "" || len(must(s.Logs(ctx, c.ID))) != 1 || len(shown(t, s, c.ID)) != 3 {
			t.Errorf("%s: something is there: %s", name, diff)
		}
	}
	_, err = s.SaveReply(ctx, "x", reply)
	refuse(t, err, fault.NotFound)
	_, err = s.Logs(ctx, "x")
	refuse(t, err, fault.NotFound)
	_, err = s.DirectorState(ctx, "x")
	refuse(t, err, fault.NotFound)
	other, _ := addGroup(t, s, "Ben")
	if got := must(s.LogsOf(ctx, other.ID, []int64{m.ID})); len(got) != 0 {
		t.Errorf("another conversation has %+v", got)
	}
}

// TestOnce: a key is there with the row that it is for, for a day.
func TestOnce(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, _ := addGroup(t, s, "Anna")
	other, _ := addGroup(t, s, "Ben")
	now := dawn().Add(time.Hour)
	s.Now = func() time.Time { return now }
	ask := func(id, key, exchange string) error {
		_, err := s.Append(ctx, id, scene.NewMessage{
			Role: scene.RoleUser, Once: &scene.Once{ConversationID: "ignored", Key: key, Body: "hash", ExchangeID: exchange},
		})
		return err
	}
	known := func(id, key, exchange string) {
		t.Helper()
		o, is, err := s.OnceOf(ctx, id, key)
		if ok(t, o, err); is != (exchange != "") || o.ExchangeID != exchange {
			t.Errorf("%q: %v, %+v", key, is, o)
		}
	}
	known(c.ID, "k", "")
	ok(t, 0, ask(c.ID, "k", "one"))
	refuse(t, ask(c.ID, "k", "two"), fault.Conflict)
	ok(t, 0, ask(other.ID, "k", "three"))
	ok(t, 0, ask(c.ID, "K", "four"))
	known(c.ID, "k", "one")
	known(other.ID, "k", "three")
	known(c.ID, "", "")
	known("x", "k", "")
	if n := len(shown(t, s, c.ID)); n != 2 {
		t.Errorf("%d messages", n)
	}
	o, _, err := s.OnceOf(ctx, c.ID, "k")
	if ok(t, o, err); o.ConversationID != c.ID || o.Key != "k" || o.Body != "hash" || o.CreatedAt.Before(now) || o.CreatedAt.After(now.Add(time.Second)) {
		t.Errorf("%+v", o)
	}

	now = now.Add(24 * time.Hour)
	known(c.ID, "k", "one")
	now = now.Add(time.Minute)
	known(c.ID, "k", "")
	ok(t, 0, ask(c.ID, "other", "five")) // forgets the old ones
	now = dawn().Add(time.Hour)
	known(c.ID, "k", "")
	known(c.ID, "K", "")
	known(other.ID, "k", "")
	ok(t, 0, ask(c.ID, "k", "six"))
}

// TestFirstSendPins: the persona that counts when a person first speaks becomes
// the conversation's.
func TestFirstSendPins(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	one, two := must(s.CreatePersona(ctx, scene.Persona{Name: "One"})), must(s.CreatePersona(ctx, scene.Persona{Name: "Two"}))
	c, _ := addGroup(t, s, "Anna")
	send := func(pin bool) *string {
		t.Helper()
		_, err := s.Append(ctx, c.ID, scene.NewMessage{Role: scene.RoleUser, PinPersona: pin})
		ok(t, 0, err)
		return conversation(t, s, c.ID).PersonaLock
	}
	activate := func(id string) {
		t.Helper()
		_, err := s.ChangeSettings(ctx, json.RawMessage(fmt.Sprintf(`{"active_persona_id":%q}`, id)))
		ok(t, 0, err)
	}
	if got := send(true); got != nil {
		t.Errorf("pinned %q", *got)
	}
	activate(one.ID)
	if got := send(false); got != nil {
		t.Errorf("pinned %q", *got)
	}
	if got := send(true); got == nil || *got != one.ID {
		t.Errorf("pinned %v", got)
	}
	if r := conversation(t, s, c.ID).Revision; r != c.Revision {
		t.Errorf("revision %d: nobody changed the settings", r)
	}
	activate(two.ID)
	if got := send(true); *got != one.ID {
		t.Error("a pin was replaced")
	}
}

func TestRound(t *testing.T) {
	path := func(roles string) (out []scene.Step) {
		for i, r := range roles {
			role := scene.RoleAssistant
			if r == 'u' {
				role = scene.RoleUser
			}
			out = append(out, scene.Step{Message: scene.Message{ID: int64(i), Role: role}})
		}
		return out
	}
	for roles, first := range map[string]int64{"u": 0, "a": 0, "aa": 0, "ua": 0, "au": 1, "uaa": 0, "uaauaa": 3, "uau": 2, "auua": 2} {
		got := scene.Round(path(roles))
		if len(got) != len(roles)-int(first) || got[0].ID != first {
			t.Errorf("%s: from %d", roles, got[0].ID)
		}
	}
	if got := scene.Round(nil); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestBranchesHaveTheirMoods: what a branch ended with counts again when it is
// shown again, and when what came after it is deleted.
func TestBranchesHaveTheirMoods(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, _ := addGroup(t, s, "Anna")
	var ids []int64
	reply := func(mood string, parent *int64) int64 {
		m, err := s.SaveReply(ctx, c.ID, scene.Reply{
			NewMessage: scene.NewMessage{Role: scene.RoleAssistant, Content: mood, Parent: scene.To(parent)},
			Log:        &scene.Log{ActiveMoods: []string{mood}, Cooldowns: map[string]int{mood: 1}},
			Director:   &scene.DirectorState{ActiveMoods: []string{mood}, Cooldowns: map[string]int{mood: 1}, MacroChoices: map[string]string{"m": mood}},
		})
		return ok(t, m, err).ID
	}
	wants := func(mood string) {
		t.Helper()
		want := scene.DirectorState{ConversationID: c.ID, MacroChoices: map[string]string{"m": "last"}, ActiveMoods: []string{}}
		if mood != "" {
			want.ActiveMoods, want.Cooldowns = []string{mood}, map[string]int{mood: 1}
		}
		if diff := cmp.Diff(want, must(s.DirectorState(ctx, c.ID))); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	opening := say(t, s, c.ID, "Hello.", nil)
	calm := reply("calm", &opening)
	user := say(t, s, c.ID, "Well?", nil)
	tense, last := reply("tense", &user), reply("last", &user)
	wants("last")
	ids = append(ids, tense, last)
	for range 2 { // the second time it is there already
		_, err := s.SwitchBranch(ctx, c.ID, ids[0])
		ok(t, 0, err)
		wants("tense")
	}
	side := reply("side", &calm)
	_, err := s.SwitchBranch(ctx, c.ID, last)
	ok(t, 0, err)
	change(t, s, func(tx scene.Tx) error { // only MacroChoices are the conversation's
		d, err := tx.Directors.Get(c.ID)
		if err != nil {
			return err
		}
		d.MacroChoices["m"] = "last"
		return tx.Directors.Save(d)
	})
	wants("last")

	_, err = s.DeleteMessage(ctx, c.ID, last) // and its sibling: the leaf is a person's
	ok(t, 0, err)
	wants("calm")
	_, err = s.Append(ctx, c.ID, scene.NewMessage{Role: scene.RoleUser, Parent: scene.To(&side)}) // shows the branch, too
	ok(t, 0, err)
	wants("side")
	_, err = s.DeleteMessage(ctx, c.ID, calm)
	ok(t, 0, err)
	wants("")
	if got := shown(t, s, c.ID); !cmp.Equal(got, []string{"Hello."}) {
		t.Errorf("%q", got)
	}
	reply("last", nil)
	wants("last")
	side = reply("side", nil)
	_, err = s.DeleteMessage(ctx, c.ID, side) // and with its siblings everything
	ok(t, 0, err)
	change(t, s, func(tx scene.Tx) error {
		d, err := tx.Directors.Get(c.ID)
		if d.MacroChoices["m"] != "side" {
			t.Errorf("%+v", d)
		}
		d.MacroChoices["m"] = "last"
		return errors.Join(err, tx.Directors.Save(d))
	})
	wants("")
}

// TestDeletingElsewhere: what is deleted beside the visible branch changes
// nothing on it.
func TestDeletingElsewhere(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, ids := branches(t, s)
	change(t, s, func(tx scene.Tx) error {
		return tx.Directors.Save(scene.DirectorState{ConversationID: c.ID, ActiveMoods: []string{"tense"}})
	})
	_, err := s.SwitchBranch(ctx, c.ID, ids["e"]) // where it is already
	ok(t, 0, err)
	if got := must(s.DirectorState(ctx, c.ID)).ActiveMoods; !cmp.Equal(got, []string{"tense"}) {
		t.Errorf("%q", got)
	}
	_, err = s.SwitchBranch(ctx, c.ID, ids["h"])
	ok(t, 0, err)
	change(t, s, func(tx scene.Tx) error {
		return tx.Directors.Save(scene.DirectorState{ConversationID: c.ID, ActiveMoods: []string{"calm"}})
	})
	_, err = s.DeleteMessage(ctx, c.ID, ids["d"])
	ok(t, 0, err)
	if got := must(s.DirectorState(ctx, c.ID)).ActiveMoods; !cmp.Equal(got, []string{"calm"}) {
		t.Errorf("%q", got)
	}
}

// TestCalls: of the last 20 exchanges, whatever order their calls came in.
func TestCalls(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	c, members := addGroup(t, s, "Anna")
	call := func(text string) scene.Call {
		return scene.Call{
			Pass: "writer", Model: "big", Messages: []scene.CallMessage{{Role: "system", Text: "Body."}, {Role: "user", Text: text, Images: 2}},
			Sections: []scene.CallSection{{Key: "cast", Chars: 5, Tokens: 1}},
			Usage:    scene.CallUsage{Input: 4, Cached: 3, Output: 2, Reasoning: 1}, Timing: scene.CallTiming{FirstMS: 1, TotalMS: 2},
		}
	}
	var ids []int64
	for i := range 22 {
		m, err := s.SaveReply(ctx, c.ID, scene.Reply{
			NewMessage: scene.NewMessage{Role: scene.RoleAssistant, SpeakerID: &members[0].ID}, Log: &scene.Log{Injection: fmt.Sprint(i)},
		})
		ids = append(ids, ok(t, m, err).ID)
		if err := s.SaveCalls(ctx, c.ID, m.ID, fmt.Sprint("x", i), []scene.Call{call(fmt.Sprint(i)), call("again")}); err != nil {
			t.Fatal(err)
		}
		if i == 10 { // an old one is answered anew
			ok(t, 0, s.SaveCalls(ctx, c.ID, ids[0], "x0", []scene.Call{call("more")}))
		}
	}
	for i, id := range ids {
		var want []scene.Call
		if i == 0 || i >= 3 {
			want = []scene.Call{call(fmt.Sprint(i)), call("again")}
		}
		if i == 0 {
			want = append(want, call("more"))
		}
		calls, log, err := s.Calls(ctx, c.ID, id)
		if diff := cmp.Diff(want, ok(t, calls, err)); diff != "" || log.Injection != fmt.Sprint(i) {
			t.Errorf("%d (log %+v): %s", i, log, diff)
		}
	}
	bare := say(t, s, c.ID, "Hi.", nil)
	calls, log, err := s.Calls(ctx, c.ID, bare)
	if ok(t, calls, err); len(calls) != 0 || log != nil {
		t.Errorf("%+v, %+v", calls, log)
	}
	other, _ := addGroup(t, s, "Ben")
	for id, mid := range map[string]int64{c.ID: 999, other.ID: ids[21], "x": ids[21]} {
		_, _, err := s.Calls(ctx, id, mid)
		refuse(t, err, fault.NotFound)
		refuse(t, s.SaveCalls(ctx, id, mid, "x", nil), fault.NotFound)
	}
}
