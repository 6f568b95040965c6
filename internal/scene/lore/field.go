package lore

import (
	"encoding/json"
	"slices"
	"strings"

	"jp/internal/scene"
)

// The parts of an entry that fields stand for.
func enabled(e *scene.Entry) *bool           { return &e.Enabled }
func constant(e *scene.Entry) *bool          { return &e.Constant }
func selective(e *scene.Entry) *bool         { return &e.Selective }
func ignoreCase(e *scene.Entry) *bool        { return &e.CaseInsensitive }
func wholeWords(e *scene.Entry) *bool        { return &e.WholeWords }
func order(e *scene.Entry) *int              { return &e.Order }
func priority(e *scene.Entry) *int           { return &e.Priority }
func mainKeys(e *scene.Entry) *[]string      { return &e.Keys }
func secondaryKeys(e *scene.Entry) *[]string { return &e.SecondaryKeys }

// flag is a truth value, written as it is or turned round.
func flag(name string, part func(*scene.Entry) *bool, turned bool) field {
	return field{
		name: name, always: true,
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) bool {
			v, ok := r.flag(name, raw)
			if ok {
				*part(e) = v != turned
			}
			return ok
		},
		value: func(e scene.Entry) any { return *part(&e) != turned },
	}
}

// usual is a field whose null means "as is set for all entries" elsewhere.
func usual(f field) field {
	f.keep = isNull
	return f
}

func number(name string, part func(*scene.Entry) *int, always bool) field {
	return field{
		name: name, always: always,
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) bool {
			v, ok := r.number(name, raw)
			if ok {
				*part(e) = v
			}
			return ok
		},
		value: func(e scene.Entry) any { return *part(&e) },
	}
}

func text(name string) field {
	return field{
		name: name, always: true,
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) (ok bool) {
			e.Content, ok = r.text(name, raw)
			return ok
		},
		value: func(e scene.Entry) any { return e.Content },
	}
}

// title is the field with the entry's name.
func title(name string, always bool) field {
	return field{
		name: name, always: always,
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) (ok bool) {
			e.Name, ok = r.text(name, raw)
			return ok
		},
		value: func(e scene.Entry) any { return e.Name },
	}
}

// comment is the name of an entry that has no other.
func comment() field {
	return field{
		name: "comment", always: true,
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) bool {
			s, ok := r.text("comment", raw)
			if strings.TrimSpace(e.Name) == "" {
				e.Name = s
			}
			return ok
		},
		value: func(e scene.Entry) any { return e.Name },
		keep:  func(raw json.RawMessage) bool { return raw[0] == '"' && string(raw) != `""` },
	}
}

func keys(name string, part func(*scene.Entry) *[]string) field {
	return field{
		name: name, always: true,
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) (ok bool) {
			*part(e), ok = r.keys(name, raw)
			return ok
		},
		value: func(e scene.Entry) any {
			out := list(slices.Clone(*part(&e)))
			for i := range out {
				if e.Regex {
					out[i] = slashed(out[i], e.CaseInsensitive)
				}
			}
			return out
		},
	}
}

// useRegex is written where it is true. Where a reader wants to be told, one
// pattern among the keys is enough.
func useRegex(one bool) field {
	return field{
		name: "use_regex",
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) bool {
			v, ok := r.flag("use_regex", raw)
			e.Regex = v
			return ok
		},
		value: func(e scene.Entry) any { return e.Regex || one && slices.ContainsFunc(allKeys(e), isPattern) },
	}
}

func allKeys(e scene.Entry) []string { return slices.Concat(e.Keys, e.SecondaryKeys) }

func isPattern(key string) bool {
	_, ok := Pattern(key)
	return ok
}

// behindHistory is SillyTavern's number for a place counted from the end of
// the history.
const behindHistory = 4

// position is where the entry goes. We know two places; SillyTavern's others
// are kept and count as the usual one.
func position(name string) field {
	return field{
		name: name, always: true,
		decode: func(r *reader, raw json.RawMessage, e *scene.Entry) bool {
			e.AtDepth = r.position(name, raw)
			return true
		},
		value: func(e scene.Entry) any {
			if e.AtDepth {
				return behindHistory
			}
			return 0
		},
		keep: func(raw json.RawMessage) bool {
			_, known := place(raw)
			return known
		},
	}
}

// oldPosition is that of a card's format proper, which knows before_char and
// after_char only.
func oldPosition() field {
	f := position("position")
	f.value = func(scene.Entry) any { return nil }
	return f
}

// position tells whether the entry stands behind the history.
func (r *reader) position(name string, raw json.RawMessage) bool {
	behind, known := place(raw)
	if !known {
		r.note("%s is unknown; the entry stands in its usual place", plain(name))
	}
	return behind
}

// place reads a position: whether it is behind the history, and whether it is
// one that there is.
func place(raw json.RawMessage) (behind, known bool) {
	if n, _, ok := asNumber(raw); ok {
		return n == behindHistory, n >= 0 && n <= 7
	}
	s, _, _ := asText(raw)
	return s == "at_depth", slices.Contains([]string{"before_char", "after_char", "at_depth"}, s)
}

// depth says that an entry at a depth stands at the very end, unless its
// source said another one.
func depth(name string) field {
	return field{
		name:   name,
		decode: func(*reader, json.RawMessage, *scene.Entry) bool { return true },
		value: func(e scene.Entry) any {
			if e.AtDepth {
				return 0
			}
			return nil
		},
		keep: func(json.RawMessage) bool { return true },
	}
}

// plain is a field's name without its level.
func plain(name string) string { return strings.TrimPrefix(name, ext) }
