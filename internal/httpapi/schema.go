package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// newSchemas returns the registry of the wire types. Errors that huma makes
// are described as ours.
func newSchemas() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	r.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[Problem]())
	return r
}

// tidySchemas makes the description say what goes over the wire: a list is
// never null, and that unknown fields are ignored is no promise of any.
func tidySchemas(doc *huma.OpenAPI) {
	for _, s := range doc.Components.Schemas.Map() {
		tidy(s)
	}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete} {
			if op == nil {
				continue
			}
			for _, answer := range op.Responses {
				tidyContent(answer.Content)
			}
			if op.RequestBody != nil {
				tidyContent(op.RequestBody.Content)
			}
		}
	}
}

func tidyContent(content map[string]*huma.MediaType) {
	for _, media := range content {
		tidy(media.Schema)
	}
}

func tidy(s *huma.Schema) {
	if s == nil || s.Ref != "" {
		return
	}
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	switch more := s.AdditionalProperties.(type) {
	case bool:
		s.AdditionalProperties = nil
	case *huma.Schema:
		tidy(more)
	}
	tidy(s.Items)
	for _, property := range s.Properties {
		tidy(property)
	}
}

// fillSlices makes every nil slice that v holds an empty one, so that lists go
// out as []. Bytes and interfaces are left alone.
func fillSlices(v any) { fill(reflect.ValueOf(v)) }

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fill(v.Index(i))
		}
	}
}
