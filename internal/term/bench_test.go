package term

import (
	"io"
	"strings"
	"testing"
)

// answer is about n bytes of what a model writes.
func answer(n int) string {
	part := "## Findings\n\n" +
		"The cache is filled **without holding the lock**, so two requests may both see `nil` and load the same key twice. " +
		"That is harmless today, but *not* once `Load` has side effects; see [the guide](https://example.org/guide).\n\n" +
		"1. `cache.go` reads the map before it locks.\n2. The test does not run with `-race`.\n   - it should\n   - in CI, too\n\n" +
		"```go\n// Get returns the value of key.\nfunc (c *Cache) Get(key string) (Value, error) {\n\tc.mu.Lock()\n\tdefer c.mu.Unlock()\n" +
		"\tif v, ok := c.values[key]; ok {\n\t\treturn v, nil\n\t}\n\treturn c.load(key) /* slow */\n}\n```\n\n" +
		"| Call | Before | After |\n|------|-------:|------:|\n| Get | 120 ns | 140 ns |\n| Load | 2 ms | 2 ms |\n\n" +
		"> Never hold a lock while calling out.\n\n"
	return strings.Repeat(part, n/len(part)+1)[:n]
}

// BenchmarkChunk is one 4-byte chunk of a 20 KB answer, from the provider's
// text to the terminal's bytes.
func BenchmarkChunk(b *testing.B) {
	text := answer(20 << 10)
	for _, c := range []struct {
		name string
		s    Stream
	}{
		{"color", Stream{Pretty: true, Depth: Full}},
		{"mono", Stream{Pretty: true}},
		{"pipe", Stream{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.s.Writer = io.Discard
			b.ReportAllocs()
			chunks(b, c.s, text)
		})
	}
	for name, text := range map[string]string{
		"paragraph": strings.Repeat("words and *more* words ", 1000),
		"half-open": "*" + strings.Repeat("words and more words ", 1000),
		"list":      strings.Repeat("- an item of a long list\n", 1000),
		"nested":    "- a\n" + strings.Repeat("  - an item of a long list\n", 1000),
		"table":     "| a | b |\n|---|---|\n" + strings.Repeat("| cell | cell |\n", 1500),
		"quote":     strings.Repeat("> quoted\n", 2000),
		"code":      "```go\n" + strings.Repeat("\tx := call(a, \"b\") // c\n", 1000),
		"short":     strings.Repeat("(lines)\n", 2500),
		"html":      "<!--\n" + strings.Repeat("comment\n", 2500),
	} {
		b.Run(name, func(b *testing.B) {
			chunks(b, Stream{Writer: io.Discard, Pretty: true, Depth: Full}, text)
		})
	}
}

func chunks(b *testing.B, s Stream, text string) {
	m := NewMarkdown(s, Look{})
	at := 0
	for b.Loop() {
		_, _ = m.WriteString(text[at:min(at+4, len(text))])
		if at += 4; at >= len(text) {
			at = 0
			_ = m.Flush()
		}
	}
}
