package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/lore"
	"jp/internal/scene/prompt"
)

// script is a scene as a txtar archive tells it.
//
// The file "scene" has a setting on each line:
//
//	kind solo            default group
//	context shared       default private
//	title, seed, user, author, persona TEXT
//	prevent              card and scene instructions are refused
//	created, now         as 2006-01-02 15:04
//	member KEY NAME; narrator, muted, gone, cardless
//	speak KEY CUE        one more call that is wanted; "-" is the neutral base
//	tools                the request ships tools
//	literal              macros are left on purpose
//
// "history" has a message on each line: "user: …", "user NAME: …", "KEY: …",
// "summary: …", "nobody: …"; lines that begin with a bar go on with it, and
// "[n]" at the end of one are its pictures.
// KEY/FIELD is a card's or a member's text; lore/KIND/NAME an entry.
type script struct {
	t        *testing.T
	files    map[string]string
	snap     scene.Snapshot
	now      time.Time
	author   string
	speaks   [][2]string
	tools    bool
	literal  bool
	lore     lore.Selection
	pictures map[int64]int
}

func read(t *testing.T, ar *txtar.Archive) *script {
	s := &script{t: t, files: map[string]string{}, pictures: map[int64]int{}, now: moment(t, "2026-05-06 07:08")}
	c := &s.snap.Conversation
	c.ID, c.Kind, c.ContextMode, c.MacroSeed = "c1", scene.Group, scene.Private, "seed"
	c.CreatedAt = moment(t, "2026-01-02 03:04")
	s.snap.Settings = scene.DefaultSettings()
	s.snap.Cards = map[string]scene.Card{}
	for _, f := range ar.Files {
		s.files[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
	}
	for _, l := range strings.Split(s.files["scene"], "\n") {
		word, rest, _ := strings.Cut(l, " ")
		s.setting(word, rest)
	}
	c.Scenario, c.PostHistory = s.files["scenario"], s.files["post_history"]
	if s.snap.Persona != nil {
		s.snap.Persona.Description = s.files["persona"]
	}
	s.snap.Settings.UserDescription = s.files["user"]
	if c.Kind == scene.Solo {
		s.card("card", c.CharacterName)
		if _, ok := s.snap.Cards["card"]; ok {
			c.CardID = new("card")
		}
	}
	s.history()
	for _, f := range ar.Files {
		if kind, ok := strings.CutPrefix(f.Name, "lore/"); ok {
			s.entry(kind, f.Name)
		}
	}
	return s
}

func (s *script) setting(word, rest string) {
	c := &s.snap.Conversation
	switch word {
	case "kind":
		c.Kind = scene.Kind(rest)
	case "context":
		c.ContextMode = scene.ContextMode(rest)
	case "title":
		c.Title = rest
	case "name":
		c.CharacterName = rest
	case "seed":
		c.MacroSeed = rest
	case "user":
		s.snap.Settings.UserName = rest
	case "author":
		s.author = rest
	case "persona":
		s.snap.Persona = &scene.Persona{Name: rest}
	case "prevent":
		s.snap.Settings.PreventPromptOverrides = true
	case "created":
		c.CreatedAt = moment(s.t, rest)
	case "now":
		s.now = moment(s.t, rest)
	case "member":
		s.member(rest)
	case "speak":
		key, cue, _ := strings.Cut(rest, " ")
		s.speaks = append(s.speaks, [2]string{key, cue})
	case "tools":
		s.tools = true
	case "literal":
		s.literal = true
	case "":
	default:
		s.t.Fatalf("the scene has no %q", word)
	}
}

func (s *script) member(rest string) {
	rest, flags, _ := strings.Cut(rest, ";")
	key, name, _ := strings.Cut(rest, " ")
	m := scene.Member{
		ID: "m-" + key, Key: key, Name: name, CardID: new(key), Kind: scene.Character, Order: len(s.snap.Members),
		Active: !strings.Contains(flags, "gone"), Muted: strings.Contains(flags, "muted"),
	}
	if strings.Contains(flags, "narrator") {
		m.Kind = scene.Narrator
	}
	if strings.Contains(flags, "cardless") {
		m.CardID = nil
	}
	if text, ok := s.files[key+"/sheet_override"]; ok {
		m.Sheet = &text
	}
	if text, ok := s.files[key+"/profile_override"]; ok {
		m.PublicProfile = &text
	}
	s.card(key, name)
	s.snap.Members = append(s.snap.Members, m)
}

// card makes a card of the files under key, if there are any.
func (s *script) card(key, name string) {
	c := scene.Card{ID: key, Name: name}
	var profile scene.Profile
	found := false
	for field, to := range map[string]*string{
		"description": &c.Description, "personality": &c.Personality, "examples": &c.Examples, "scenario": &c.Scenario,
		"post_history": &c.PostHistory, "system": &c.SystemPrompt, "appearance": &profile.Appearance, "role": &profile.Role,
	} {
		if text, ok := s.files[key+"/"+field]; ok {
			*to, found = text, true
		}
	}
	if found {
		c.Extensions = object(s.t, map[string]any{"orb": map[string]any{"public_profile": profile}})
		s.snap.Cards[key] = c
	}
}

func (s *script) history() {
	for _, l := range strings.Split(s.files["history"], "\n") {
		if more, ok := strings.CutPrefix(l, "|"); ok {
			s.snap.Path[len(s.snap.Path)-1].Content += "\n" + more
			continue
		}
		who, text, ok := strings.Cut(l, ": ")
		if !ok {
			continue
		}
		m := scene.Message{ID: int64(len(s.snap.Path) + 1), Role: scene.RoleAssistant, Content: text}
		var uploads []scene.Upload
		if text, ok := strings.CutSuffix(text, " [1]"); ok {
			m.Content, s.pictures[m.ID] = text, 1
			uploads = []scene.Upload{{MessageID: m.ID}}
		}
		switch by, name, _ := strings.Cut(who, " "); by {
		case "user":
			m.Role, m.Author = scene.RoleUser, name
		case "summary":
		default:
			m.SpeakerID = new("m-" + by)
		}
		s.snap.Path = append(s.snap.Path, scene.Step{Message: m, Uploads: uploads})
	}
}

func (s *script) entry(kind, file string) {
	kind, name, _ := strings.Cut(kind, "/")
	hit := lore.Hit{Entry: scene.Entry{Name: name, Content: s.files[file]}}
	switch kind {
	case "constant":
		s.lore.Constant = append(s.lore.Constant, hit)
	case "keyword":
		s.lore.Keyword = append(s.lore.Keyword, hit)
	case "depth":
		s.lore.AtDepth = append(s.lore.AtDepth, hit)
	default:
		s.t.Fatalf("lore is never %q", kind)
	}
}

func (s *script) scene() *prompt.Scene { return prompt.New(s.snap, s.now) }

func (s *script) turn(key, cue string) prompt.Turn {
	t := prompt.Turn{
		Path: s.snap.Path, Cue: cue, Message: s.files["message"], Author: s.author, Lore: s.lore,
		Injection: s.files["injection"], ToolsShipped: s.tools, LengthNudge: s.files["length"],
	}
	if s.snap.Conversation.Kind == scene.Group {
		t.Speaker = "m-" + key
	}
	return t
}

func (s *script) images(id int64) []llm.Image { return make([]llm.Image, s.pictures[id]) }

// say writes all that one call is given, section by section.
func (s *script) say(key, cue string) string {
	p, b := s.scene(), &strings.Builder{}
	t := s.turn(key, cue)
	if key == "-" {
		t.Speaker = ""
	}
	fmt.Fprintln(b, "= system")
	show(b, p.System(p.LanePrompt(scene.LaneWriter, s.files["system"]), s.lore, t.Speaker))
	if key == "-" && s.snap.Conversation.Kind == scene.Group {
		return b.String()
	}
	for _, m := range p.History(s.snap.Path, s.images) {
		fmt.Fprintf(b, "= %s%s\n%s\n", m.Role, strings.Repeat(" with a picture", len(m.Images)), m.Text)
	}
	fmt.Fprintln(b, "= closing")
	show(b, p.Trailing(t))
	return b.String()
}

func show(b *strings.Builder, parts []prompt.Section) {
	for _, s := range parts {
		fmt.Fprintf(b, "[%s]\n%s\n", s.Key, s.Text)
	}
}

func moment(t *testing.T, text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func object(t testing.TB, v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
