package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// jsonFormats are how bodies are read and written. The names are those of huma:
// the second is for types that end in +json.
func jsonFormats() map[string]huma.Format {
	format := huma.DefaultJSONFormat
	format.Unmarshal = readJSON
	return map[string]huma.Format{"application/json": format, "json": format}
}

// readJSON is json.Unmarshal with errors for people, who know nothing of our
// types.
func readJSON(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("this is no JSON: at byte %d, %w", bad.Offset, bad)
	}
	bad, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	where := ""
	if bad.Field != "" {
		where = bad.Field + ": "
	}
	want := "fit"
	switch bad.Type.Kind() {
	case reflect.Int, reflect.Int64:
		want = "fit: write a whole number without point or exponent"
	case reflect.Float64:
		want = "fit: write a smaller one"
	}
	return fmt.Errorf("%s%s does not %s", where, bad.Value, want)
}
