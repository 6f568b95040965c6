package chat

import (
	"reflect"
	"strings"
)

// detailsKey is the key of llm.Message.Replay under which OpenRouter's
// reasoning_details are kept.
const detailsKey = "reasoning_details"

// detail is one of the reasoning details on its way. Text and summaries come
// in fragments; everything else is kept as it came, for servers check
// signatures.
type detail struct {
	fields map[string]any
	key    string // of the field that comes in fragments, or empty
	text   *strings.Builder
}

// overhead is what an object counts for beside its contents, in bytes: without
// it empty ones would be had for nothing.
const overhead = 64

func newDetail(fields map[string]any) detail {
	d := detail{fields: fields}
	for _, key := range []string{"text", "summary"} {
		if text, ok := fields[key].(string); ok {
			d.key, d.text = key, &strings.Builder{}
			d.text.WriteString(text)
			break
		}
	}
	return d
}

// detail adds to the reasoning details.
func (a *answer) detail(fields map[string]any) {
	if n := len(a.details); n > 0 {
		if grown, ok := a.details[n-1].add(fields); ok {
			a.size += grown
			return
		}
	}
	a.details = append(a.details, newDetail(fields))
	a.size += size(fields)
}

// add joins a fragment to the detail that it goes on with, and returns by how
// many bytes that grew; false when the fragment begins another one.
func (d *detail) add(fields map[string]any) (grown int, ok bool) {
	if d.key == "" {
		return 0, false
	}
	more, ok := fields[d.key].(string)
	if !ok || !d.same(fields, "type") || !d.same(fields, "index") {
		return 0, false
	}
	for k, v := range fields {
		if k == d.key || v == nil {
			continue
		}
		if old, had := d.fields[k]; had {
			grown -= len(k) + size(old)
		}
		grown += len(k) + size(v)
		d.fields[k] = v
	}
	d.text.WriteString(more)
	return grown + len(more), true
}

func (d *detail) same(fields map[string]any, key string) bool {
	return reflect.DeepEqual(d.fields[key], fields[key])
}

// whole returns the details as they are stored and sent back.
func whole(details []detail) []any {
	out := make([]any, len(details))
	for i, d := range details {
		if d.key != "" {
			d.fields[d.key] = d.text.String()
		}
		out[i] = d.fields
	}
	return out
}

// size is how many bytes a JSON value takes, about.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		n := overhead
		for _, e := range v {
			n += size(e)
		}
		return n
	case map[string]any:
		n := overhead
		for k, e := range v {
			n += len(k) + size(e)
		}
		return n
	}
	return 8
}
