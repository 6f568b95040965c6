package tavern

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"jp/internal/scene"
)

// seat is a member while a chat is read.
type seat struct {
	file   string // its picture, as the definition names it
	spec   scene.MemberSpec
	former bool
	place  int // among the members, former ones last
}

// ourField is where a chat's metadata keeps what only we know.
const ourField = "jp"

// settings are what SillyTavern has no field for.
type settings struct {
	Kind        scene.Kind        `json:"kind"`
	Title       string            `json:"title"`
	CardID      *string           `json:"card_id,omitempty"`
	PostHistory string            `json:"post_history,omitempty"`
	TurnMode    scene.TurnMode    `json:"turn_mode,omitempty"`
	MaxSpeakers int               `json:"max_speakers,omitempty"`
	ContextMode scene.ContextMode `json:"context_mode,omitempty"`
	Members     []part            `json:"members,omitempty"`
}

// part is a member as we keep it.
type part struct {
	File    string           `json:"file"`
	Key     string           `json:"key,omitempty"`
	Name    string           `json:"name"`
	CardID  *string          `json:"card_id,omitempty"`
	Profile *string          `json:"public_profile,omitempty"`
	Sheet   *string          `json:"sheet,omitempty"`
	Kind    scene.MemberKind `json:"kind,omitempty"`
	Muted   bool             `json:"muted,omitempty"`
	Former  bool             `json:"former,omitempty"`
}

// readSettings reads what the chat's metadata say, ours among them.
func (d *decoder) readSettings() {
	meta := object(d.header["chat_metadata"])
	if raw := meta[ourField]; raw != nil && json.Unmarshal(raw, &d.ours) != nil {
		d.ours = settings{}
	}
	c := &d.t.Conversation
	c.Scenario = cmp.Or(text(meta["scenario"]), text(object(d.group["chat_metadata"])["scenario"]))
	c.PostHistory = d.ours.PostHistory
}

// groupChat reads a group's settings and cast.
func (d *decoder) groupChat() {
	c := &d.t.Conversation
	c.Kind, c.MaxSpeakers = scene.Group, speakers(d.ours.MaxSpeakers)
	c.TurnMode, c.ContextMode = turnMode(d.ours.TurnMode), contextMode(d.ours.ContextMode)
	if d.group != nil {
		n, _ := number(d.group["activation_strategy"])
		if c.TurnMode = turnModeOf(n); c.TurnMode == scene.Director && d.ours.TurnMode == "" {
			d.say("chance and talkativeness chose who answers; now the Director does")
		}
		n, _ = number(d.group["generation_mode"])
		if c.ContextMode != scene.Private || d.ours.ContextMode == "" || contextModeOf(n) != scene.Swap {
			c.ContextMode = contextModeOf(n)
		}
	}
	d.seat()
	d.dress()
	slices.SortStableFunc(d.seats, func(a, b *seat) int { return cmp.Compare(rank(a), rank(b)) })
	for i, s := range d.seats {
		s.place = i
		if s.former {
			d.t.Former = append(d.t.Former, s.spec)
		} else {
			c.Members = append(c.Members, s.spec)
		}
	}
	c.Title = cmp.Or(text(d.group["name"]), d.ours.Title, d.names())
}

func rank(s *seat) int {
	if s.former {
		return 1
	}
	return 0
}

// names is a title for a group that has none.
func (d *decoder) names() string {
	var names []string
	for _, m := range d.t.Conversation.Members {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// seat finds the members: those of the definition, or ours, and whoever speaks
// besides.
func (d *decoder) seat() {
	muted := texts(d.group["disabled_members"])
	names := d.namesOfFiles()
	for _, file := range texts(d.group["members"]) {
		if file != "" && d.byFile[file] == nil {
			d.add(&seat{file: file, spec: scene.MemberSpec{Name: names(file), Muted: slices.Contains(muted, file)}})
		}
	}
	for _, p := range d.ours.Members {
		s, muted := d.byFile[p.File], p.Muted
		if s == nil {
			s = &seat{file: p.File, former: p.Former || d.group != nil}
		} else {
			muted = s.spec.Muted
		}
		s.spec = scene.MemberSpec{
			Key: p.Key, CardID: p.CardID, Name: p.Name, PublicProfile: p.Profile, Sheet: p.Sheet, Kind: p.Kind, Muted: muted,
		}
		d.add(s)
	}
	for _, l := range d.lines {
		if !flag(l["is_user"]) && !flag(l["is_system"]) && d.speaker(l) == nil {
			d.addSpeaker(l)
		}
	}
	if !slices.ContainsFunc(d.seats, func(s *seat) bool { return !s.former }) {
		d.say("the group has no members; a narrator was added")
		d.add(&seat{spec: scene.MemberSpec{Name: "Narrator", Kind: scene.Narrator}})
	}
}

// add gives a member a seat, unless it has one, and its names.
func (d *decoder) add(s *seat) {
	if d.byName == nil {
		d.byName, d.byFile = map[string]*seat{}, map[string]*seat{}
	}
	if s.file == "" || d.byFile[s.file] != s {
		d.seats = append(d.seats, s)
	}
	if s.file != "" {
		d.byFile[s.file] = s
	}
	// Of two with one name the first answers to it.
	if name := strings.ToLower(s.spec.Name); d.byName[name] == nil {
		d.byName[name] = s
	}
}

// addSpeaker seats whoever says a line. Who is not in the definition has left.
func (d *decoder) addSpeaker(l fields) {
	s := &seat{file: text(l["original_avatar"]), former: d.group != nil, spec: scene.MemberSpec{Name: text(l["name"])}}
	if narrated(l) {
		s.file, s.spec.Kind = "", scene.Narrator
	}
	switch {
	case s.former && s.spec.Kind == scene.Narrator:
		d.say("the narrator %q is no member", s.spec.Name)
	case s.former:
		d.say("%q speaks and is no member any more", s.spec.Name)
	}
	d.add(s)
}

// namesOfFiles tells what the member with a picture is called: what its last
// line says, or what its card or the picture's file is called.
func (d *decoder) namesOfFiles() func(file string) string {
	said := map[string]string{}
	for _, l := range d.lines {
		if name := text(l["name"]); name != "" && !flag(l["is_user"]) {
			said[text(l["original_avatar"])] = name
		}
	}
	return func(file string) string {
		if name, ok := said[file]; ok {
			return name
		}
		if card := d.cardOf(nil, stem(file)); card != nil {
			return card.Name
		}
		return stem(file)
	}
}

// speaker is who says a line, by picture and then by name; nil for nobody.
func (d *decoder) speaker(l fields) *seat {
	if s := d.byFile[text(l["original_avatar"])]; s != nil {
		return s
	}
	return d.byName[strings.ToLower(text(l["name"]))]
}

// narrated tells whether a line is SillyTavern's narrator's.
func narrated(l fields) bool { return text(object(l["extra"])["type"]) == "narrator" }

// dress gives the members their cards. One card is there once.
func (d *decoder) dress() {
	used := map[string]bool{}
	for _, s := range d.seats {
		name := s.spec.Name
		card := d.cardOf(s.spec.CardID, name, stem(s.file))
		s.spec.CardID = nil
		switch {
		case card == nil && (s.former || s.spec.Kind == scene.Narrator):
		case card == nil:
			d.say("there is no card for %q; it is in the scene without one", name)
		case used[card.ID] && !s.former:
			d.say("the card of %q is in the cast already; %q is in the scene without one", card.Name, name)
		default:
			s.spec.CardID = &card.ID
			used[card.ID] = used[card.ID] || !s.former
		}
	}
}

// cardOf finds a card by its id, or else by the first of names that fits one.
func (d *decoder) cardOf(id *string, names ...string) *scene.CardBrief {
	for i := range d.cards {
		if id != nil && d.cards[i].ID == *id {
			return &d.cards[i]
		}
	}
	for _, name := range names {
		for i := range d.cards {
			c := &d.cards[i]
			if name != "" && (strings.EqualFold(c.Name, name) || strings.EqualFold(stem(fileName(c.Name)), name) || c.ID == name) {
				return c
			}
		}
	}
	// A second picture of one name has a number, one that comes with
	// SillyTavern another beginning.
	for _, name := range names {
		plain := strings.TrimPrefix(strings.TrimRight(name, "0123456789"), "default_")
		if plain != "" && plain != name {
			return d.cardOf(nil, plain)
		}
	}
	return nil
}

// stem is a picture's name without its kind.
func stem(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// fileName is what SillyTavern would call the picture of a name: it never has
// what could lead out of a folder.
func fileName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\?%*:|"<>`, r) || r == 0x7f {
			return -1
		}
		return r
	}, name)
	clean = strings.Trim(clean, " .")
	if runes := []rune(clean); len(runes) > 80 {
		clean = strings.TrimRight(string(runes[:80]), " .")
	}
	return cmp.Or(clean, "member") + ".png"
}
