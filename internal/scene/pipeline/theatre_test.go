package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/llmtest"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
	"jp/internal/scene/sqlstore"
)

// theatre is a service on a store of its own, a runner on it, and the player
// that stands in for every model.
type theatre struct {
	testing.TB
	s     *scene.Service
	r     *pipeline.Runner
	p     *player
	lanes *stages
	clock *clock
	log   strings.Builder

	stopping sync.WaitGroup
}

// stages opens each model config as the player, in a lane of its kind.
type stages struct {
	model   llm.Model
	forcing pipeline.Forcing
	window  int
	opened  []string         // names of models
	broken  map[string]error // by a model's name
	models  map[string]llm.Model
}

func (l *stages) Open(_ scene.Endpoint, m scene.ModelConfig) (pipeline.Lane, error) {
	l.opened = append(l.opened, m.Model)
	if err := l.broken[m.Model]; err != nil {
		return pipeline.Lane{}, err
	}
	model := l.model
	if own := l.models[m.Model]; own != nil {
		model = own
	}
	return pipeline.Lane{Model: model, Name: m.Model, Forcing: l.forcing, Window: l.window, Params: llm.Params{MaxTokens: m.MaxTokens}}, nil
}

func (l *stages) Rehearsal(string) pipeline.Lane {
	return pipeline.Lane{Model: l.model, Name: "rehearsal", Forcing: l.forcing}
}

// clock tells the time; it goes on by step each time it is read.
type clock struct {
	mu   sync.Mutex
	at   time.Time
	step time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(c.step)
	return c.at
}

// player is a model that knows what each request is for.
type player struct {
	mu    sync.Mutex
	asked []asked
	plan  []string // of every Director's answer
	// Answers by pass; without one the player answers something that fits.
	parts map[string]func(asked) llmtest.Answer
}

// asked is a request and what it is for.
type asked struct {
	llm.Request
	pass    string // the tool that is forced; writer, summary, autocomplete
	speaker string // of the Writer
	nth     int    // of the pass, from 1
}

// tail is the trailing message.
func (a asked) tail() string { return a.Messages[len(a.Messages)-1].Text }

// body is the system body.
func (a asked) body() string { return strings.Join(a.System, "\n\n") }

// whole is all that is in the request.
func (a asked) whole() string {
	text := a.body()
	for _, m := range a.Messages {
		text += "\n" + m.Text
	}
	return text
}

func passOf(req llm.Request) (pass, speaker string) {
	last := req.Messages[len(req.Messages)-1].Text
	if req.ToolChoice.Mode == llm.ToolNamed {
		return req.ToolChoice.Name, ""
	}
	if len(req.Schema) > 0 {
		for field, tool := range map[string]string{
			"patches": "editor_apply_patch", "rewritten_text": "editor_rewrite", "edits": "apply_find_replace",
			"changed": "update_character_sheet", "speaking_plan": "direct_scene", "appearance": "draft_public_profile", "gist": "give_feedback",
		} {
			if strings.Contains(string(req.Schema), `"`+field+`"`) {
				return tool, ""
			}
		}
		return "direct_scene", ""
	}
	if _, rest, ok := strings.Cut(last, "## You are writing as "); ok {
		speaker, _, _ = strings.Cut(rest, "\n")
		return "writer", speaker
	}
	switch {
	case strings.Contains(last, "Sum up everything above"):
		return "summary", ""
	case strings.Contains(last, "Go on exactly where it breaks off"):
		return "autocomplete", ""
	}
	return "writer", ""
}

// Stream implements llm.Model.
func (p *player) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		llmtest.Script(p.answer(req)).Stream(ctx, req)(yield)
	}
}

func (p *player) answer(req llm.Request) llmtest.Answer {
	a := asked{Request: req}
	a.pass, a.speaker = passOf(req)
	p.mu.Lock()
	a.nth = 1 + len(p.of(a.pass))
	p.asked = append(p.asked, a)
	part, plan := p.parts[a.pass], p.plan
	p.mu.Unlock()
	if part != nil {
		return part(a)
	}
	switch a.pass {
	case "writer":
		return llmtest.Say(fmt.Sprintf("%s says line %d.", a.speaker, a.nth))
	case "summary":
		return llmtest.Say("They met.")
	case "direct_scene":
		return give(a, `{"moods":null,"speaking_plan":`+quoted(plan)+`}`)
	case "update_character_sheet":
		return give(a, `{"changed":false,"sheet":"","summary":""}`)
	case "editor_apply_patch":
		return give(a, `{"patches":[]}`)
	case "apply_find_replace":
		return give(a, `{"edits":[]}`)
	}
	return give(a, `{}`)
}

// give answers with the arguments of the tool that is forced, in the way in
// which it is.
func give(a asked, arguments string) llmtest.Answer {
	if len(a.Schema) > 0 {
		return llmtest.Say(arguments)
	}
	return llmtest.Use(llm.ToolCall{ID: "call_1", Name: a.pass, Arguments: json.RawMessage(arguments)})
}

func quoted(list []string) string {
	text, err := json.Marshal(append([]string{}, list...))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// of returns the requests of a pass so far.
func (p *player) of(pass string) []asked {
	return slices.DeleteFunc(slices.Clone(p.asked), func(a asked) bool { return a.pass != pass })
}

// passes names the requests so far, in order.
func (p *player) passes() string {
	var all []string
	for _, a := range p.asked {
		name := a.pass
		if a.speaker != "" {
			name += " " + a.speaker
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

func (p *player) forget() { p.asked = nil }

// play sets what answers a pass.
func (p *player) play(pass string, part func(asked) llmtest.Answer) {
	if p.parts == nil {
		p.parts = map[string]func(asked) llmtest.Answer{}
	}
	p.parts[pass] = part
}

// says answers a pass with the texts in order, the last one again and again.
func (p *player) says(pass string, texts ...string) {
	p.plays(pass, llmtest.Say, texts...)
}

// gives answers a pass with arguments in order, the last ones again and again.
func (p *player) gives(pass string, arguments ...string) {
	first := len(p.of(pass))
	p.play(pass, func(a asked) llmtest.Answer { return give(a, arguments[min(a.nth-first, len(arguments))-1]) })
}

func (p *player) plays(pass string, as func(string) llmtest.Answer, texts ...string) {
	first := len(p.of(pass))
	p.play(pass, func(a asked) llmtest.Answer { return as(texts[min(a.nth-first, len(texts))-1]) })
}

// emptyStore is the file of a store without rows: making one takes a while.
var emptyStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "jp-theatre-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at := filepath.Join(dir, "scenes.db")
	store, err := sqlstore.Open(context.Background(), at)
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(at)
})

// newTheatre opens an empty one with an endpoint whose models are "pen" and
// "mind".
func newTheatre(tb testing.TB) *theatre {
	tb.Helper()
	at := filepath.Join(tb.TempDir(), "scenes.db")
	if err := os.WriteFile(at, must(emptyStore())(tb), 0o600); err != nil {
		tb.Fatal(err)
	}
	store := must(sqlstore.Open(context.Background(), at))(tb)
	tb.Cleanup(func() { _ = store.Close() })
	th := &theatre{TB: tb, p: &player{}, clock: &clock{at: time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)}}
	th.lanes = &stages{model: th.p}
	th.s = scene.New(scene.Config{Store: store, Now: th.clock.now, Rand: rand.NewChaCha8([32]byte{7})})
	th.r = &pipeline.Runner{Scenes: th.s, Models: th.lanes, Now: th.clock.now, Log: slog.New(slog.NewTextHandler(&th.log, nil))}
	e := must(th.s.CreateEndpoint(context.Background(), scene.Endpoint{URL: "http://localhost:1/v1"}))(tb)
	th.named(*e.WriterConfig, "pen")
	th.named(*e.AgentConfig, "mind")
	return th
}

func (th *theatre) named(config, model string) {
	th.Helper()
	must(th.s.ChangeModel(context.Background(), config, scene.ModelChange{Model: scene.To(model)}))(th)
}

// failing is the part of testing.TB that rapid.T has, too.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// must returns a value, and fails the test on an error: must(f())(t).
func must[T any](v T, err error) func(failing) T {
	return func(t failing) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return v
	}
}

// settings changes those of the installation.
func (th *theatre) settings(patch string) {
	th.Helper()
	must(th.s.ChangeSettings(context.Background(), json.RawMessage(patch)))(th)
}

// card stores one whose texts all hold its name in capitals: NAME-SHEET,
// NAME-EXAMPLE, NAME-POST, NAME-LOOK.
func (th *theatre) card(name string) string {
	th.Helper()
	big := strings.ToUpper(name)
	c := scene.Card{
		ID: "card-" + strings.ToLower(name), Name: name, Description: big + "-SHEET of {{char}}.", Personality: big + "-NATURE",
		Examples: "<START>\n{{char}}: " + big + "-EXAMPLE", PostHistory: big + "-POST", SystemPrompt: big + "-SYSTEM", Scenario: big + "-SCENARIO",
		Extensions: json.RawMessage(`{"orb":{"public_profile":{"appearance":"` + big + `-LOOK","role":"` + big + `-ROLE"}}}`),
	}
	return must(th.s.CreateCard(context.Background(), c, nil, nil))(th).ID
}

// group makes one with a card for each name, in the director's mode.
func (th *theatre) group(names ...string) *scened {
	th.Helper()
	n := scene.NewConversation{Kind: scene.Group, Title: "The inn", Scenario: "An inn by the sea. {{char}}, {{cast}}.", PostHistory: "SCENE-POST", TurnMode: scene.Director}
	for _, name := range names {
		card := th.card(name)
		n.Members = append(n.Members, scene.MemberSpec{CardID: &card, Name: name})
	}
	return th.open(n)
}

func (th *theatre) open(n scene.NewConversation) *scened {
	th.Helper()
	c := must(th.s.CreateConversation(context.Background(), n))(th)
	sc := &scened{theatre: th, id: c.ID}
	for _, m := range sc.roster() {
		th.p.plan = append(th.p.plan, m.Key)
	}
	return sc
}

// scened is a conversation in a theatre.
type scened struct {
	*theatre
	id string
}

func (sc *scened) roster() []scene.Member {
	sc.Helper()
	if must(sc.s.Conversation(context.Background(), sc.id))(sc).Kind != scene.Group {
		return nil
	}
	members, _, err := sc.s.Members(context.Background(), sc.id, true)
	return must(members, err)(sc)
}

func (sc *scened) member(name string) scene.Member {
	sc.Helper()
	for _, m := range sc.roster() {
		if m.Name == name {
			return m
		}
	}
	sc.Fatalf("there is no %s", name)
	return scene.Member{}
}

// cast changes the roster as it is now.
func (sc *scened) cast(change func(name string, m *scene.MemberSpec)) {
	sc.Helper()
	var specs []scene.MemberSpec
	for _, m := range sc.roster() {
		if !m.Active {
			continue
		}
		spec := scene.MemberSpec{ID: m.ID, CardID: m.CardID, Name: m.Name, PublicProfile: m.PublicProfile, Sheet: m.Sheet, Kind: m.Kind, Muted: m.Muted, Model: scene.To(m.Model)}
		change(m.Name, &spec)
		if spec.ID != "" {
			specs = append(specs, spec)
		}
	}
	if _, _, err := sc.s.SetMembers(context.Background(), sc.id, specs, nil); err != nil {
		sc.Fatalf("%v", err)
	}
}

func (sc *scened) mute(names ...string) {
	sc.Helper()
	sc.cast(func(name string, m *scene.MemberSpec) { m.Muted = slices.Contains(names, name) })
}

// remove lets members leave.
func (sc *scened) remove(names ...string) {
	sc.Helper()
	sc.cast(func(name string, m *scene.MemberSpec) {
		if slices.Contains(names, name) {
			m.ID = ""
		}
	})
}

func (sc *scened) change(c scene.ConversationChange) {
	sc.Helper()
	must(sc.s.ChangeConversation(context.Background(), sc.id, c, nil))(sc)
}

func (sc *scened) mode(turn scene.TurnMode, context scene.ContextMode) {
	sc.Helper()
	sc.change(scene.ConversationChange{TurnMode: scene.To(turn), ContextMode: scene.To(context)})
}

// path is the visible branch.
func (sc *scened) path() []scene.Step {
	sc.Helper()
	return must(sc.s.Messages(context.Background(), sc.id, nil, 0))(sc)
}

// text is the visible branch as lines "Name: text".
func (sc *scened) text() string {
	sc.Helper()
	names := map[string]string{}
	for _, m := range sc.roster() {
		names[m.ID] = m.Name
	}
	var lines []string
	for _, s := range sc.path() {
		name := "User"
		if s.Role == scene.RoleAssistant {
			name = "-"
		}
		if s.SpeakerID != nil {
			name = names[*s.SpeakerID]
		}
		lines = append(lines, name+": "+s.Content)
	}
	return strings.Join(lines, "\n")
}

// leaf is the visible branch's last message.
func (sc *scened) leaf() scene.Step {
	sc.Helper()
	path := sc.path()
	return path[len(path)-1]
}

// events are those of an exchange.
type events []pipeline.Event

// names of the events, tokens in a row as one.
func (ev events) names() string {
	var all []string
	for _, e := range ev {
		if e.Name != pipeline.Token || len(all) == 0 || all[len(all)-1] != pipeline.Token {
			all = append(all, e.Name)
		}
	}
	return strings.Join(all, " ")
}

// last returns the data of the last event of a name.
func last[T any](t failing, ev events, name string) T {
	t.Helper()
	for _, e := range slices.Backward(ev) {
		if e.Name == name {
			data, ok := e.Data.(T)
			if !ok {
				t.Fatalf("%s carries %T", name, e.Data)
			}
			return data
		}
	}
	t.Fatalf("there is no %s in %s", name, ev.names())
	panic("unreachable")
}

func (ev events) count(name string) (n int) {
	for _, e := range ev {
		if e.Name == name {
			n++
		}
	}
	return n
}

// status is how the exchange ended.
func (ev events) status(t failing) string {
	t.Helper()
	return last[pipeline.DoneData](t, ev, pipeline.Done).Status
}

// begin begins an exchange in the conversation.
func (sc *scened) begin(ask pipeline.Ask) (*pipeline.Exchange, error) {
	ask.Conversation = sc.id
	return sc.r.Begin(context.Background(), ask)
}

// run runs an exchange; each hears every event first.
func (sc *scened) run(ask pipeline.Ask, each ...func(pipeline.Event)) events {
	sc.Helper()
	x := must(sc.begin(ask))(sc)
	var ev events
	x.Run(func(e pipeline.Event) {
		for _, f := range each {
			f(e)
		}
		ev = append(ev, e)
	})
	checkEvents(sc, ev)
	if sc.s.Running(sc.id) {
		sc.Fatalf("the conversation is still claimed after the exchange")
	}
	return ev
}

// send says something and lets the scene answer, which must end well.
func (sc *scened) send(text string) events {
	sc.Helper()
	return sc.well(pipeline.Ask{Kind: pipeline.Send, Content: text})
}

// speak lets a member speak.
func (sc *scened) speak(name string) events {
	sc.Helper()
	return sc.well(pipeline.Ask{Kind: pipeline.Speak, Pin: new(sc.member(name).ID)})
}

// well runs an exchange that must end well.
func (sc *scened) well(ask pipeline.Ask) events {
	sc.Helper()
	ev := sc.run(ask)
	if got := ev.status(sc); got != "completed" {
		for _, e := range ev {
			if e.Name == pipeline.Failed {
				sc.Fatalf("%s: %+v", got, e.Data)
			}
		}
		sc.Fatalf("%s: %s", got, ev.names())
	}
	return ev
}

// checkEvents holds what is true of the events of every exchange.
func checkEvents(t failing, ev events) {
	t.Helper()
	if ev.count(pipeline.Done) != 1 || ev[len(ev)-1].Name != pipeline.Done {
		t.Fatalf("an exchange ends with one done: %s", ev.names())
	}
	if n := ev.count(pipeline.SpeakingPlan); n > 1 {
		t.Fatalf("%d plans: %s", n, ev.names())
	}
	if starts, ends := ev.count(pipeline.SpeakerStart), ev.count(pipeline.SpeakerDone)+ev.count(pipeline.SpeakerFailed); starts != ends {
		t.Fatalf("%d speakers began and %d ended: %s", starts, ends, ev.names())
	}
	status := ev.status(t)
	if (status == "failed") != (ev.count(pipeline.Failed) == 1) {
		t.Fatalf("%s with %d errors: %s", status, ev.count(pipeline.Failed), ev.names())
	}
	if status == "failed" && ev[len(ev)-2].Name != pipeline.Failed {
		t.Fatalf("something stands between error and done: %s", ev.names())
	}
}

// thinking answers with a thought and a text.
func thinking(thought, text string) llmtest.Answer {
	return append(llmtest.Answer{{Chunk: llm.Chunk{Reasoning: thought}}}, llmtest.Say(text)...)
}

var errBroken = errors.New("no such server")
