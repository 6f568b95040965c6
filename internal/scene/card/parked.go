package card

import (
	"encoding/json"
	"slices"

	"jp/internal/scene"
)

// parked is what a card says beyond the fields that a scene.Card has. It waits
// in the card's extensions, at orb, for the card's way out.
type parked struct {
	v3    object // fields that only V3 has
	extra object // fields of data that nobody knows
	outer object // fields outside data that nobody knows
}

func (p *parked) bags() []struct {
	name string
	bag  *object
} {
	return []struct {
		name string
		bag  *object
	}{{"v3", &p.v3}, {"extra", &p.extra}, {"outer", &p.outer}}
}

// unpark takes the bags out of the extensions. An orb that held nothing else
// goes, too.
func unpark(ext *object) (p parked) {
	orb, _, ok := parseObject(ext.get("orb"))
	if !ok {
		return p
	}
	found := false
	for _, b := range p.bags() {
		if bag, _, ok := parseObject(orb.get(b.name)); ok {
			*b.bag = bag
			orb.remove(b.name)
			found = true
		}
	}
	switch {
	case found && len(orb.keys) == 0:
		ext.remove("orb")
	case found:
		ext.set("orb", orb.encode())
	}
	return p
}

// park puts the bags into the extensions, always at their end, so that a card
// that went out and came in again is spelled the same.
func (p *parked) park(ext *object) {
	orb, _, _ := parseObject(ext.get("orb"))
	full := false
	for _, b := range p.bags() {
		if len(b.bag.keys) > 0 {
			orb.remove(b.name)
			orb.set(b.name, b.bag.encode())
			full = true
		}
	}
	if full {
		ext.remove("orb")
		ext.set("orb", orb.encode())
	}
}

// extensions are a card's extensions with everything parked in them that has
// no other place.
func (in *reader) extensions() json.RawMessage {
	ext := in.object("extensions")
	p := unpark(&ext)
	for _, key := range v3Names {
		if raw := in.raw(key, ""); raw != nil && !(key == "group_only_greetings" && isEmptyList(raw)) {
			p.v3.set(key, raw)
		}
	}
	var kept []string
	for _, side := range []struct {
		from  object
		outer bool
		bag   *object
	}{{in.data, false, &p.extra}, {in.outer, true, &p.outer}} {
		for _, key := range side.from.keys {
			if !known(key, side.outer) {
				side.bag.set(key, side.from.values[key])
				kept = append(kept, key)
			}
		}
	}
	if len(kept) > 0 {
		in.report.note("fields that mean nothing here are kept for the way out: %s", listed(kept))
	}
	if orb := ext.get("orb"); orb != nil && kindOf(orb) != '{' && !p.empty() {
		in.report.note("extensions.orb: it was no object and was left out")
	}
	p.park(&ext)
	return ext.encode()
}

func (p *parked) empty() bool {
	return len(p.v3.keys)+len(p.extra.keys)+len(p.outer.keys) == 0
}

// isEmptyList: V3 demands a list of group greetings even from who has none.
func isEmptyList(raw json.RawMessage) bool {
	items, ok := parseList(raw)
	return ok && len(items) == 0
}

// object reads a field that is an object, from outside data first, so that
// data's word is the last.
func (in *reader) object(key string) (o object) {
	for _, raw := range []json.RawMessage{in.outer.get(key), in.data.get(key)} {
		part, twice, ok := parseObject(raw)
		if raw != nil && !ok && !isEmptyList(raw) {
			in.report.note("%s: it was no object and was left out", key)
		}
		if len(twice) > 0 {
			in.report.note("%s: of the fields that are there more than once the last was taken: %s", key, listed(twice))
		}
		o.merge(part)
	}
	return o
}

// lift returns the extensions without what was parked in them, and that. Where
// v3 is false, V3's fields stay.
func lift(c scene.Card, v3 bool) (ext object, p parked) {
	ext, _, _ = parseObject(compactObject(c.Extensions))
	p = unpark(&ext)
	var stay parked
	for _, b := range []struct {
		from, to *object
		leaves   func(key string) bool
	}{
		{&p.v3, &stay.v3, func(key string) bool { return v3 && slices.Contains(v3Names, key) }},
		{&p.extra, &stay.extra, func(key string) bool { return !known(key, false) }},
		{&p.outer, &stay.outer, func(key string) bool { return !known(key, true) }},
	} {
		var out object
		for _, key := range b.from.keys {
			if b.leaves(key) {
				out.set(key, b.from.values[key])
			} else {
				b.to.set(key, b.from.values[key])
			}
		}
		*b.from = out
	}
	stay.park(&ext)
	return ext, p
}
