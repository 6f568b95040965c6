package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"jp/internal/scene"
)

// Opt is a field of a partial update that may be absent, null or a value.
// Without Set the field was absent. It is written as `json:"x,omitzero"`.
type Opt[T any] struct {
	Set  bool
	Null bool
	V    T
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Opt[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	if string(b) == "null" {
		o.Null = true
		return nil
	}
	return json.Unmarshal(b, &o.V)
}

// MarshalJSON implements json.Marshaler.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.Set || o.Null {
		return []byte("null"), nil
	}
	return json.Marshal(o.V)
}

// IsZero tells encoding/json to leave an absent field out.
func (o Opt[T]) IsZero() bool { return !o.Set }

// Schema implements huma.SchemaProvider.
func (o Opt[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	switch { // what has no type of its own cannot have "null" beside it
	case s.Type != "":
		s.Nullable = true
	case s.OneOf != nil:
		s.OneOf = append(slices.Clone(s.OneOf), &huma.Schema{Type: "null", Enum: []any{nil}})
	}
	s.PrecomputeMessages()
	return &s
}

// Enum is an Opt of a closed set, which its field names in the tag enum. Null
// does not fit: 422.
type Enum[T ~string] struct{ Opt[T] }

// Schema implements huma.SchemaProvider.
func (e Enum[T]) Schema(r huma.Registry) *huma.Schema {
	s := e.Opt.Schema(r)
	s.Nullable = false
	return s
}

// Resolve implements huma.ResolverWithPath.
func (e *Enum[T]) Resolve(_ huma.Context, path *huma.PathBuffer) []error {
	if !e.Null {
		return nil
	}
	return []error{&huma.ErrorDetail{Location: path.String(), Message: "null is none of the values"}}
}

var _ huma.ResolverWithPath = (*Enum[string])(nil)

// value is a change of a field that cannot be null: null leaves it alone.
func value[T any](o Opt[T]) scene.Change[T] {
	return scene.Change[T]{Set: o.Set && !o.Null, To: o.V}
}

// clearable is a change of a field that null clears.
func clearable[T any](o Opt[T]) scene.Change[*T] {
	c := scene.Change[*T]{Set: o.Set}
	if o.Set && !o.Null {
		c.To = &o.V
	}
	return c
}

// Flag is a truth value that goes out as 0 or 1, as clients of this API know
// it, and comes in as either or as a boolean.
type Flag bool

// MarshalJSON implements json.Marshaler.
func (f Flag) MarshalJSON() ([]byte, error) {
	if f {
		return []byte("1"), nil
	}
	return []byte("0"), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *Flag) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "1", "true":
		*f = true
	case "0", "false", "null":
		*f = false
	default:
		return &json.UnmarshalTypeError{Value: string(b), Type: reflect.TypeFor[Flag]()}
	}
	return nil
}

// Schema implements huma.SchemaProvider.
func (f Flag) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeInteger, Enum: []any{0.0, 1.0}},
		{Type: huma.TypeBoolean},
	}}
}

// IfMatch is embedded in the inputs of operations that refuse to overwrite what
// somebody else changed since.
type IfMatch struct {
	IfMatch string `header:"If-Match" doc:"The revision that the change is based on, as in the ETag; a newer one is a 409"`
}

// revision is the one that the client has seen, nil when it does not say.
func (m IfMatch) revision() (*int64, error) {
	text := strings.TrimSpace(m.IfMatch)
	if text == "" || text == "*" {
		return nil, nil
	}
	n, err := strconv.ParseInt(strings.Trim(strings.TrimPrefix(text, "W/"), `"`), 10, 64)
	if err != nil {
		return nil, misfit("this is no revision", "header", "If-Match")
	}
	return &n, nil
}

// etag is a revision as the ETag header carries it.
func etag(revision int64) string { return strconv.Quote(strconv.FormatInt(revision, 10)) }

// stamp is a time on the wire: ISO 8601, UTC, microseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
