package rehearsal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// TestFill: each schema gets a value that a person finds valid; the property
// below holds it against a validator's own words.
func TestFill(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"none", ``, `{}`},
		{"anything", `true`, `"word"`},
		{"nothing is possible", `false`, `{}`},
		{"required only", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["b"]}`, `{"b":0}`},
		{"recorded", `{"type":"object","properties":{"foo":{"type":["string","null"],"default":"foo"},"bar":{"type":["string","array"],"enum":["foo"],"items":{"type":"string","enum":["foo","bar"]}}},"additionalProperties":false,"required":["foo","bar"]}`, `{"bar":"foo","foo":"word"}`},
		{"null last", `{"type":["null","boolean"]}`, `true`},
		{"null alone", `{"type":"null"}`, `null`},
		{"const", `{"const":{"a":[1]}}`, `{"a":[1]}`},
		{"enum of the right type", `{"type":"integer","enum":["a",1.5,7]}`, `7`},
		{"titles", `{"type":"object","required":["titles"],"properties":{"titles":{"type":"array","minItems":1,"maxItems":1,"items":{"type":"string","maxLength":3}}}}`, `{"titles":["wor"]}`},
		{"unknown required", `{"type":"object","required":["x"],"additionalProperties":{"type":"boolean"}}`, `{"x":true}`},
		{"least properties", `{"type":"object","minProperties":2,"properties":{"a":{"type":"null"}},"additionalProperties":{"type":"integer"}}`, `{"a":null,"field1":0}`},
		{"unique items", `{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string"}}`, `["word","word 2","word 3"]`},
		{"unique enum", `{"type":"array","minItems":2,"uniqueItems":true,"items":{"enum":["a","b"]}}`, `["a","b"]`},
		{"not enough unique", `{"type":"array","minItems":3,"uniqueItems":true,"items":{"enum":["a","b"]}}`, `{}`},
		{"tuple", `{"type":"array","minItems":2,"prefixItems":[{"type":"integer"},{"type":"boolean"}]}`, `[0,false]`},
		{"empty array", `{"type":"array","maxItems":0}`, `[]`},
		{"minimum", `{"type":"integer","minimum":2.5}`, `3`},
		{"maximum", `{"type":"integer","maximum":-2.5}`, `-3`},
		{"exclusive", `{"type":"integer","exclusiveMinimum":0}`, `1`},
		{"between", `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5`},
		{"multiple", `{"type":"integer","minimum":7,"multipleOf":5}`, `10`},
		{"length", `{"type":"string","minLength":6}`, `"word.."`},
		{"pattern", `{"type":"string","pattern":"^[A-Z]{2}-\\d+(x|y)?$"}`, `"AA-0"`},
		{"pattern and length", `{"type":"string","pattern":"^a+$","minLength":4}`, `"aaaa"`},
		{"pattern that is no RE2", `{"type":"string","pattern":"^(?=a)"}`, `{}`},
		{"format", `{"type":"string","format":"date"}`, `"2026-01-01"`},
		{"reference", `{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"boolean"}}}`, `true`},
		{"reference out of the document", `{"$ref":"https://example.org/s"}`, `{}`},
		{"all", `{"allOf":[{"type":"number","minimum":3},{"type":"integer","maximum":3.5}]}`, `3`},
		{"all of properties", `{"type":"object","allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"a":{"minimum":4}}}]}`, `{"a":4}`},
		{"any", `{"anyOf":[{"type":"string","minLength":5,"maxLength":2},{"type":"boolean"}]}`, `true`},
		{"one, and not two", `{"oneOf":[{"type":"number"},{"type":"integer"},{"type":"string"}]}`, `"word"`},
		{"any beside properties", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["b"]},{"required":["a"]}]}`, `{"b":"word"}`},
		{"list that contains itself", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["next"],"properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}}}}}`, `{"next":null}`},
		{"never ends", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`, `{}`},
		{"refers to itself", `{"$ref":"#"}`, `{}`},
		{"branches without end", `{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}`, `{}`},
		{"too many", `{"type":"array","minItems":1e9}`, `{}`},
		{"nonsense", `{"type":7,"required":"x","properties":[],"enum":"y"}`, `{}`},
		{"required that is no name", `{"type":"object","required":[1]}`, `{"":"word"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := fill(json.RawMessage(tt.schema), "word")
			if err != nil || got != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
	if _, err := fill(json.RawMessage(`{`), "word"); err == nil {
		t.Error("a schema that is no JSON passed")
	}
}

// TestFilledIsValid holds what is filled in against a real validator. Every
// schema that is drawn has a value that obeys it.
func TestFilledIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := drawSchema(t, 3)
		root["$defs"] = object{"tree": object{
			"type":     "object",
			"required": []any{"name", "left"},
			"properties": object{
				"name": object{"type": "string"},
				"left": object{"anyOf": []any{object{"$ref": "#/$defs/tree"}, object{"type": "null"}}},
				"all":  object{"type": "array", "items": object{"$ref": "#/$defs/tree"}},
			},
		}}
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fill(text, "a longer word")
		if err != nil {
			t.Fatal(err)
		}
		if err := violation(text, got); err != nil {
			t.Fatalf("%s does not obey %s: %v", got, text, err)
		}
	})
}

// violation is what a validator has against a value.
func violation(schema []byte, value string) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return err
	}
	return compiled.Validate(v)
}

// drawSchema draws a schema that some value obeys.
func drawSchema(t *rapid.T, depth int) object {
	kinds := []string{"string", "pattern", "integer", "number", "boolean", "null", "enum", "const", "types", "free"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "array", "anyOf", "oneOf", "allOf", "ref", "choice")
	}
	low := rapid.IntRange(-5, 5).Draw(t, "low")
	span := rapid.IntRange(1, 9).Draw(t, "span")
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		return object{"type": "string", "minLength": max(0, low), "maxLength": max(0, low) + span}
	case "pattern":
		return object{"type": "string", "pattern": rapid.SampledFrom([]string{"^[a-f0-9]{8}$", "^\\w+@\\w+\\.com$", "[A-Z]", "^(yes|no)$", "^v\\d+(\\.\\d+)*$", "^$"}).Draw(t, "pattern")}
	case "integer":
		return object{"type": "integer", "minimum": low, "maximum": low + span}
	case "number":
		return object{"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": float64(low) + float64(span)/4}
	case "enum":
		return object{"enum": []any{"x", low, nil, true}}
	case "const":
		return object{"const": []any{low, "x"}}
	case "types":
		return object{"type": []any{"null", "integer", "string"}, "minimum": low}
	case "free":
		return object{"title": "anything"}
	case "object":
		props, required := object{}, []any{}
		for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(0, 3).Draw(t, "properties")] {
			props[name] = drawSchema(t, depth-1)
			if rapid.Bool().Draw(t, "required") {
				required = append(required, name)
			}
		}
		return object{"type": "object", "properties": props, "required": required, "additionalProperties": false}
	case "array":
		return object{"type": "array", "items": drawSchema(t, depth-1), "minItems": span % 3, "maxItems": span}
	case "anyOf":
		return object{"anyOf": []any{drawSchema(t, depth-1), drawSchema(t, depth-1)}}
	case "oneOf":
		return object{"oneOf": []any{object{"type": "object", "required": []any{"k"}, "properties": object{"k": object{"const": "a"}}}, object{"type": "array", "items": drawSchema(t, depth-1)}}}
	case "allOf":
		return object{"allOf": []any{drawSchema(t, depth-1), object{"description": "more"}}}
	case "ref":
		return object{"allOf": []any{object{"$ref": "#/$defs/tree"}}}
	case "choice":
		return object{"type": "object", "properties": object{"a": drawSchema(t, depth-1), "b": object{"type": "string"}}, "anyOf": []any{object{"required": []any{"a"}}, object{"required": []any{"b"}}}}
	default:
		return object{"type": kind}
	}
}

func TestMatchingIsBounded(t *testing.T) {
	for _, pattern := range []string{"^(a{50}){20}$", "^((a*)*)*$", "^\\p{Greek}+$", "^[^a]$"} {
		v, ok := matching(pattern, 0, maxCount)
		if s, _ := v.(string); ok && strings.ContainsRune(s, 0) {
			t.Errorf("%s: %q", pattern, s)
		}
	}
}
