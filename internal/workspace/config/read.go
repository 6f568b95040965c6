package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"

	"jp/internal/lib/fault"
)

// extensions in the order in which a name is tried with them.
var extensions = []string{".toml", ".json", ".json5", ".yaml", ".yml"}

// format is one file format: how to read it, and where a key stands in it.
type format struct {
	decode func(data []byte) (Tree, error)
	locate func(data []byte, path []string) int
}

func formatOf(file string) (format, bool) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".toml":
		return format{decodeTOML, locateTOML}, true
	case ".json":
		return format{decodeJSON, locateJSON}, true
	case ".json5":
		return format{decodeJSON5, locateText}, true
	case ".yaml", ".yml":
		return format{decodeYAML, locateYAML}, true
	}
	return format{}, false
}

// syntaxError is a file that cannot be parsed; line and column count from 1.
type syntaxError struct {
	line, column int
	message      string
}

func (e *syntaxError) Error() string { return e.message }

// document is a file that was read.
type document struct {
	tree  Tree
	lines func(path []string) int
}

// read reads and parses a file. shown is how errors call it. Errors:
// fault.Config for what is in the file, fault.Storage when it cannot be read.
func read(file, shown string) (document, error) {
	f, ok := formatOf(file)
	if !ok {
		return document{}, fault.New(fault.Config, "%s: a configuration file ends in %s", shown, strings.Join(extensions, ", "))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return document{}, fault.New(fault.Storage, "%s: %w", shown, fault.Reason(err))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	tree, err := f.decode(data)
	if se, ok := errors.AsType[*syntaxError](err); ok && se.line > 0 {
		return document{}, fault.New(fault.Config, "%s:%d:%d: %s", shown, se.line, se.column, se.message)
	}
	if err != nil {
		return document{}, fault.New(fault.Config, "%s: %w", shown, err)
	}
	if tree == nil {
		tree = Tree{}
	}
	return document{tree, func(path []string) int { return f.locate(data, path) }}, nil
}

func decodeTOML(data []byte) (Tree, error) {
	var m map[string]any
	err := toml.Unmarshal(data, &m)
	if de, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, col := de.Position()
		return nil, &syntaxError{row, col, strings.TrimPrefix(de.Error(), "toml: ")}
	}
	if err != nil {
		return nil, err
	}
	return normalise(m).(Tree), nil
}

func decodeYAML(data []byte) (Tree, error) {
	var v any
	if err := yaml.Unmarshal(data, &v); err != nil {
		if ye, ok := errors.AsType[yaml.Error](err); ok && ye.GetToken() != nil {
			p := ye.GetToken().Position
			return nil, &syntaxError{p.Line, p.Column, ye.GetMessage()}
		}
		return nil, err
	}
	return asTree(normaliseYAML(v))
}

// normaliseYAML turns keys of every kind into texts before the rest.
func normaliseYAML(v any) any {
	switch v := v.(type) {
	case map[any]any:
		t := make(Tree, len(v))
		for k, e := range v {
			key, ok := k.(string)
			if !ok {
				key = canonJSON(normalise(k))
			}
			t[key] = normaliseYAML(e)
		}
		return t
	case map[string]any:
		t := make(Tree, len(v))
		for k, e := range v {
			t[k] = normaliseYAML(e)
		}
		return t
	case []any:
		for i, e := range v {
			v[i] = normaliseYAML(e)
		}
		return v
	}
	return normalise(v)
}

// asTree refuses a file that holds no table. An empty one is an empty table.
func asTree(v any) (Tree, error) {
	switch v := v.(type) {
	case nil:
		return Tree{}, nil
	case Tree:
		return v, nil
	}
	return nil, &syntaxError{1, 1, "the file must hold a table of keys, not " + describe(v)}
}
