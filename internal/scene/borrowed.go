package scene

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// mostBorrowed is how many moods, and how many fragments, a card may bring.
const mostBorrowed = 50

// borrowedOrder is the Order of the first fragment of the cast's cards, behind
// all that people made.
const borrowedOrder = 10000

// fragments reads the moods and fragments that a card brings along, at
// orb.fragments of its extensions, which others write, too: what cannot be used
// is left out, what does not fit has its default. Those that are turned off are
// not among them.
func (c Card) fragments() (moods []Mood, fragments []Fragment) {
	var lists struct {
		Mood        json.RawMessage `json:"mood"`
		Interactive json.RawMessage `json:"interactive"`
	}
	_ = json.Unmarshal(get(c.Extensions, "orb", "fragments"), &lists)
	for _, b := range borrowed(lists.Mood) {
		moods = append(moods, Mood{
			ID: b.id, Label: b.label, Description: b.text("description"), Prompt: b.text("prompt_text"),
			NegativePrompt: b.text("negative_prompt"), Enabled: true, Cooldown: b.cooldown(),
		})
	}
	for _, b := range borrowed(lists.Interactive) {
		f := Fragment{
			ID: b.id, Label: b.label, Description: b.text("description"), Type: b.text("field_type"),
			Required: b.flag("required", false), Enabled: true, Heading: b.text("injection_label"),
			Cooldown: b.cooldown(), Options: b.options(),
		}
		if settleFragment(&f) != nil {
			f.Type = "string"
		}
		fragments = append(fragments, f)
	}
	return moods, fragments
}

// borrowing is a mood or fragment as it stands in a card.
type borrowing struct {
	id, label string
	fields    map[string]json.RawMessage
}

// borrowedID is what a card may call what it brings: narrower than what people
// may, as the format has it.
var borrowedID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// borrowed reads one of a card's lists. The first with an id counts, even when
// it is turned off.
func borrowed(raw json.RawMessage) (out []borrowing) {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	seen := map[string]bool{}
	for _, item := range list {
		b := borrowing{}
		if json.Unmarshal(item, &b.fields) != nil {
			continue
		}
		b.id, b.label = b.text("id"), b.text("label")
		if !borrowedID.MatchString(b.id) || reservedID(b.id) || needText("label", b.label) != nil || seen[b.id] {
			continue
		}
		seen[b.id] = true
		if b.flag("enabled", true) && len(out) < mostBorrowed {
			out = append(out, b)
		}
	}
	return out
}

// text is a field, empty when it is none.
func (b borrowing) text(name string) (text string) {
	_ = json.Unmarshal(b.fields[name], &text)
	return text
}

func (b borrowing) flag(name string, otherwise bool) bool {
	if v, ok := flag(b.fields[name]); ok {
		return v
	}
	return otherwise
}

func (b borrowing) cooldown() (turns int) {
	_ = json.Unmarshal(b.fields["cooldown_turns"], &turns)
	return min(max(turns, 0), mostCooldown)
}

// options are what only a fragment's type knows. Some programs write them
// beside the other fields.
func (b borrowing) options() json.RawMessage {
	if raw, err := asObject("options", b.fields["options"]); err == nil && string(raw) != "{}" {
		return raw
	}
	rest := maps.Clone(b.fields)
	maps.DeleteFunc(rest, func(name string, _ json.RawMessage) bool {
		return slices.Contains(strings.Fields("id label description field_type required enabled injection_label sort_order cooldown_turns options"), name)
	})
	raw, err := json.Marshal(rest)
	if err != nil {
		return nil
	}
	return raw
}
