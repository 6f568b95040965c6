package term

import (
	"bytes"
	"testing"
)

func TestColored(t *testing.T) {
	for _, c := range []struct {
		name     string
		env      map[string]string
		choice   string
		terminal bool
		want     bool
	}{
		{"a terminal", nil, "", true, true},
		{"a pipe", nil, "", false, false},
		{"NO_COLOR=1", map[string]string{"NO_COLOR": "1"}, "", true, false},
		{"NO_COLOR with any word", map[string]string{"NO_COLOR": "please"}, "auto", true, false},
		{"NO_COLOR=0 is a value, too", map[string]string{"NO_COLOR": "0"}, "", true, false},
		{"NO_COLOR empty", map[string]string{"NO_COLOR": ""}, "", true, true},
		{"forced on a pipe", map[string]string{"CLICOLOR_FORCE": "1"}, "", false, true},
		{"not forced", map[string]string{"CLICOLOR_FORCE": "0"}, "", false, false},
		{"NO_COLOR wins over force", map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "x"}, "", true, false},
		{"CLICOLOR=0", map[string]string{"CLICOLOR": "0"}, "", true, false},
		{"the person wins", map[string]string{"NO_COLOR": "1"}, "always", false, true},
		{"the person wins, too", map[string]string{"CLICOLOR_FORCE": "1"}, "never", true, false},
	} {
		getenv := func(k string) string { return c.env[k] }
		if got := colored(getenv, c.choice, c.terminal); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestDetectPipe(t *testing.T) {
	env := map[string]string{"CLICOLOR_FORCE": "1", "COLORTERM": "truecolor", "TERM": "dumb"}
	s := Detect(&bytes.Buffer{}, func(k string) string { return env[k] }, "")
	if !s.Pretty || s.Live || s.Depth != Full {
		t.Errorf("a forced pipe is %+v", s)
	}
	s = Detect(&bytes.Buffer{}, func(string) string { return "" }, "")
	if s.Pretty || s.Live || s.Depth != Mono {
		t.Errorf("a pipe is %+v", s)
	}
}

func TestInk(t *testing.T) {
	for d, want := range map[Depth]string{Mono: "", Palette: "38;5;214", Full: "38;2;250;189;47"} {
		if got := d.ink("#fabd2f"); got != want {
			t.Errorf("ink at %d is %q, want %q", d, got, want)
		}
	}
}

func TestWrapWidth(t *testing.T) {
	for _, c := range []struct{ terminal, limit, want int }{{0, 0, 80}, {200, 0, 80}, {40, 0, 40}, {200, 120, 120}, {100, 120, 100}} {
		if got := (Stream{Width: c.terminal}).wrap(c.limit); got != c.want {
			t.Errorf("a terminal of %d with the limit %d wraps at %d, want %d", c.terminal, c.limit, got, c.want)
		}
	}
}
