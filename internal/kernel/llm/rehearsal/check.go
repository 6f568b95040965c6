package rehearsal

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"unicode/utf8"
)

// valid tells whether v obeys the schema, as far as filler knows schemas.
func (f *filler) valid(schema, v any, depth int) bool {
	s, ok := schema.(object)
	if !ok {
		return schema != false
	}
	if depth > 2*maxDepth || !f.more() {
		return false
	}
	if ref, has := s["$ref"].(string); has {
		if target, found := f.resolve(ref); !found || !f.valid(target, v, depth+1) {
			return false
		}
	}
	matches := func(key string) (n int, has bool) {
		branches, has := s[key].([]any)
		for _, b := range branches {
			if f.valid(b, v, depth+1) {
				n++
			}
		}
		return n, has
	}
	if n, has := matches("allOf"); has && n != len(list(s["allOf"])) {
		return false
	}
	if n, has := matches("anyOf"); has && n == 0 {
		return false
	}
	if n, has := matches("oneOf"); has && n != 1 {
		return false
	}
	if not, has := s["not"]; has && f.valid(not, v, depth+1) {
		return false
	}
	if c, has := s["const"]; has && !reflect.DeepEqual(c, v) {
		return false
	}
	if values, has := s["enum"].([]any); has && !contains(values, v) {
		return false
	}
	return (s["type"] == nil || slices.ContainsFunc(types(s), func(t any) bool { return isOf(v, t) })) && f.bounded(s, v, depth)
}

// isOf tells whether v is of a JSON Schema type.
func isOf(v, t any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	}
	return t == "object"
}

// bounded checks what goes by the type of the value.
func (f *filler) bounded(s object, v any, depth int) bool {
	within := func(n int, least, most string) bool {
		return float64(n) >= number(s[least], 0) && float64(n) <= number(s[most], math.Inf(1))
	}
	switch v := v.(type) {
	case string:
		if pattern, has := s["pattern"].(string); has {
			if re, err := regexp.Compile(pattern); err != nil || !re.MatchString(v) {
				return false
			}
		}
		return within(utf8.RuneCountInString(v), "minLength", "maxLength")
	case float64:
		if step := number(s["multipleOf"], 0); step > 0 && math.Abs(v/step-math.Round(v/step)) > 1e-9 {
			return false
		}
		return v >= number(s["minimum"], v) && v <= number(s["maximum"], v) &&
			v > number(s["exclusiveMinimum"], math.Inf(-1)) && v < number(s["exclusiveMaximum"], math.Inf(1))
	case []any:
		first := list(s["prefixItems"])
		for i, e := range v {
			schema := s["items"]
			if i < len(first) {
				schema = first[i]
			}
			if !f.valid(schema, e, depth+1) || s["uniqueItems"] == true && contains(v[:i], e) {
				return false
			}
		}
		return within(len(v), "minItems", "maxItems")
	case object:
		for _, name := range list(s["required"]) {
			key, _ := name.(string)
			if _, has := v[key]; !has {
				return false
			}
		}
		for name, e := range v {
			schema, known := asObject(s["properties"])[name]
			if !known {
				schema = s["additionalProperties"]
			}
			if !f.valid(schema, e, depth+1) {
				return false
			}
		}
		return within(len(v), "minProperties", "maxProperties")
	}
	return true
}

// types are the types that a schema allows, those that say most first, null
// last. Without a type they are guessed from the other keywords.
func types(s object) []any {
	var out []any
	switch t := s["type"].(type) {
	case string:
		out = []any{t}
	case []any:
		out = slices.Clone(t)
	default:
		guess := []struct{ key, of string }{
			{"properties", "object"}, {"required", "object"}, {"additionalProperties", "object"}, {"minProperties", "object"},
			{"items", "array"}, {"prefixItems", "array"}, {"minItems", "array"},
			{"minimum", "number"}, {"maximum", "number"}, {"exclusiveMinimum", "number"}, {"exclusiveMaximum", "number"}, {"multipleOf", "number"},
		}
		for _, g := range guess {
			if _, has := s[g.key]; has {
				out = append(out, g.of)
			}
		}
		for _, t := range []any{"string", "number", "integer", "boolean", "object", "array", "null"} {
			if !contains(out, t) {
				out = append(out, t)
			}
		}
	}
	if at := slices.Index(out, any("null")); at >= 0 {
		out = append(slices.Delete(out, at, at+1), "null")
	}
	return out
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

func number(v any, otherwise float64) float64 {
	if n, ok := v.(float64); ok {
		return n
	}
	return otherwise
}

func contains(all []any, v any) bool {
	return slices.ContainsFunc(all, func(a any) bool { return reflect.DeepEqual(a, v) })
}
