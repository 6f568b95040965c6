package term

import (
	"fmt"
	"image/color"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	xterm "golang.org/x/term"
)

// Depth is how many colours a stream takes.
type Depth int

// The depths. With Mono no escape sequence is written at all.
const (
	Mono    Depth = iota
	Palette       // 256 colours
	Full          // 24 bits
)

// Stream is an output and what it can do. The zero values of the fields make
// a pipe.
type Stream struct {
	io.Writer
	Pretty bool // a person reads it as it is written: render and wrap
	Live   bool // one line may be redrawn by \r
	Depth  Depth
	Width  int // cells of the terminal, 0 when unknown
}

var _ io.Writer = Stream{}

// Detect finds out what w can do. The choice "always" or "never" is a
// person's and wins; then any NO_COLOR turns colour off, CLICOLOR_FORCE (but
// "0") turns it on, also on a pipe, which is then read as a terminal would be
// (for less -R); otherwise a terminal has colour unless TERM says "dumb" or
// CLICOLOR "0". A dumb terminal is rendered for, but never redrawn.
func Detect(w io.Writer, getenv func(string) string, choice string) Stream {
	s := Stream{Writer: w}
	dumb := getenv("TERM") == "dumb"
	if fd, ok := w.(interface{ Fd() uintptr }); ok && xterm.IsTerminal(int(fd.Fd())) {
		s.Pretty, s.Live = true, !dumb
		if width, _, err := xterm.GetSize(int(fd.Fd())); err == nil {
			s.Width = width
		}
	}
	if colored(getenv, choice, s.Pretty && !dumb) {
		s.Pretty, s.Depth = true, Palette
		if d := getenv("COLORTERM"); d == "truecolor" || d == "24bit" {
			s.Depth = Full
		}
	}
	return s
}

func colored(getenv func(string) string, choice string, terminal bool) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case choice == "always":
		return true
	case choice == "never" || getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return terminal && getenv("CLICOLOR") != "0"
}

// wrap is the width for running text: at most limit (80 when 0), at most the
// terminal's.
func (s Stream) wrap(limit int) int {
	if limit <= 0 {
		limit = 80
	}
	if s.Width > 0 {
		limit = min(limit, s.Width)
	}
	return limit
}

// The styles that are not colours, as SGR parameters.
const (
	bold      = "1"
	dim       = "2"
	italic    = "3"
	underline = "4"
	struck    = "9"
	red       = "31"
	yellow    = "33"
)

// paint puts text between an SGR sequence and its reset.
func (s Stream) paint(sgr, text string) string {
	if s.Depth == Mono || sgr == "" || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// also adds SGR parameters to others.
func also(sgr, more string) string {
	if sgr == "" || more == "" {
		return sgr + more
	}
	return sgr + ";" + more
}

// ink turns "#rrggbb" into SGR parameters for the depth.
func (d Depth) ink(hex string) string {
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	if err != nil || d == Mono {
		return ""
	}
	c := color.RGBA{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n), A: 255}
	if d == Palette {
		return fmt.Sprintf("38;5;%d", ansi.Convert256(c))
	}
	return fmt.Sprintf("38;2;%d;%d;%d", c.R, c.G, c.B)
}
