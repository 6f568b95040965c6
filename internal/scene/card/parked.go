package card

import (
	"encoding/json"
	"slices"
)

// parked is what a card says beyond the fields that a scene.Card has. It waits
// in the card's extensions, at orb, for the card's way out.
type parked struct {
	v3    object // fields that only V3 has
	extra object // fields of data that nobody knows
	outer object // fields outside data that nobody knows
}

// bag is one part of what is parked, under its name in orb.
type bag struct {
	name string
	*object
}

func (p *parked) bags() []bag {
	return []bag{{"v3", &p.v3}, {"extra", &p.extra}, {"outer", &p.outer}}
}

// add parks a field in the bag where it belongs. A field that a Card has is
// not parked.
func (p *parked) add(key string, raw json.RawMessage, outer bool) {
	switch {
	case slices.Contains(v3Names, key):
		p.v3.set(key, raw)
	case known(key, outer):
	case outer:
		p.outer.set(key, raw)
	default:
		p.extra.set(key, raw)
	}
}

// unpark takes the bags out of the extensions. An orb that held nothing else
// goes, too.
func unpark(ext *object) (p parked) {
	orb, _, _ := parseObject(ext.get("orb"))
	found := false
	for _, b := range p.bags() {
		fields, _, ok := parseObject(orb.get(b.name))
		if !ok {
			continue
		}
		for _, key := range fields.keys {
			p.add(key, fields.values[key], b.name == "outer")
		}
		orb.remove(b.name)
		found = true
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
		if len(b.keys) > 0 {
			orb.remove(b.name)
			orb.set(b.name, b.encode())
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
	if orb := ext.get("orb"); orb != nil && kindOf(orb) != '{' {
		in.report.note("extensions.orb: it was no object and was left out")
		ext.remove("orb")
	}
	p.v3 = in.v3Fields(p.v3)
	var kept []string
	for _, key := range in.data.keys {
		if !known(key, false) {
			p.extra.set(key, in.data.values[key])
			kept = append(kept, key)
		}
	}
	for _, key := range in.outer.keys {
		if !known(key, true) {
			p.outer.set(key, in.outer.values[key])
			kept = append(kept, key)
		}
	}
	if len(kept) > 0 {
		in.report.note("fields that mean nothing here are kept for the way out: %s", listed(kept))
	}
	p.park(&ext)
	return ext.encode()
}

// v3Fields are the fields that only V3 has, in their order: what the card says
// now before what it had parked. V3 demands a list of group greetings even from
// who has none, so an empty one says nothing.
func (in *reader) v3Fields(parked object) (out object) {
	for _, key := range v3Names {
		raw := in.raw(key, "")
		if raw == nil {
			raw = parked.get(key)
		}
		if raw == nil || key == "group_only_greetings" && isEmptyList(raw) {
			continue
		}
		out.set(key, raw)
	}
	return out
}

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
