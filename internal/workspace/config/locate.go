package config

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/pelletier/go-toml/v2/unstable"
)

// The functions here find the line of a key only when somebody asks: for an
// error or an explanation. A path that a file does not hold is found as far as
// it goes; 0 when not even its first segment is there.

// locateJSON walks the text again up to the key.
func locateJSON(data []byte, path []string) int {
	found, depth := int64(-1), 0
	_, _ = walkJSON(data, func(p []string, offset int64) bool {
		if len(p) > depth && len(p) <= len(path) && slices.Equal(p, path[:len(p)]) {
			found, depth = offset, len(p)
		}
		return depth < len(path)
	})
	if found < 0 {
		return 0
	}
	line, _ := lineColumn(data, found)
	return line
}

// locateTOML follows table headers and keys.
func locateTOML(data []byte, path []string) int {
	p := unstable.Parser{}
	p.Reset(data)
	var table []string
	counts := map[string]int{} // elements seen of every array of tables
	best, line := 0, 0
	consider := func(at []string, offset uint32) {
		n := 0
		for n < len(at) && n < len(path) && at[n] == path[n] {
			n++
		}
		if n > best {
			best = n
			line, _ = lineColumn(data, int64(offset)+1)
		}
	}
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		offset := uint32(0)
		for it := e.Key(); it.Next(); {
			if len(key) == 0 {
				offset = it.Node().Raw.Offset
			}
			key = append(key, string(it.Node().Data))
		}
		switch e.Kind {
		case unstable.Table:
			table = indexed(key, counts)
			consider(table, offset)
		case unstable.ArrayTable:
			table = indexed(key, counts)
			i := counts[JoinKey(table)]
			counts[JoinKey(table)]++
			table = append(table, strconv.Itoa(i))
			consider(table, offset)
		case unstable.KeyValue:
			at := slices.Concat(table, key)
			consider(at, offset)
			considerInline(e.Value(), at, consider)
		}
	}
	return line
}

// indexed inserts the index of the current element behind every array of
// tables that a header names.
func indexed(key []string, counts map[string]int) []string {
	var out []string
	for i, k := range key {
		out = append(out, k)
		if n := counts[JoinKey(out)]; n > 0 && i < len(key)-1 {
			out = append(out, strconv.Itoa(n-1))
		}
	}
	return out
}

// considerInline offers the keys of inline tables and arrays.
func considerInline(v *unstable.Node, at []string, consider func([]string, uint32)) {
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			sub := slices.Clone(at)
			offset := uint32(0)
			for k := it.Node().Key(); k.Next(); {
				offset = k.Node().Raw.Offset
				sub = append(sub, string(k.Node().Data))
			}
			consider(sub, offset)
			considerInline(it.Node().Value(), sub, consider)
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); i++ {
			considerInline(it.Node(), append(slices.Clone(at), strconv.Itoa(i)), consider)
		}
	}
}

// locateYAML walks the syntax tree.
func locateYAML(data []byte, path []string) int {
	f, err := parser.ParseBytes(data, 0)
	if err != nil || len(f.Docs) == 0 {
		return 0
	}
	line := 0
	n := f.Docs[0].Body
	for _, want := range path {
		next := yamlChild(n, want, &line)
		if next == nil {
			break
		}
		n = next
	}
	return line
}

// yamlChild steps into a mapping or a sequence and notes the line.
func yamlChild(n ast.Node, want string, line *int) ast.Node {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			if v.Key.GetToken().Value == want {
				*line = v.Key.GetToken().Position.Line
				return v.Value
			}
		}
	case *ast.MappingValueNode:
		if n.Key.GetToken().Value == want {
			*line = n.Key.GetToken().Position.Line
			return n.Value
		}
	case *ast.SequenceNode:
		if i, err := strconv.Atoi(want); err == nil && i >= 0 && i < len(n.Values) {
			*line = n.Values[i].GetToken().Position.Line
			return n.Values[i]
		}
	case *ast.AnchorNode:
		return yamlChild(n.Value, want, line)
	}
	return nil
}

// locateText looks for the segments one behind the other, as whole words. It
// is for formats without a syntax tree and may be misled by a value.
func locateText(data []byte, path []string) int {
	from, line := 0, 0
	for _, seg := range path {
		if _, err := strconv.Atoi(seg); err == nil {
			continue
		}
		i := wordIndex(data[from:], seg)
		if i < 0 {
			break
		}
		line, _ = lineColumn(data, int64(from+i)+1)
		from += i + len(seg)
	}
	return line
}

func wordIndex(data []byte, word string) int {
	start := 0
	for {
		i := bytes.Index(data[start:], []byte(word))
		if i < 0 {
			return -1
		}
		i += start
		end := i + len(word)
		if (i == 0 || !bareRune(rune(data[i-1]))) && (end == len(data) || !bareRune(rune(data[end]))) {
			return i
		}
		start = end
	}
}
