package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/titanous/json5"
)

// decodeJSON reads JSON and refuses a key that stands twice in an object,
// which encoding/json lets pass.
func decodeJSON(data []byte) (Tree, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Tree{}, nil
	}
	v, err := walkJSON(data, nil)
	if err != nil {
		return nil, err
	}
	return asTree(v)
}

// decodeValue reads one JSON value, as assignments hold it.
func decodeValue(text string) (any, error) { return walkJSON([]byte(text), nil) }

// walkJSON decodes data; visit, when it is not nil, hears the path of every
// key and element and the offset behind its name, and stops the walk by false.
func walkJSON(data []byte, visit func(path []string, offset int64) bool) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	w := jsonWalker{d: d, visit: visit}
	v, err := w.value(nil)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = fmt.Errorf("something follows the value")
		}
	}
	if err != nil && !errors.Is(err, errStop) {
		offset := d.InputOffset()
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = se.Offset
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err, offset = errors.New("the JSON is not complete"), int64(len(data))
		}
		line, col := lineColumn(data, offset)
		return nil, &syntaxError{line, col, err.Error()}
	}
	return v, err
}

var errStop = errors.New("stop")

type jsonWalker struct {
	d     *json.Decoder
	visit func(path []string, offset int64) bool
}

func (w jsonWalker) value(path []string) (any, error) {
	tok, err := w.d.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return w.object(path)
	case json.Delim('['):
		return w.array(path)
	}
	return normalise(tok), nil
}

func (w jsonWalker) object(path []string) (any, error) {
	t := Tree{}
	for w.d.More() {
		tok, err := w.d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("a key must be a text")
		}
		if _, twice := t[key]; twice {
			return nil, fmt.Errorf("the key %q stands twice", key)
		}
		sub := append(path[:len(path):len(path)], key)
		if w.visit != nil && !w.visit(sub, w.d.InputOffset()) {
			return nil, errStop
		}
		if t[key], err = w.value(sub); err != nil {
			return nil, err
		}
	}
	_, err := w.d.Token()
	return t, err
}

func (w jsonWalker) array(path []string) (any, error) {
	list := []any{}
	for w.d.More() {
		sub := append(path[:len(path):len(path)], strconv.Itoa(len(list)))
		if w.visit != nil && !w.visit(sub, w.d.InputOffset()) {
			return nil, errStop
		}
		e, err := w.value(sub)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	_, err := w.d.Token()
	return list, err
}

// lineColumn turns an offset into a line and a column in bytes, from 1.
func lineColumn(data []byte, offset int64) (line, column int) {
	head := data[:min(int(offset), len(data))]
	return 1 + bytes.Count(head, []byte("\n")), max(1, len(head)-bytes.LastIndexByte(head, '\n')-1)
}

// decodeJSON5 reads JSON5. A key that stands twice is not noticed: the decoder
// keeps the last.
func decodeJSON5(data []byte) (Tree, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Tree{}, nil
	}
	d := json5.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if se, ok := errors.AsType[*json5.SyntaxError](err); ok {
			line, col := lineColumn(data, se.Offset)
			return nil, &syntaxError{line, col, se.Error()}
		}
		return nil, err
	}
	return asTree(numbers5(v))
}

// numbers5 reads JSON5's numbers, which may be hexadecimal, signed, or without
// digits on one side of the point.
func numbers5(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = numbers5(e)
		}
		return v
	case []any:
		for i, e := range v {
			v[i] = numbers5(e)
		}
		return v
	case json5.Number:
		s := strings.TrimPrefix(v.String(), "+")
		if n, err := strconv.ParseInt(s, 0, 64); err == nil {
			return n
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v.String()
		}
		return normaliseFloat(f)
	}
	return normalise(v)
}
