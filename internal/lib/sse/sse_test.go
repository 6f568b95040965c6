package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/lib/sse"
)

// collect reads everything; the error, if any, comes last.
func collect(r io.Reader, max int) ([]sse.Event, error) {
	var out []sse.Event
	for e, err := range sse.Read(r, max) {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

func TestRead(t *testing.T) {
	msg := func(data string) sse.Event { return sse.Event{Data: data} }
	comment := func(text string) sse.Event { return sse.Event{Data: text, Comment: true} }
	tests := []struct {
		name, in string
		want     []sse.Event
	}{
		{"nothing", "", nil},
		{"only blank lines", "\n\r\n\r\r", nil},
		{"LF", "data: a\n\ndata: b\n\n", []sse.Event{msg("a"), msg("b")}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []sse.Event{msg("a"), msg("b")}},
		{"lone CR", "data: a\r\rdata: b\r\r", []sse.Event{msg("a"), msg("b")}},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r", []sse.Event{msg("a"), msg("b"), msg("c")}},
		{"byte order mark", "\uFEFFdata: a\n\n", []sse.Event{msg("a")}},
		{"byte order mark only at the start", "data: a\n\n\uFEFFdata: b\n\n", []sse.Event{msg("a")}},
		{"no space after the colon", "data:a\n\n", []sse.Event{msg("a")}},
		{"one space only is dropped", "data:  a\n\n", []sse.Event{msg(" a")}},
		{"many data lines", "data: a\ndata:\ndata: b\n\n", []sse.Event{msg("a\n\nb")}},
		{"colon in data", "data: a:b\n\n", []sse.Event{msg("a:b")}},
		{"empty data is an event", "data\n\n", []sse.Event{msg("")}},
		{"line separators are text", "data: a\u2028b\u2029c\u0085d\n\n", []sse.Event{msg("a\u2028b\u2029c\u0085d")}},
		{"form feed and NUL are text", "data: a\fb\x00c\n\n", []sse.Event{msg("a\fb\x00c")}},
		{"comments", ": OPENROUTER PROCESSING\n\n:\n: ping\ndata: a\n\n", []sse.Event{comment("OPENROUTER PROCESSING"), comment(""), comment("ping"), msg("a")}},
		{"comment inside an event", "data: a\n: ping\ndata: b\n\n", []sse.Event{comment("ping"), msg("a\nb")}},
		{"type and id", "event: error\nid: 7\ndata: x\n\ndata: y\n\n", []sse.Event{{Type: "error", ID: "7", Data: "x"}, {ID: "7", Data: "y"}}},
		{"id with NUL", "id: a\x00b\ndata: x\n\n", []sse.Event{msg("x")}},
		{"type without data", "event: error\n\n", []sse.Event{{Type: "error"}}},
		{"id alone is no event", "id: 3\nretry: 10\n\n", nil},
		{"unknown fields", "foo: bar\ndate: x\n data: y\ndata: a\n\n", []sse.Event{msg("a")}},
		{"no final blank line", "data: a\n\ndata: b\n", []sse.Event{msg("a"), msg("b")}},
		{"no final line end", "data: a\n\ndata: b", []sse.Event{msg("a"), msg("b")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for kind, r := range map[string]io.Reader{
				"whole":        strings.NewReader(tt.in),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.in)),
				"data and EOF": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				got, err := collect(r, 0)
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", kind, diff)
				}
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("é", 5<<19) // 5 MiB
	got, err := collect(strings.NewReader("data: "+long+"\n\ndata: b\n\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Data != long || got[1].Data != "b" {
		t.Fatalf("%d events, the long line is whole: %t", len(got), len(got) > 0 && got[0].Data == long)
	}
}

func TestCeiling(t *testing.T) {
	for name, in := range map[string]string{
		"line":                  "data: ok\n\ndata: " + strings.Repeat("x", 100) + "\n\n",
		"line without an end":   "data: ok\n\n" + strings.Repeat("x", 101),
		"data of many lines":    "data: ok\n\n" + strings.Repeat("data: 0123456789\n", 11) + "\n",
		"empty lines count too": "data: ok\n\n" + strings.Repeat("data\n", 200) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := collect(strings.NewReader(in), 100)
			if tooLong, ok := errors.AsType[*sse.TooLong](err); !ok || tooLong.Max != 100 {
				t.Fatalf("error %v, want a TooLong of 100", err)
			}
			if diff := cmp.Diff([]sse.Event{{Data: "ok"}}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadErrorDropsTheUnfinishedEvent(t *testing.T) {
	broken := errors.New("connection reset")
	got, err := collect(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 0)
	if !errors.Is(err, broken) {
		t.Fatalf("error %v, want %v", err, broken)
	}
	if diff := cmp.Diff([]sse.Event{{Data: "a"}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestAtOnce shows that an event does not wait for the byte behind it.
func TestAtOnce(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		r, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, "data: a"+end) }() // and the stream stays open
		for e, err := range sse.Read(r, 0) {
			if err != nil || e.Data != "a" {
				t.Fatalf("%q: %v, %v", end, e, err)
			}
			break
		}
		_ = r.Close()
	}
}

// cut is a reader that hands out its text in the given sizes.
type cut struct {
	rest  string
	sizes []int
}

func (c *cut) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := len(c.rest)
	if len(c.sizes) > 0 {
		n, c.sizes = min(n, c.sizes[0]), c.sizes[1:]
	}
	n = copy(p, c.rest[:n])
	c.rest = c.rest[n:]
	return n, nil
}

// same fails unless both readings of a stream agree.
func same(t interface{ Fatalf(string, ...any) }, in string, sizes []int) {
	want, wantErr := collect(strings.NewReader(in), 64)
	got, gotErr := collect(&cut{in, sizes}, 64)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("sizes %v of %q (-whole +cut):\n%s", sizes, in, diff)
	}
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("sizes %v of %q: errors %v and %v", sizes, in, wantErr, gotErr)
	}
}

func TestEveryChunkingIsTheSame(t *testing.T) {
	piece := rapid.SampledFrom([]string{"data: ", "data:", "data", "event: error", "id: 1", ":", ": ping", "\r", "\n", "\r\n", "\n\n", "\uFEFF", "é", "\u2028", "x", " "})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		same(t, in, rapid.SliceOf(rapid.IntRange(1, 7)).Draw(t, "sizes"))
	})
}

func FuzzRead(f *testing.F) {
	f.Add("data: a\r\n\r\ndata: b\r\rdata: c", []byte{1, 2, 3})
	f.Add("\uFEFFevent: error\ndata: {\"error\":1}\n\n: ping\n\ndata: [DONE]\n\n", []byte{2, 1, 1, 30})
	f.Fuzz(func(t *testing.T, in string, cuts []byte) {
		var sizes []int
		for _, c := range cuts {
			sizes = append(sizes, int(c%16)+1)
		}
		same(t, in, sizes)
	})
}
