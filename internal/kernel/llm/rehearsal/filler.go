package rehearsal

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// What bounds schemas that contain themselves, demand very much or allow
// nothing: how deep a value may be, how many of something it may need, and how
// many steps may be taken to find it.
const (
	maxDepth = 24
	maxCount = 1000
	maxSteps = 100_000
)

// filler makes values of a JSON Schema. It goes by type, enum, const, $ref
// within the document, allOf, anyOf, oneOf, and by the bounds, patterns and
// formats of strings, numbers, arrays and objects. Only what is required is
// filled in. What it does not know it ignores.
type filler struct {
	root  any
	word  string // for strings
	depth int    // how deep the value may be
	steps int    // how many were taken
}

// object is a decoded schema or value.
type object = map[string]any

// whole makes a value of the whole document, of a small depth if it can.
func (f *filler) whole() (any, bool) {
	for f.depth = 3; f.depth <= maxDepth; f.depth *= 2 {
		if v, ok := f.value(f.root, 0, 0); ok {
			return v, true
		}
	}
	return nil, false
}

// more counts a step, false when there were too many.
func (f *filler) more() bool {
	f.steps++
	return f.steps <= maxSteps
}

// value makes a value of schema; variants differ if they can. It is false when
// none is found.
func (f *filler) value(schema any, variant, depth int) (any, bool) {
	if depth > f.depth || !f.more() {
		return nil, false
	}
	flat, branches, ok := f.flatten(schema, depth)
	if !ok {
		return nil, false
	}
	if len(branches) == 0 {
		v, ok := f.simple(flat, variant, depth)
		return v, ok && f.valid(schema, v, depth)
	}
	for _, b := range branches[0] {
		rest := object{"allOf": []any{flat, b}}
		for _, more := range branches[1:] {
			rest["allOf"] = append(rest["allOf"].([]any), object{"anyOf": more})
		}
		if v, ok := f.value(rest, variant, depth+1); ok && f.valid(schema, v, depth) {
			return v, true
		}
	}
	return nil, false
}

// flatten folds $ref and allOf into one schema, and takes anyOf and oneOf out
// of it as sets of branches. It is false for a schema that allows nothing.
func (f *filler) flatten(schema any, depth int) (flat object, branches [][]any, ok bool) {
	s, isObject := schema.(object)
	if !isObject {
		return object{}, nil, schema != false
	}
	if depth > 2*maxDepth || !f.more() {
		return nil, nil, false
	}
	flat = maps.Clone(s)
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		delete(flat, key)
	}
	parts, _ := s["allOf"].([]any)
	if ref, has := s["$ref"].(string); has {
		target, found := f.resolve(ref)
		if !found {
			return nil, nil, false
		}
		parts = append([]any{target}, parts...)
	}
	for _, p := range parts {
		more, b, ok := f.flatten(p, depth+1)
		if !ok {
			return nil, nil, false
		}
		merge(flat, more)
		branches = append(branches, b...)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if b, has := s[key].([]any); has {
			branches = append(branches, b)
		}
	}
	return flat, branches, true
}

// resolve follows a reference within the document.
func (f *filler) resolve(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	at := f.root
	for _, key := range strings.Split(path, "/")[1:] {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		here, isObject := at.(object)
		if at, ok = here[key]; !isObject || !ok {
			return nil, false
		}
	}
	return at, true
}

// merge narrows into by from.
func merge(into, from object) {
	for key, b := range from {
		a, has := into[key]
		if !has {
			into[key] = b
			continue
		}
		switch key {
		case "required":
			into[key] = slices.Concat(list(a), list(b))
		case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
			into[key] = max(number(a, math.Inf(-1)), number(b, math.Inf(-1)))
		case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
			into[key] = min(number(a, math.Inf(1)), number(b, math.Inf(1)))
		case "enum":
			into[key] = slices.DeleteFunc(slices.Clone(list(a)), func(v any) bool { return !contains(list(b), v) })
		case "type":
			into[key] = both(types(into), types(from))
		case "properties":
			all := maps.Clone(asObject(a))
			for name, p := range asObject(b) {
				if q, has := all[name]; has {
					p = object{"allOf": []any{q, p}}
				}
				all[name] = p
			}
			into[key] = all
		case "items", "additionalProperties":
			into[key] = object{"allOf": []any{a, b}}
		}
	}
}

// both are the types that two sets allow; an integer is a number, too.
func both(a, b []any) []any {
	out := []any{}
	for _, t := range a {
		switch {
		case contains(b, t), t == "integer" && contains(b, "number"):
			out = append(out, t)
		case t == "number" && contains(b, "integer"):
			out = append(out, "integer")
		}
	}
	return out
}

// simple makes a value of a schema without branches.
func (f *filler) simple(s object, variant, depth int) (any, bool) {
	if v, has := s["const"]; has {
		return v, true
	}
	if values, has := s["enum"].([]any); has {
		fit := slices.DeleteFunc(slices.Clone(values), func(v any) bool { return !f.valid(s, v, depth) })
		if len(fit) == 0 {
			return nil, false
		}
		return fit[variant%len(fit)], true
	}
	for _, t := range types(s) {
		var v any
		ok := true
		switch t {
		case "object":
			v, ok = f.object(s, depth)
		case "array":
			v, ok = f.array(s, depth)
		case "string":
			v, ok = text(s, f.word, variant)
		case "integer", "number":
			v, ok = count(s, t == "integer", variant)
		case "boolean":
			v = variant%2 == 0
		case "null":
		default:
			ok = false
		}
		if ok {
			return v, true
		}
	}
	return nil, false
}

func (f *filler) object(s object, depth int) (any, bool) {
	props := asObject(s["properties"])
	names := list(s["required"])
	least, ok := atLeast(s, "minProperties")
	if !ok {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if len(names) < least && !contains(names, name) {
			names = append(names, name)
		}
	}
	out := object{}
	for _, n := range names {
		name, _ := n.(string)
		schema, known := props[name]
		if !known {
			schema = s["additionalProperties"] // absent is nil, which allows anything
		}
		v, ok := f.value(schema, 0, depth+1)
		if !ok {
			return nil, false
		}
		out[name] = v
	}
	for i := 0; len(out) < least && i < least; i++ {
		v, ok := f.value(s["additionalProperties"], i, depth+1)
		if !ok {
			return nil, false
		}
		out[fmt.Sprintf("field%d", i+1)] = v
	}
	return out, true
}

func (f *filler) array(s object, depth int) (any, bool) {
	first := list(s["prefixItems"])
	least, ok := atLeast(s, "minItems")
	if !ok {
		return nil, false
	}
	count := least
	if count == 0 && number(s["maxItems"], 1) >= 1 && len(first) == 0 {
		count = 1 // an example says more than none
	}
	out := []any{}
	for i := range count {
		schema := s["items"]
		if i < len(first) {
			schema = first[i]
		}
		v, ok := f.value(schema, i, depth+1)
		for j := 1; ok && s["uniqueItems"] == true && contains(out, v) && j < 64; j++ {
			v, ok = f.value(schema, i+j, depth+1)
		}
		if !ok {
			return out, i >= least
		}
		out = append(out, v)
	}
	return out, true
}

// atLeast reads how many of something a schema needs, false when too many.
func atLeast(s object, key string) (int, bool) {
	n := number(s[key], 0)
	return int(math.Ceil(min(max(n, 0), maxCount))), n <= maxCount
}

// count makes a number as near to 0 as the bounds allow, or variant steps on.
func count(s object, whole bool, variant int) (any, bool) {
	low, high := number(s["minimum"], math.Inf(-1)), number(s["maximum"], math.Inf(1))
	step := number(s["multipleOf"], 1)
	above, below := number(s["exclusiveMinimum"], math.Inf(-1)), number(s["exclusiveMaximum"], math.Inf(1))
	fits := func(n float64) bool { return n >= low && n <= high && n > above && n < below }
	base := step
	if whole && step != math.Trunc(step) {
		base = 1
	}
	start := 0.0
	switch from, to := max(low, above), min(high, below); {
	case from > 0 || from == 0 && above == 0:
		start = math.Ceil(from/base) * base
		if start <= above {
			start += base
		}
	case to < 0 || to == 0 && below == 0:
		start = math.Floor(to/base) * base
		if start >= below {
			start -= base
		}
	}
	for _, n := range []float64{start + float64(variant)*base, start - float64(variant)*base, start} {
		if fits(n) {
			return n, true
		}
	}
	// No multiple of 1 lies between the bounds.
	between := (max(low, above) + min(high, below)) / 2
	_, fixed := s["multipleOf"]
	return between, !whole && !fixed && fits(between)
}
