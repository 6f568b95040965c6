package httpapi

import (
	"bytes"
	"encoding/json"
)

// library registers the routes of all that scenes draw on.
func (a *api) library() {
	a.characters()
	a.avatars()
	a.imports()
	a.exports()
	a.worlds()
	a.entries()
	a.personas()
	a.fragments()
	a.phrases()
	a.settings()
	a.endpoints()
	a.models()
}

// ByID is the input of an operation on one row.
type ByID struct {
	ID string `path:"id"`
}

// resulting is a row on the wire.
func resulting[Row, Wire any](row Row, err error, wire func(Row) Wire) (*body[Wire], error) {
	if err != nil {
		return nil, err
	}
	return &body[Wire]{wire(row)}, nil
}

// results are rows on the wire.
func results[Row, Wire any](rows []Row, err error, wire func(Row) Wire) (*body[[]Wire], error) {
	if err != nil {
		return nil, err
	}
	out := make([]Wire, 0, len(rows))
	for _, row := range rows {
		out = append(out, wire(row))
	}
	return &body[[]Wire]{out}, nil
}

// anObject refuses JSON that is there and is no object.
func anObject(raw json.RawMessage, field string) error {
	if raw = given(raw); raw != nil && raw[0] != '{' {
		return misfit("expected object", "body", field)
	}
	return nil
}

// given is JSON that is there; null counts as absent.
func given(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// object is stored JSON, with {} for nothing.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// or is a field's value, or what it is when it is not given.
func or[T any](o Opt[T], otherwise T) T {
	if !o.Set || o.Null {
		return otherwise
	}
	return o.V
}

// orNull is or for a field that null empties.
func orNull[T any](o Opt[T], otherwise *T) *T {
	switch {
	case !o.Set:
		return otherwise
	case o.Null:
		return nil
	}
	return &o.V
}

// on is or for a flag.
func on(o Opt[Flag], otherwise bool) bool { return bool(or(o, Flag(otherwise))) }
