package scene_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// fill sets every field of a struct that is zero to something that is not.
func fill[T any](t *testing.T, v *T) {
	t.Helper()
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		f := s.Field(i)
		if !f.IsZero() {
			continue
		}
		switch x := f.Addr().Interface().(type) {
		case *string:
			*x = "some " + s.Type().Field(i).Name
		case *int:
			*x = 7
		case *int64:
			*x = 7
		case *bool:
			*x = true
		case **string:
			*x = ptr("some " + s.Type().Field(i).Name)
		case **int:
			*x = ptr(7)
		case *json.RawMessage:
			*x = json.RawMessage(`{"w":1}`)
		case **scene.Cut:
			*x = &scene.Cut{Label: "Ben:", Removed: "Ben: Hi."}
		default:
			t.Fatalf("the test does not know how to fill %s.%s", s.Type(), s.Type().Field(i).Name)
		}
	}
}

// wantCopy fails for each field of a copy that is neither like the original nor
// among those that may differ, and for each of those that does not.
func wantCopy(t *testing.T, from, to any, differ ...string) {
	t.Helper()
	a, b := reflect.ValueOf(from), reflect.ValueOf(to)
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		same := cmp.Equal(a.Field(i).Interface(), b.Field(i).Interface())
		if same == slices.Contains(differ, name) {
			t.Errorf("%s.%s: %v became %v", a.Type(), name, a.Field(i), b.Field(i))
		}
	}
}

// fullGroup is a group in which every field of every row says something.
func fullGroup(t *testing.T, s *scene.Service) (scene.Conversation, []scene.Member, []scene.Message) {
	t.Helper()
	addWorld(t, s, scene.World{Name: "w1"})
	addWorld(t, s, scene.World{Name: "w2", Global: true})
	root, _ := addGroup(t, s, "Somebody")
	c := fork(t, s, root.ID, "new")
	var members []scene.Member
	var messages []scene.Message
	change(t, s, func(tx scene.Tx) error {
		if err := tx.Personas.Insert(scene.Persona{ID: "some PersonaLock", CreatedAt: dawn(), UpdatedAt: dawn()}); err != nil {
			return err
		}
		if err := tx.Members.Delete(roster(t, s, c.ID, true)[0].ID); err != nil {
			return err
		}
		c.TurnMode, c.MaxSpeakers, c.ContextMode, c.CutImpersonation, c.MacroSeed = scene.Manual, 5, scene.Swap, false, ""
		c.CardID, c.Revision, c.RosterRevision = ptr("dangling"), 4, 5
		for _, m := range []scene.Member{
			{Name: "Guard", Key: "guard", Kind: scene.Narrator, Order: 1},
			{Name: "Guard", Key: "guard-2", Kind: scene.Character, Order: 2, Active: true, Sheet: ptr("")},
		} {
			m.ID, m.ConversationID = "old-"+m.Key, c.ID
			active := m.Active
			fill(t, &m)
			m.Active = active
			if err := tx.Members.Insert(m); err != nil {
				return err
			}
			members = append(members, m)
		}
		for i := range 4 {
			m := scene.Message{ConversationID: c.ID, Role: scene.RoleAssistant, Incomplete: scene.IncompleteError, CreatedAt: dawn()}
			m.SpeakerID = &members[i%2].ID
			if i > 0 {
				m.ParentID = &messages[i-1].ID
			}
			m.TurnIndex = 10 + i
			parent := m.ParentID
			fillMessage(t, &m)
			m.ParentID = parent
			if err := tx.Messages.Insert(&m); err != nil {
				return err
			}
			messages = append(messages, m)
		}
		for _, m := range messages {
			if _, err := tx.Uploads.Insert(scene.Upload{MessageID: m.ID, MIME: "image/png", Filename: "a.png", CreatedAt: dawn()}, []byte("data")); err != nil {
				return err
			}
		}
		c.ActiveLeaf = &messages[3].ID
		cut := c.CutImpersonation
		fill(t, &c)
		c.CutImpersonation, c.MacroSeed = cut, "" // a root has none of its own
		if err := tx.Choices.Put(scene.Choice{ConversationID: c.ID, WorldID: "w1", Enabled: true}); err != nil {
			return err
		}
		if err := tx.Choices.Put(scene.Choice{ConversationID: c.ID, WorldID: "w2", Enabled: false}); err != nil {
			return err
		}
		return tx.Conversations.Save(c)
	})
	return c, members, messages
}

// fillMessage fills all but what the store gives and the tree needs.
func fillMessage(t *testing.T, m *scene.Message) {
	t.Helper()
	m.ID, m.Depth = 1, 1
	if m.ParentID == nil {
		m.ParentID = new(int64)
	}
	fill(t, m)
	m.ID, m.Depth = 0, 0
}

func TestForkCopiesEverySetting(t *testing.T) {
	for _, how := range []string{"checkpoint", "compress", "new"} {
		t.Run(how, func(t *testing.T) {
			s := newService(t)
			src, members, _ := fullGroup(t, s)
			p, err := s.Propose(context.Background(), src.ID, scene.NewProposal{MemberID: members[1].ID, Sheet: "x"})
			ok(t, p, err)
			f := fork(t, s, src.ID, how)
			f = conversation(t, s, f.ID)
			differ := []string{"ID", "MacroSeed", "ActiveLeaf", "Slots", "CreatedAt", "UpdatedAt", "AccessedAt", "Revision", "RosterRevision"}
			if how != "new" {
				differ = append(differ, "Title")
			}
			wantCopy(t, src, f, differ...)
			if f.MacroSeed != src.ID || f.Slots != nil || f.Revision != 1 || f.RosterRevision != 1 {
				t.Errorf("%+v", f)
			}
			if again := fork(t, s, f.ID, how); again.MacroSeed != src.ID {
				t.Errorf("the seed of a fork's fork is %q", again.MacroSeed)
			}
			copies := roster(t, s, f.ID, true)
			if len(copies) != len(members) {
				t.Fatalf("%d members", len(copies))
			}
			for i, m := range members {
				wantCopy(t, m, copies[i], "ID", "ConversationID", "Slots")
				if copies[i].Slots != nil {
					t.Errorf("slots %s", copies[i].Slots)
				}
			}
			worlds, err := s.WorldIDs(context.Background(), f.ID)
			if ok(t, worlds, err); !cmp.Equal(worlds, []string{"w1"}) {
				t.Errorf("worlds %q", worlds)
			}
			open, err := s.Proposals(context.Background(), f.ID, "all")
			if ok(t, open, err); len(open) != 0 {
				t.Errorf("proposals %+v", open)
			}
			if diff := cmp.Diff(src, conversation(t, s, src.ID)); diff != "" {
				t.Error("the original changed:", diff)
			}
			if diff := cmp.Diff(members, roster(t, s, src.ID, true)); diff != "" {
				t.Error("the original changed:", diff)
			}
		})
	}
}

// wantMessages compares copies with the last of the originals.
func wantMessages(t *testing.T, s *scene.Service, f scene.Conversation, copies []scene.Step, originals []scene.Message, differ ...string) {
	t.Helper()
	cast := roster(t, s, f.ID, true)
	if len(copies) != len(originals) {
		t.Fatalf("%d messages, want %d", len(copies), len(originals))
	}
	for i, m := range originals {
		allowed := append([]string{"ID", "ConversationID", "SpeakerID"}, differ...)
		if m.ParentID != nil || copies[i].ParentID != nil {
			allowed = append(allowed, "ParentID")
		}
		wantCopy(t, m, copies[i].Message, allowed...)
		if key := []string{"guard", "guard-2"}[m.TurnIndex%2]; cast[m.TurnIndex%2].Key != key || *copies[i].SpeakerID != cast[m.TurnIndex%2].ID {
			t.Errorf("message %d is said by somebody else", i)
		}
		if u := copies[i].Uploads; len(u) != 1 || u[0].MIME != "image/png" || u[0].Filename != "a.png" || u[0].Size != 4 {
			t.Fatalf("uploads %+v", u)
		}
		_, data, err := s.Upload(context.Background(), copies[i].Uploads[0].ID)
		if ok(t, data, err); string(data) != "data" {
			t.Errorf("upload %q", data)
		}
	}
}

func TestCheckpointCopiesTheVisibleBranch(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	src, _, messages := fullGroup(t, s)
	hidden, err := s.Append(ctx, src.ID, scene.NewMessage{Parent: scene.To(&messages[2].ID), Role: scene.RoleUser, Content: "hidden"})
	ok(t, hidden, err)
	_, err = s.SwitchBranch(ctx, src.ID, messages[3].ID)
	ok(t, 0, err)

	f, err := s.Checkpoint(ctx, src.ID, "")
	if ok(t, f, err); f.Title != "The inn (checkpoint)" {
		t.Errorf("title %q", f.Title)
	}
	path, err := s.Messages(ctx, f.ID, nil, 0)
	wantMessages(t, s, f, ok(t, path, err), messages)
	named, err := s.Checkpoint(ctx, src.ID, "Before the storm")
	if ok(t, named, err); named.Title != "Before the storm" {
		t.Errorf("title %q", named.Title)
	}
}

func TestCompressKeepsTheEnd(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	src, _, messages := fullGroup(t, s)
	for keep, kept := range map[int]int{2: 2, 4: 4, 8: 4} {
		f, err := s.Compress(ctx, src.ID, "They {{random::met}}.", keep)
		if ok(t, f, err); f.Title != "The inn (continued)" {
			t.Errorf("title %q", f.Title)
		}
		path, err := s.Messages(ctx, f.ID, nil, 0)
		ok(t, path, err)
		summary := path[0].Message
		want := scene.Message{ID: summary.ID, ConversationID: f.ID, Depth: 1, Role: scene.RoleAssistant, Content: "They met.", CreatedAt: summary.CreatedAt}
		if diff := cmp.Diff(want, summary); diff != "" {
			t.Error(diff)
		}
		wantMessages(t, s, f, path[1:], messages[4-kept:], "TurnIndex", "Depth")
		for i, step := range path {
			if step.TurnIndex != i {
				t.Errorf("turn %d at %d", step.TurnIndex, i)
			}
		}
	}
	for _, keep := range []int{-2, 0, 1, 3, 10} {
		_, err := s.Compress(ctx, src.ID, "x", keep)
		refuse(t, err, fault.Invalid)
	}
	_, err := s.Compress(ctx, src.ID, " \n", 2)
	refuse(t, err, fault.Invalid)
}

// TestForksGoOn: what the Director goes on from is copied, but for an empty
// conversation; logs only with the messages that they are of.
func TestForksGoOn(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	src, members := addGroup(t, s, "Anna")
	say(t, s, src.ID, "Hi.", nil)
	save := func(text string) scene.Message {
		plan, err := json.Marshal([]string{members[0].ID, "somebody"})
		ok(t, plan, err)
		m, err := s.SaveReply(ctx, src.ID, scene.Reply{
			NewMessage: scene.NewMessage{Role: scene.RoleAssistant, Content: text, SpeakerID: &members[0].ID, ExchangeID: ptr("x")},
			Log: &scene.Log{
				ToolCalls: json.RawMessage(`[1]`), ActiveMoods: []string{text}, Cooldowns: map[string]int{text: 2}, Injection: "i", AgentLatency: 5,
				ReasoningDirector: "d", ReasoningWriter: "w", ReasoningEditor: "e", Feedback: json.RawMessage(`{}`),
				Plan: plan, Lore: json.RawMessage(`{"a":1}`),
			},
			Director: &scene.DirectorState{ActiveMoods: []string{text}, MacroChoices: map[string]string{"m": "c"}, Cooldowns: map[string]int{text: 2}},
		})
		return ok(t, m, err)
	}
	hidden := save("hidden")
	_, err := s.Append(ctx, src.ID, scene.NewMessage{Role: scene.RoleAssistant, Parent: scene.To(hidden.ParentID)})
	ok(t, 0, err)
	shown := save("shown")
	before := must(s.Logs(ctx, src.ID))

	for how, copied := range map[string]bool{"checkpoint": true, "compress": false, "new": false} {
		f := fork(t, s, src.ID, how)
		want := scene.DirectorState{}
		if how != "new" {
			want = must(s.DirectorState(ctx, src.ID))
		}
		want.ConversationID = f.ID
		if diff := cmp.Diff(want, must(s.DirectorState(ctx, f.ID))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", how, diff)
		}
		logs := must(s.Logs(ctx, f.ID))
		if !copied {
			if len(logs) != 0 {
				t.Errorf("%s: %+v", how, logs)
			}
			continue
		}
		if len(logs) != 1 {
			t.Fatalf("%+v", logs)
		}
		wantCopy(t, before[1], logs[0], "ID", "ConversationID", "MessageID", "Plan")
		path := must(s.Messages(ctx, f.ID, nil, 0))
		plan, err := json.Marshal([]string{roster(t, s, f.ID, false)[0].ID, "somebody"})
		if ok(t, plan, err); *logs[0].MessageID != path[2].ID || string(logs[0].Plan) != string(plan) {
			t.Errorf("of message %d: plan %s", *logs[0].MessageID, logs[0].Plan)
		}
	}
	if diff := cmp.Diff(before, must(s.Logs(ctx, src.ID))); diff != "" || *before[1].MessageID != shown.ID {
		t.Error("the original changed:", diff)
	}
}

func TestSoloForks(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	addCard(t, s, scene.Card{Name: "Anna", FirstMessage: "Hello."})
	src, err := s.CreateConversation(ctx, scene.NewConversation{CardID: ptr("Anna")})
	ok(t, src, err)
	say(t, s, src.ID, "Hi.", nil)
	for how, want := range map[string][]string{"checkpoint": {"Hello.", "Hi."}, "compress": {"What happened.", "Hello.", "Hi."}} {
		f := fork(t, s, src.ID, how)
		if f.Kind != scene.Solo || f.RootID != nil || *f.CardID != "Anna" || f.CharacterName != "Anna" {
			t.Errorf("%s: %+v", how, f)
		}
		if got := shown(t, s, f.ID); !cmp.Equal(got, want) {
			t.Errorf("%s: %q", how, got)
		}
	}
	empty, err := s.CreateConversation(ctx, scene.NewConversation{})
	ok(t, empty, err)
	if got := shown(t, s, fork(t, s, empty.ID, "checkpoint").ID); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestForksAreSnapshots(t *testing.T) {
	s := newService(t)
	ctx := context.Background()
	root, members := addGroup(t, s, "Anna", "Ben")
	say(t, s, root.ID, "Hello.", &members[1])
	f := fork(t, s, root.ID, "checkpoint")
	before := roster(t, s, f.ID, true)
	_, _, err := s.SetMembers(ctx, root.ID, specs(members[0]), nil)
	ok(t, 0, err)
	if err := s.DeleteConversation(ctx, root.ID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, roster(t, s, f.ID, true)); diff != "" {
		t.Error(diff)
	}
	path, err := s.Messages(ctx, f.ID, nil, 0)
	ok(t, path, err)
	if *path[0].SpeakerID != before[1].ID {
		t.Error("said by somebody else")
	}
}
