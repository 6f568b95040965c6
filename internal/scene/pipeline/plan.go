package pipeline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/internal/kernel/exchange"
	"jp/internal/scene"
)

// Choose returns who speaks. A pin wins over everything; Manual without one
// rests; a Director without a plan that can be read gives way to the round.
func Choose(s scene.Snapshot, pin *string, directed []exchange.Slot, ok bool) []exchange.Slot {
	switch mode := s.Conversation.TurnMode; {
	case pin != nil:
		return []exchange.Slot{{Speaker: *pin}}
	case mode == scene.Manual:
		return nil
	case mode == scene.Director && ok:
		return directed
	}
	return RoundRobin(s)
}

// RoundRobin returns the member whose turn it is: the next that may speak after
// the place of the last speaker, also if that one is muted now or has left. It
// is nobody when all are muted.
func RoundRobin(s scene.Snapshot) []exchange.Slot {
	may := s.Eligible()
	if len(may) == 0 {
		return nil
	}
	next := 0
	if last, ok := lastSpeaker(s); ok {
		next = max(0, slices.IndexFunc(may, func(m scene.Member) bool { return follows(m, last) }))
	}
	return []exchange.Slot{{Speaker: may[next].ID}}
}

// lastSpeaker returns who spoke last on the visible branch.
func lastSpeaker(s scene.Snapshot) (scene.Member, bool) {
	for _, step := range slices.Backward(s.Path) {
		if step.SpeakerID != nil {
			return s.Member(*step.SpeakerID)
		}
	}
	return scene.Member{}, false
}

// follows tells whether m stands behind last in the roster. Who left keeps the
// number of a place that the next one has moved into.
func follows(m, last scene.Member) bool {
	if !last.Active {
		return m.Order >= last.Order
	}
	return cmp.Or(cmp.Compare(m.Order, last.Order), cmp.Compare(m.ID, last.ID)) > 0
}

// ParsePlan reads the speaking plan in a Director's answer: lines of a speaker
// and a cue, asked for as "key — cue". It reads lists, lists in a string,
// objects like {"speaker", "cue"} and text of several lines, and looks through
// quotes, list signs and Markdown around a name, but never at what a model
// only thought. A name is a member's id, key or name in any case, the longest
// first; only eligible ones count. The same speaker twice in a row is one slot,
// and there are never more than most.
//
// An empty list is a plan: rest. ok is false when there is none, or when
// nothing in it names anybody.
func ParsePlan(raw json.RawMessage, eligible []scene.Member, most int) (plan []exchange.Slot, ok bool) {
	v, read := readLoose(string(raw))
	if !read {
		return nil, false
	}
	p := planner{labels: labelsOf(eligible), most: most}
	p.value(v, 0)
	return p.plan, len(p.plan) > 0 || isRest(v, 0)
}

// mostWrapping is how many layers of lists, strings and objects are looked
// through for what was asked.
const mostWrapping = 4

// isRest tells whether v is an empty list, whatever it is wrapped in.
func isRest(v any, depth int) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case string:
		inner, ok := listIn(v)
		return ok && depth < mostWrapping && isRest(inner, depth+1)
	case looseObject:
		inner, ok := v.first(planFields()...)
		return ok && depth < mostWrapping && isRest(inner, depth+1)
	}
	return false
}

// listIn returns the list or object that a text holds, in a fence or not.
func listIn(text string) (any, bool) {
	text = strings.TrimSpace(unfenced(withoutThought(text)))
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return nil, false
	}
	return readLoose(text)
}

// Names that models give to the parts of a plan.
func planFields() []string { return []string{"speaking_plan", "plan", "speakers"} }
func speakerFields() []string {
	return []string{"speaker", "speaker_key", "member", "member_id", "key", "id", "name", "character"}
}
func cueFields() []string { return []string{"cue", "instruction", "direction", "line", "text"} }

// label is a way to name a member.
type label struct {
	text, member string
}

// labelsOf returns all ways to name members, the longest first.
func labelsOf(members []scene.Member) []label {
	var all []label
	for _, m := range members {
		for _, text := range []string{m.Key, m.Name, m.ID} {
			if text = strings.TrimSpace(text); text != "" {
				all = append(all, label{text, m.ID})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b label) int {
		return cmp.Compare(utf8.RuneCountInString(b.text), utf8.RuneCountInString(a.text))
	})
	return all
}

// planner fills a plan.
type planner struct {
	labels []label
	most   int
	plan   []exchange.Slot
}

func (p *planner) add(member, cue string) {
	n := len(p.plan)
	if n >= p.most || n > 0 && p.plan[n-1].Speaker == member {
		return
	}
	p.plan = append(p.plan, exchange.Slot{Speaker: member, Cue: strings.Join(strings.Fields(cue), " ")})
}

// value takes the slots of a value.
func (p *planner) value(v any, depth int) {
	if depth > mostWrapping {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			p.value(e, depth+1)
		}
	case looseObject:
		p.object(v, depth)
	case string:
		before := len(p.plan)
		if inner, ok := listIn(v); ok {
			p.value(inner, depth+1)
		}
		if len(p.plan) == before {
			p.lines(withoutThought(v))
		}
	}
}

// object takes {"plan": […]}, {"speaker": …, "cue": …} or {"alice": "cue"}.
func (p *planner) object(o looseObject, depth int) {
	if inner, ok := o.first(planFields()...); ok {
		p.value(inner, depth+1)
		return
	}
	if who, ok := o.first(speakerFields()...); ok {
		name, _ := who.(string)
		cue, _ := o.first(cueFields()...)
		text, _ := cue.(string)
		if n, ok := p.named(name, ""); ok {
			p.add(n.member, cmp.Or(strings.TrimSpace(text), n.cue()))
		}
		return
	}
	for _, f := range o {
		cue, _ := f.value.(string)
		if n, ok := p.named(f.name, ""); ok {
			p.add(n.member, cue)
		}
	}
}

// lines takes each line that begins with a name.
func (p *planner) lines(text string) {
	for line := range strings.Lines(text) {
		n, ok := p.named(line, "")
		if !ok {
			continue
		}
		more, all := p.list(n)
		if !all {
			p.add(n.member, n.cue())
			continue
		}
		p.add(n.member, "")
		for _, m := range more {
			p.add(m, "")
		}
	}
}

// naming is a name that a line begins with.
type naming struct {
	member string
	rest   string // of the line
	open   string // what has yet to close around the name or the line, innermost first
}

// mostOrnaments is how much may stand before a name, in bytes.
const mostOrnaments = 40

// named finds the member that a line begins with, behind what models put
// before names: list signs, numbers, quotes, Markdown.
func (p *planner) named(line, open string) (naming, bool) {
	line = strings.TrimSpace(line)
	for at := 0; at < min(len(line), mostOrnaments); {
		if n, ok := p.label(line[at:], open); ok {
			return n, true
		}
		n, closer := ornament(line[at:])
		switch {
		case n == 0:
			return naming{}, false
		case closer != "":
			open = closer + open
		case line[at] == ' ': // a sign with a space behind it is one of a list
			open = strings.TrimLeft(open, "*_")
		}
		at += n
	}
	return naming{}, false
}

// label finds the longest label that s begins with and that ends there.
func (p *planner) label(s, open string) (naming, bool) {
	for _, l := range p.labels {
		if n, ok := foldedPrefix(s, l.text); ok {
			rest, open := closed(s[n:], open)
			if r, _ := utf8.DecodeRuneInString(rest); rest == "" || unicode.IsSpace(r) || strings.ContainsRune(marks, r) {
				return naming{l.member, rest, open}, true
			}
		}
	}
	return naming{}, false
}

// marks may follow a name, and part it from its cue.
const marks = "—–-:.,;/|→"

// cue is what follows the name; one mark may part the two.
func (n naming) cue() string {
	rest := strings.TrimSpace(n.rest)
	if r, size := utf8.DecodeRuneInString(rest); rest != "" && strings.ContainsRune(marks, r) {
		rest = rest[size:]
	}
	rest, open := closed(strings.TrimSpace(rest), n.open)
	return strings.TrimSuffix(rest, open)
}

// closed takes off what closes at the start of s.
func closed(s, open string) (rest, still string) {
	for open != "" {
		r, n := utf8.DecodeRuneInString(open)
		after, ok := strings.CutPrefix(s, string(r))
		if !ok {
			break
		}
		s, open = after, open[n:]
	}
	return s, open
}

// list reads what follows a first name as nothing but more names: ", Bob and
// Cara". Of names that "or" joins the first is meant.
func (p *planner) list(n naming) (more []string, all bool) {
	either := false
	for {
		rest, _ := closed(strings.TrimSpace(n.rest), n.open)
		if strings.Trim(rest, ". ") == "" {
			break
		}
		length, or := conjunction(n.rest)
		next, ok := p.named(n.rest[length:], n.open)
		if length == 0 || !ok {
			return nil, false
		}
		either = either || or
		more, n = append(more, next.member), next
	}
	if either {
		more = nil
	}
	return more, true
}

// conjunction is how long what joins names at the start of s is.
func conjunction(s string) (n int, or bool) {
	trimmed := strings.TrimLeftFunc(s, unicode.IsSpace)
	spaced := len(s) - len(trimmed)
	for _, mark := range []string{",", ";", "/", "&", "+", "|", "->", "→"} {
		if strings.HasPrefix(trimmed, mark) {
			n = spaced + len(mark)
			more, alternative := conjunction(s[n:]) // ", and"
			return n + more, alternative
		}
	}
	for _, word := range []string{"and ", "then ", "or "} {
		if spaced > 0 && len(trimmed) >= len(word) && strings.EqualFold(trimmed[:len(word)], word) {
			return spaced + len(word), word == "or "
		}
	}
	return 0, false
}

// ornament is how long the sign before a name at the start of s is, and what
// closes it, if anything does.
func ornament(s string) (length int, closer string) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < len(s) && strings.IndexByte(".):", s[digits]) >= 0 {
		return digits + 1, ""
	}
	r, n := utf8.DecodeRuneInString(s)
	if unicode.IsSpace(r) || strings.ContainsRune(">#@-–—•·+", r) {
		return n, ""
	}
	pairs := []rune("**__``~~\"\"''“”‘’«»„“()[]{}<>")
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == r {
			return n, string(pairs[i+1])
		}
	}
	return 0, ""
}

// foldedPrefix tells whether s begins with prefix in any case, and how long
// that is in s.
func foldedPrefix(s, prefix string) (n int, ok bool) {
	for range utf8.RuneCountInString(prefix) {
		_, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 {
			return 0, false
		}
		n += size
	}
	return n, strings.EqualFold(s[:n], prefix)
}
