package scene

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"jp/internal/lib/fault"
)

// Settings returns the settings of the installation.
func (s *Service) Settings(ctx context.Context) (Settings, error) {
	return read(ctx, s, func(tx Tx) (Settings, error) { return tx.Settings.Get() })
}

// ChangeSettings merges a JSON object into the settings. A field that is absent
// stays, and so does one that cannot be null and is; null clears an id. Objects
// are merged key by key, where null removes a key, so that two pages that turn
// different switches do not undo each other. 0 and 1 stand for false and true.
// Unknown fields, unknown names of tools and Connected are ignored. Errors: Invalid for
// a value that does not fit, which names the field; nothing is changed then.
func (s *Service) ChangeSettings(ctx context.Context, patch json.RawMessage) (Settings, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(patch, &fields); err != nil || fields == nil {
		return Settings{}, fault.New(fault.Invalid, "the settings are no JSON object")
	}
	return write(ctx, s, func(tx Tx) (Settings, error) {
		old, err := tx.Settings.Get()
		if err != nil {
			return Settings{}, err
		}
		set := old
		value := reflect.ValueOf(&set).Elem()
		for i := range value.NumField() {
			name := value.Type().Field(i).Tag.Get("json")
			if raw, there := fields[name]; there && !merge(value.Field(i), raw) {
				return Settings{}, misfit(name, "%s cannot be %s", name, kindOfJSON(raw))
			}
		}
		set.Connected = old.Connected
		maps.DeleteFunc(set.EnabledTools, func(tool string, _ bool) bool { return !slices.Contains(tools(), tool) })
		if err := s.checkSettings(tx, set, old); err != nil {
			return Settings{}, err
		}
		return set, tx.Settings.Save(set)
	})
}

// merge writes a JSON value into a field of the settings; false if it does not
// fit. Maps are replaced by changed copies: the old settings are still there.
func merge(field reflect.Value, raw json.RawMessage) bool {
	null := string(raw) == "null"
	switch to := field.Addr().Interface().(type) {
	case **string:
		var id *string
		err := json.Unmarshal(raw, &id)
		if id != nil && *id == "" {
			id = nil
		}
		*to = id
		return err == nil
	case *map[string]bool:
		return null || mergeMap(to, raw, flag)
	case *json.RawMessage:
		object := map[string]json.RawMessage{}
		if !null && json.Unmarshal(*to, &object) == nil {
			if !mergeMap(&object, raw, func(raw json.RawMessage) (json.RawMessage, bool) { return raw, true }) {
				return false
			}
			*to, _ = json.Marshal(object) // raw values that were parsed always encode
		}
		return true
	case *bool:
		v, ok := flag(raw)
		if ok {
			*to = v
		}
		return ok || null
	}
	return json.Unmarshal(raw, field.Addr().Interface()) == nil
}

// mergeMap replaces a map by a copy with the members of a JSON object.
func mergeMap[V any](to *map[string]V, raw json.RawMessage, value func(json.RawMessage) (V, bool)) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return false
	}
	merged := maps.Clone(*to)
	if merged == nil {
		merged = map[string]V{}
	}
	for key, raw := range members {
		if string(raw) == "null" {
			delete(merged, key)
			continue
		}
		v, ok := value(raw)
		if !ok {
			return false
		}
		merged[key] = v
	}
	*to = merged
	return true
}

// flag reads a truth value.
func flag(raw json.RawMessage) (value, ok bool) {
	switch string(raw) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// kindOfJSON says what a value is, for a sentence.
func kindOfJSON(raw json.RawMessage) string {
	switch bytes.TrimSpace(raw)[0] {
	case '{':
		return "this object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a truth value"
	}
	return string(raw)
}

// checkSettings refuses settings out of bounds, and names of what is not there.
// A name that was there before may have become an empty one: files and
// environment change between starts.
func (s *Service) checkSettings(tx Tx, set, old Settings) error {
	switch {
	case set.LengthGuardMaxWords <= 0:
		return misfit("length_guard_max_words", "a reply of %d words", set.LengthGuardMaxWords).hint("allow at least one")
	case set.LengthGuardMaxParagraphs <= 0:
		return misfit("length_guard_max_paragraphs", "a reply of %d paragraphs", set.LengthGuardMaxParagraphs).hint("allow at least one")
	case set.AttachmentCacheBudget < leastCacheBudget:
		return misfit("attachment_cache_budget_bytes", "a cache of %d bytes is too small", set.AttachmentCacheBudget).
			hint("take at least %d", leastCacheBudget)
	}
	if id := set.ActivePersonaID; id != nil && !same(id, old.ActivePersonaID) {
		if err := knownPersona(tx, *id); err != nil {
			return err
		}
	}
	for _, name := range []struct{ now, before *string }{
		{set.ActiveEndpointID, old.ActiveEndpointID}, {set.AgentEndpointID, old.AgentEndpointID},
	} {
		if name.now == nil || same(name.now, name.before) {
			continue
		}
		_, known, err := lookup(s.endpoint(tx, *name.now))
		if err != nil {
			return err
		}
		if !known {
			return fault.New(fault.Invalid, "there is no endpoint %q", *name.now)
		}
	}
	return nil
}
