package scene

import (
	"bytes"
	"encoding/json"
	"strings"

	"jp/internal/lib/literal"
)

// asObject returns raw if it is a JSON object, and an empty one for nothing or
// null.
func asObject(field string, raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if raw[0] != '{' || !json.Valid(raw) {
		return nil, misfit(field, "%s must be a JSON object", strings.ReplaceAll(field, "_", " "))
	}
	return raw, nil
}

// put returns the object with the value at a path of keys replaced or added.
// What is on the way and is no object becomes one. All other bytes stay as they
// are: the order of foreign keys and the spelling of their numbers too.
func put(object, value json.RawMessage, path ...string) json.RawMessage {
	if len(path) == 0 {
		return value
	}
	object = bytes.TrimSpace(object)
	if !json.Valid(object) || object[0] != '{' {
		object = json.RawMessage("{}")
	}
	from, to, found := member(object, path[0])
	inner := put(object[from:to], value, path[1:]...)
	if !found {
		inner = append(append(quoted(path[0]), ':'), inner...)
		if from > 1 {
			inner = append([]byte{','}, inner...)
		}
	}
	return bytes.Join([][]byte{object[:from], inner, object[to:]}, nil)
}

// get returns the value at a path of keys, nil when there is none.
func get(object json.RawMessage, path ...string) json.RawMessage {
	for _, key := range path {
		object = bytes.TrimSpace(object)
		if !json.Valid(object) || object[0] != '{' {
			return nil
		}
		from, to, found := member(object, key)
		if !found {
			return nil
		}
		object = object[from:to]
	}
	return object
}

// member finds the value of a key in a valid object: the last one when the key
// is there twice, as readers do. Without one, from and to are where a member
// can be added.
func member(object json.RawMessage, key string) (from, to int, found bool) {
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token() // the object is valid, nothing here can fail
	end := 1
	for dec.More() {
		name, _ := dec.Token()
		var value json.RawMessage
		_ = dec.Decode(&value)
		end = int(dec.InputOffset())
		if name == key {
			from, to, found = end-len(value), end, true
		}
	}
	if !found {
		from, to = end, end
	}
	return from, to, found
}

// quoted is a string in JSON.
func quoted(s string) json.RawMessage { return literal.Must(s) }
