package chat

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pieces cuts text at random.
func pieces(t *rapid.T, text string) []string {
	var out []string
	for text != "" {
		n := rapid.IntRange(1, len(text)).Draw(t, "n")
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

func TestThinkSplit(t *testing.T) {
	tests := []struct{ in, text, thought string }{
		{"", "", ""},
		{"plain", "plain", ""},
		{"  plain ", "  plain ", ""},
		{"<think>a</think>b", "b", "a"},
		{" \n<think>\n\na\nb\n</think>\n\nc\n", "c\n", "a\nb\n"},
		{"<think></think>b", "b", ""},
		{"<think>a", "", "a"},
		{"<think>a</thi", "", "a</thi"},
		{"<think>a</b></think>c", "c", "a</b>"},
		{"<thin air", "<thin air", ""},
		{"<", "<", ""},
		{"\n", "\n", ""},
		{"x<think>a</think>", "x<think>a</think>", ""},
		{"<think>a</think>b<think>c</think>", "b<think>c</think>", "a"},
		{"</think>a", "</think>a", ""},
		{"<think>\n", "", ""},
		{"<THINK>a</THINK>", "<THINK>a</THINK>", ""},
	}
	for _, tt := range tests {
		rapid.Check(t, func(r *rapid.T) {
			var s thinkSplit
			var text, thought strings.Builder
			for _, p := range append(pieces(r, tt.in), "") {
				x, y := s.write(p)
				text.WriteString(x)
				thought.WriteString(y)
			}
			x, y := s.flush()
			if got := text.String() + x; got != tt.text {
				r.Errorf("%q: text %q, want %q", tt.in, got, tt.text)
			}
			if got := thought.String() + y; got != tt.thought {
				r.Errorf("%q: thought %q, want %q", tt.in, got, tt.thought)
			}
		})
	}
}

func TestThinkSplitHoldsNothingLong(t *testing.T) {
	var s thinkSplit
	for _, p := range []struct{ in, text, thought string }{
		{"<th", "", ""}, {"e end", "<the end", ""}, {"<think>", "<think>", ""},
	} {
		if text, thought := s.write(p.in); text != p.text || thought != p.thought {
			t.Errorf("%q: %q, %q", p.in, text, thought)
		}
	}
}

// TestStopCut compares with the plain definition on the whole text.
func TestStopCut(t *testing.T) {
	letters := rapid.StringMatching(`[abc]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		stops := rapid.SliceOfN(letters, 0, 3).Draw(t, "stops")
		in := rapid.StringMatching(`[abcd]{0,20}`).Draw(t, "in")
		s := stopCut{stops: stops}
		got, ended := "", false
		for _, p := range pieces(t, in) {
			text, ends := s.write(p)
			got += text
			if ended = ends; ends {
				break
			}
		}
		got += s.flush()
		from, to := len(in), len(in)+1
		for _, stop := range stops {
			at := strings.Index(in, stop)
			if end := at + len(stop); at >= 0 && (end < to || end == to && at < from) {
				from, to = at, end
			}
		}
		if found := to <= len(in); ended != found || got != in[:from] {
			t.Fatalf("stops %q in %q: got %q (ended %t), want %q", stops, in, got, ended, in[:from])
		}
	})
}
