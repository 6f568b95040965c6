package speaker_test

import (
	"testing"

	"jp/internal/kernel/speaker"
)

// pass sends text through a filter in pieces of size bytes.
func pass(label, text string, size int) string {
	e := speaker.NewEcho(label)
	out := ""
	for len(text) > 0 {
		n := min(size, len(text))
		out += e.Write(text[:n])
		text = text[n:]
	}
	return out + e.Flush()
}

func TestEcho(t *testing.T) {
	for _, c := range []struct{ label, text, want string }{
		{"dev", "hello", "hello"},
		{"dev", "[dev]: I agree", "I agree"},
		{"dev", "[dev]: [dev]: I agree", "I agree"},
		{"dev", "**[dev]:** I agree", "I agree"},
		{"dev", "[dev]: **[dev]:** [dev]: x", "x"},
		{"dev", "[dev]:\n\nI agree", "I agree"},
		{"dev", "[dev]: \r\nI agree", "I agree"},
		{"dev", "[dev]:  two blanks", " two blanks"},
		{"dev", "[dev]:", ""},
		{"dev", "[dev]: ", ""},
		{"dev", "[dev]: [dev]:", ""},
		{"dev", "**[dev]:**", ""},
		{"dev", "[dev]", "[dev]"},
		{"dev", "[de", "[de"},
		{"dev", "**", "**"},
		{"dev", "**bold** x", "**bold** x"},
		{"dev", "[dev]:x", "[dev]:x"},
		{"dev", "[architect]: I object", "[architect]: I object"},
		{"dev", "[developer]: x", "[developer]: x"},
		{"dev", "[Dev]: x", "[Dev]: x"},
		{"dev", "dev: dev: hello", "dev: dev: hello"},
		{"Bot1", "[Bot1]: [Bot1]: hello", "hello"},
		{"dev", " [dev]: x", " [dev]: x"},
		{"dev", "x\n[dev]: y", "x\n[dev]: y"},
		{"dev", "[dev]: [architect]: [dev]: x", "[architect]: [dev]: x"},
		{"", "[]: x", "[]: x"},
		{"dev", "", ""},
	} {
		for size := 1; size <= len(c.text)+1; size++ {
			if got := pass(c.label, c.text, size); got != c.want {
				t.Errorf("%q in pieces of %d became %q, want %q", c.text, size, got, c.want)
			}
		}
	}
}

func TestEchoHoldsBackOnlyWhatMayBecomeALabel(t *testing.T) {
	e := speaker.NewEcho("dev")
	for _, c := range [][2]string{{"[d", ""}, {"ev]: ", ""}, {"[", ""}, {"dx", "[dx"}, {"[dev]: ", "[dev]: "}} {
		if got := e.Write(c[0]); got != c[1] {
			t.Fatalf("Write(%q) = %q, want %q", c[0], got, c[1])
		}
	}
	if got := e.Flush(); got != "" {
		t.Errorf("Flush repeats %q", got)
	}
}

func TestEchoWithoutLabel(t *testing.T) {
	var none *speaker.Echo
	if none.Write("[a]: b") != "[a]: b" || none.Flush() != "" {
		t.Error("the nil filter must pass everything")
	}
}

func FuzzEcho(f *testing.F) {
	f.Add("[dev]: [dev]:\n\n**[dev]:** hello", uint8(4))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		whole := pass("dev", text, len(text)+1)
		if got := pass("dev", text, int(size)%8+1); got != whole {
			t.Fatalf("%q whole gives %q, in pieces %q", text, whole, got)
		}
		if len(whole) > len(text) || text[len(text)-len(whole):] != whole {
			t.Fatalf("%q became %q, not its end", text, whole)
		}
	})
}
