package card

import (
	"encoding/json"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// text is a field of a card that holds one string.
type text struct {
	key   string
	alias string // what else it is called outside data: in Pygmalion's cards, and in old Tavern ones
	into  *string
}

func texts(c *scene.Card) []text {
	return []text{
		{"name", "char_name", &c.Name},
		{"description", "char_persona", &c.Description},
		{"personality", "", &c.Personality},
		{"scenario", "world_scenario", &c.Scenario},
		{"first_mes", "char_greeting", &c.FirstMessage},
		{"mes_example", "example_dialogue", &c.Examples},
		{"creator_notes", "creatorcomment", &c.CreatorNotes},
		{"system_prompt", "", &c.SystemPrompt},
		{"post_history_instructions", "", &c.PostHistory},
		{"creator", "", &c.Creator},
		{"character_version", "", &c.Version},
	}
}

// list is a field of a card that holds strings.
type list struct {
	key  string
	into *[]string
}

func lists(c *scene.Card) []list {
	return []list{{"alternate_greetings", &c.Greetings}, {"tags", &c.Tags}}
}

// v3Names are the fields that only V3 has and that a Card has no place for.
var v3Names = []string{
	"nickname", "creator_notes_multilingual", "source", "assets",
	"group_only_greetings", "creation_date", "modification_date",
}

// known tells whether a name means something to us in data or, where outer is
// set, outside of it.
func known(key string, outer bool) bool {
	var c scene.Card
	for _, f := range texts(&c) {
		if key == f.key || outer && key == f.alias {
			return true
		}
	}
	switch key {
	case "alternate_greetings", "tags", "extensions", "character_book":
		return true
	case "spec", "spec_version", "data", "orb_id":
		return outer
	}
	return slices.Contains(v3Names, key)
}

// reader reads the two places where a card's fields are: in data, and outside
// of it, where flat cards have them all.
type reader struct {
	data, outer object
	nested      bool // there is a data
	report      *report
	open        opener // nil when nothing came with the card
}

// decodeJSON reads a card from valid JSON without white space around it.
func decodeJSON(raw json.RawMessage, r *report, open opener) (Parsed, error) {
	in := reader{report: r, open: open}
	var twice, twiceInside []string
	var ok bool
	if in.outer, twice, ok = parseObject(raw); !ok {
		return Parsed{}, fault.New(fault.Invalid, "the file holds JSON, but no character card")
	}
	in.data, twiceInside, in.nested = parseObject(in.outer.get("data"))
	if err := in.check(); err != nil {
		return Parsed{}, err
	}
	if !in.nested && in.outer.get("data") != nil {
		r.note("data: it was no object and was left out")
	}
	if twice = append(twice, twiceInside...); len(twice) > 0 {
		r.note("of the fields that are there more than once the last was taken: %s", listed(twice))
	}
	var p Parsed
	p.Card.Format = in.format()
	for _, f := range texts(&p.Card) {
		*f.into = in.text(f)
	}
	for _, f := range lists(&p.Card) {
		*f.into = in.list(f.key)
	}
	if id := in.outer.get("orb_id"); kindOf(id) == '"' {
		p.Card.ID = ownID(unquote(id), r)
	}
	p.Card.Extensions = in.extensions()
	p.Book = in.book()
	p.Avatar = in.icon()
	return p, nil
}

// ownID is the id that a file gives its card, or empty when it is none.
func ownID(id string, r *report) string {
	if idShape.MatchString(id) {
		return id
	}
	r.note("orb_id: %s is no id that a card can have here, so a new one was made", quoted(id))
	return ""
}

// check refuses JSON that is something else.
func (in *reader) check() error {
	if strings.HasPrefix(in.spec(), "chara_card_") {
		return nil
	}
	var c scene.Card
	for _, f := range texts(&c) {
		weak := f.key == "name" || f.key == "description" // lorebooks have them, too
		if in.data.has(f.key) || !weak && in.outer.has(f.key) || f.alias != "" && in.outer.has(f.alias) {
			return nil
		}
	}
	if in.outer.has("entries") {
		return fault.New(fault.Invalid, "the file is a lorebook, no character card").WithHint("import it as a World")
	}
	if in.outer.has("name") || in.outer.has("description") {
		return nil
	}
	return fault.New(fault.Invalid, "the file holds JSON, but no character card: it has none of a card's fields")
}

func (in *reader) spec() string {
	if raw := in.outer.get("spec"); kindOf(raw) == '"' {
		return unquote(raw)
	}
	return ""
}

// format is the source format. A card is what it looks like, not what it says.
func (in *reader) format() string {
	spec := in.spec()
	switch {
	case !in.nested:
		if spec != "" {
			in.report.note("spec: the card says %s but has no data, so it was read as V1", quoted(spec))
		}
		return "tavern_v1"
	case spec == "chara_card_v3":
		return "tavern_v3"
	case spec == "":
		in.report.note("spec: there is none, so the card was read as V2")
	case spec != "chara_card_v2":
		in.report.note("spec: %s is not known, so the card was read as V2", quoted(spec))
	}
	return "tavern_v2"
}

// raw finds a field in data, else outside of it. An empty name in data does
// not count when there is another.
func (in *reader) raw(key, alias string) json.RawMessage {
	inside, outside := in.data.get(key), in.outer.get(key)
	if alias != "" {
		other := in.outer.get(alias)
		if outside == nil {
			outside, other = other, nil
		}
		in.differ(alias, key, outside, other)
	}
	if inside == nil || key == "name" && outside != nil && kindOf(inside) == '"' && !visible(unquote(inside)) {
		return outside
	}
	in.differ(key+" outside data", "the one in data", inside, outside)
	return inside
}

// differ notes that a second value was left out because it says something else.
func (in *reader) differ(what, taken string, first, second json.RawMessage) {
	if first == nil || second == nil || string(first) == string(second) {
		return
	}
	if kindOf(first) == '"' && kindOf(second) == '"' && unquote(first) == unquote(second) {
		return
	}
	in.report.note("%s: it differs and was left out, %s was taken", what, taken)
}

func (in *reader) text(f text) string {
	raw := in.raw(f.key, f.alias)
	switch kindOf(raw) {
	case 0:
		return ""
	case '"':
		return in.string(f.key, raw)
	case '[':
		in.report.note("%s: a list was read as a text with a line for each item", f.key)
		return strings.Join(in.items(f.key, raw), "\n")
	case '{':
		in.report.note("%s: an object was left out, a text belongs there", f.key)
		return ""
	}
	in.report.note("%s: %s was read as a text", f.key, quoted(string(raw)))
	return string(raw)
}

// string reads a JSON string and notes what cannot be kept of it.
func (in *reader) string(key string, raw json.RawMessage) string {
	s := unquote(raw)
	lost := strings.Count(s, "\uFFFD") - strings.Count(string(raw), "\uFFFD") -
		strings.Count(strings.ToLower(string(raw)), `\ufffd`)
	if lost > 0 {
		in.report.note("%s: halves of characters were replaced by \uFFFD", key)
	}
	return s
}

func (in *reader) list(key string) []string {
	raw := in.raw(key, "")
	switch kindOf(raw) {
	case 0:
		return nil
	case '[':
		return in.items(key, raw)
	case '"':
		s := in.string(key, raw)
		in.report.note("%s: a text was read as a list", key)
		if key == "tags" {
			return split(s)
		}
		if s == "" {
			return nil
		}
		return []string{s}
	case '{':
		o, _, _ := parseObject(raw)
		in.report.note("%s: an object was read as the list of its values", key)
		var values []json.RawMessage
		for _, k := range o.keys {
			values = append(values, o.values[k])
		}
		return in.strings(key, values)
	}
	in.report.note("%s: %s was left out, a list belongs there", key, quoted(string(raw)))
	return nil
}

// split reads tags that are written in one line.
func split(s string) (tags []string) {
	for tag := range strings.SplitSeq(s, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

func (in *reader) items(key string, raw json.RawMessage) []string {
	values, _ := parseList(raw)
	return in.strings(key, values)
}

// strings reads items as texts. Null is none, a number or a word counts by its
// spelling, lists and objects are left out.
func (in *reader) strings(key string, values []json.RawMessage) (out []string) {
	var spelled, dropped int
	for _, raw := range values {
		switch kindOf(raw) {
		case 'n':
		case '"':
			out = append(out, in.string(key, raw))
		case '{', '[':
			dropped++
		default:
			spelled++
			out = append(out, string(raw))
		}
	}
	if spelled > 0 {
		in.report.note("%s: items that are no texts were read as texts (%d)", key, spelled)
	}
	if dropped > 0 {
		in.report.note("%s: lists and objects among the items were left out (%d)", key, dropped)
	}
	return out
}
