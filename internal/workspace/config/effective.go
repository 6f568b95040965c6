package config

import (
	"bytes"

	"github.com/pelletier/go-toml/v2"
)

// Effective is a tree as TOML, keys sorted, cleared ones left out: equal trees
// give equal bytes.
func Effective(t Tree) []byte {
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	e.SetIndentTables(false)
	if err := e.Encode(withoutNil(t)); err != nil {
		panic("config: a tree that TOML cannot hold: " + err.Error()) // trees hold nothing else
	}
	return b.Bytes()
}

// withoutNil drops nulls inside lists too, which TOML has no word for.
func withoutNil(v any) any {
	switch v := v.(type) {
	case Tree:
		t := make(Tree, len(v))
		for k, e := range v {
			if e != nil {
				t[k] = withoutNil(e)
			}
		}
		return t
	case []any:
		list := make([]any, 0, len(v))
		for _, e := range v {
			if e != nil {
				list = append(list, withoutNil(e))
			}
		}
		return list
	}
	return v
}
