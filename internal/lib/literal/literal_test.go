package literal_test

import (
	"encoding/json"
	"testing"

	"jp/internal/lib/literal"
)

func TestJSON(t *testing.T) {
	for want, v := range map[string]any{
		`"<b> & 'x' \"\n"`:        "<b> & 'x' \"\n",
		`"line\u2028 \ufffd"`:     "line\u2028 \xff", // what JavaScript or UTF-8 cannot hold
		`{"a":1,"b":[null,1.50]}`: map[string]any{"b": []any{nil, json.RawMessage(`1.50`)}, "a": 1},
	} {
		if got := literal.Must(v); string(got) != want {
			t.Errorf("%#v is %s, want %s", v, got, want)
		}
	}
	if got, err := literal.JSON(func() {}); err == nil {
		t.Errorf("a function is %s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("Must does not panic")
		}
	}()
	literal.Must(json.RawMessage("{"))
}
