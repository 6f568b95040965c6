package lore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// entry reads one entry; false when there is none to read.
func (r *reader) entry(i int, raw json.RawMessage) (scene.Entry, bool) {
	r.at = fmt.Sprintf("entry %d", i+1)
	f, ok := flatten(raw)
	if !ok {
		r.note("the entry is no object and was left out")
		return scene.Entry{}, false
	}
	row := fromRow(f)
	d := r.card
	if isWorldInfo(f) {
		d = r.info
	}
	r.at = label(f, r.at)
	e := absent()
	if f["extensions"] != nil && d.inCard {
		r.note("extensions is no object and was left out")
		delete(f, "extensions")
	}
	for _, x := range d.field {
		if raw := f[x.name]; !isNull(raw) && !x.decode(r, raw, &e) {
			delete(f, x.name)
		}
	}
	slashes := !d.inCard || !row && fromSillyTavern(f)
	settleRegex(&e, slashes)
	delete(f, "use_regex")
	r.unused(f, d, e)
	d.drop(f, e)
	if equal(f[d.id], i) {
		delete(f, d.id)
	}
	if len(f) > 0 {
		e.Extras = literal.Must(map[string]fields{d.name: nest(f)})
	}
	return e, true
}

// isWorldInfo tells the formats apart by the fields that only one of them has.
func isWorldInfo(f fields) bool {
	return f["keys"] == nil && (f["key"] != nil || f["keysecondary"] != nil || f["uid"] != nil || f["disable"] != nil)
}

// label is how notes name an entry.
func label(f fields, number string) string {
	for _, name := range []string{"name", "comment"} {
		s, _, _ := asText(f[name])
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if utf8.RuneCountInString(s) > 40 {
			s = string([]rune(s)[:39]) + "…"
		}
		return fmt.Sprintf("%s, %q", number, s)
	}
	return number
}

// settleRegex decides whether the entry is one of patterns, and writes those
// that need no slashes without them. Where only slashes make patterns, use_regex
// speaks of nothing but an entry without keys.
func settleRegex(e *scene.Entry, slashes bool) {
	if all := allKeys(*e); len(all) > 0 {
		literal := slices.ContainsFunc(all, func(k string) bool { return !isPattern(k) })
		e.Regex = !literal || e.Regex && !slashes
	}
	if !e.Regex {
		return
	}
	for _, keys := range [][]string{e.Keys, e.SecondaryKeys} {
		for i := range keys {
			keys[i] = bare(keys[i], e.CaseInsensitive)
		}
	}
}

// unused notes what the entry means elsewhere and does not mean here.
func (r *reader) unused(f fields, d dialect, e scene.Entry) {
	prefix := ""
	if d.inCard {
		prefix = ext
	}
	if n, _, ok := asNumber(f[prefix+"selectiveLogic"]); ok && n != 0 && e.Selective && len(e.SecondaryKeys) > 0 {
		r.note("its secondary keys have a logic that is not used: one of them is enough")
	}
	used, _, _ := asText(f[prefix+"useProbability"])
	if n, _, ok := asNumber(f[prefix+"probability"]); ok && n < 100 && used == "true" {
		r.note("its probability is kept but not used: it always fires")
	}
	for _, key := range allKeys(e) {
		expr, ok := expression(e, key)
		if !ok {
			continue
		}
		if _, _, err := compile(expr); err != nil {
			r.note("it has a pattern that cannot run here and never matches")
		}
	}
}

// drop removes from an entry's fields what the entry says.
func (d dialect) drop(f fields, e scene.Entry) {
	for _, x := range d.field {
		if raw := f[x.name]; raw != nil && (x.keep == nil || !x.keep(raw) || equal(raw, x.value(e))) {
			delete(f, x.name)
		}
	}
}

// equal tells whether a raw value says v.
func equal(raw json.RawMessage, v any) bool {
	return v != nil && bytes.Equal(literal.Must(canonical(raw)), literal.Must(v))
}
