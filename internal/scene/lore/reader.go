package lore

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// reader reads values that may be of the wrong type, and remembers what it had
// to change.
type reader struct {
	at    string // what is being read, for the notes
	notes []*note
	// the formats, made once for all entries
	card, info dialect
}

// note is one kind of change, told once for all the places it was made at.
type note struct {
	what  string
	first string
	more  int
}

func (r *reader) note(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	for _, n := range r.notes {
		if n.what == what {
			n.more++
			return
		}
	}
	r.notes = append(r.notes, &note{what: what, first: r.at})
}

// lines are the notes as sentences.
func (r *reader) lines() []string {
	var out []string
	for _, n := range r.notes {
		where := n.first
		switch {
		case n.more == 1:
			where += " and one more"
		case n.more > 1:
			where += fmt.Sprintf(" and %d more", n.more)
		}
		out = append(out, n.what+" ("+where+")")
	}
	return out
}

// text reads a string; false when there is none.
func (r *reader) text(name string, raw json.RawMessage) (string, bool) {
	s, exact, ok := asText(raw)
	switch {
	case !ok:
		r.note("%s is no text and was left out", name)
	case !exact:
		r.note("%s was no text and was read as one", name)
	}
	return s, ok
}

// asText reads a string, or a number or a truth value as one.
func asText(raw json.RawMessage) (s string, exact, ok bool) {
	if json.Unmarshal(raw, &s) == nil {
		return s, true, true
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String(), false, true
	}
	var b bool
	if json.Unmarshal(raw, &b) == nil {
		return strconv.FormatBool(b), false, true
	}
	return "", false, false
}

// number reads a whole number; false when there is none.
func (r *reader) number(name string, raw json.RawMessage) (int, bool) {
	n, exact, ok := asNumber(raw)
	switch {
	case !ok:
		r.note("%s is no number and was left out", name)
	case !exact:
		r.note("%s was no whole number and was read as one", name)
	}
	return n, ok
}

// asNumber reads a number, also inside a string, and rounds it. What does not
// fit 32 bits is no number of a lorebook.
func asNumber(raw json.RawMessage) (n int, exact, ok bool) {
	s := string(raw)
	quoted := json.Unmarshal(raw, &s) == nil
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false, false
	}
	whole := math.Round(f)
	return int(whole), !quoted && whole == f, true
}

// flag reads a truth value; false when there is none.
func (r *reader) flag(name string, raw json.RawMessage) (v, ok bool) {
	if json.Unmarshal(raw, &v) == nil {
		return v, true
	}
	s, text, _ := asText(raw)
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "yes", "on":
		v = true
	case "false", "0", "no", "off":
	default:
		r.note("%s is neither true nor false and was left out", plain(name))
		return false, false
	}
	if text { // 0 and 1 are how databases write them
		r.note("%s was no truth value and was read as one", plain(name))
	}
	return v, true
}

// keys reads a list of keys. A string stands for a list with commas, unless it
// is one pattern. False when it is neither.
func (r *reader) keys(name string, raw json.RawMessage) ([]string, bool) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		s, _, ok := asText(raw)
		if !ok {
			r.note("%s is no list and was left out", name)
			return nil, false
		}
		if strings.TrimSpace(s) != "" {
			r.note("%s was no list and was read as one", name)
		}
		return splitKeys(s), true
	}
	var keys []string
	for _, item := range items {
		s, exact, ok := asText(item)
		switch {
		case !ok, isNull(item), strings.TrimSpace(s) == "":
			r.note("%s had an empty key, which was left out", name)
			continue
		case !exact:
			r.note("%s had a key that was no text and was read as one", name)
		}
		keys = append(keys, s)
	}
	return keys, true
}

func splitKeys(s string) []string {
	if _, ok := Pattern(strings.TrimSpace(s)); ok {
		return []string{strings.TrimSpace(s)}
	}
	var keys []string
	for key := range strings.SplitSeq(s, ",") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}
