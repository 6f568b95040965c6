package term

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"jp/internal/lib/fault"
)

// Ask asks a person questions and reads the answers line by line, all from
// one reader, so that piped answers are not lost between questions. An empty
// answer means the preset.
//
// Errors of all questions: fault.Invalid when nobody is there to answer,
// fault.Interrupted when the input ended instead of an answer, and those of
// the reader.
type Ask struct {
	in          *bufio.Reader
	out         Stream
	interactive bool
}

// NewAsk returns an Ask that reads from in and asks on out. When interactive
// is false every question fails.
func NewAsk(in io.Reader, out Stream, interactive bool) *Ask {
	return &Ask{bufio.NewReader(in), out, interactive}
}

// Choice is an answer that can be given by its key.
type Choice struct{ Key, Text string }

// Line asks for a line of text.
func (a *Ask) Line(question, preset string) (string, error) {
	prompt := Line(question, 0)
	if preset != "" {
		prompt += a.out.paint(dim, " ["+Line(preset, 0)+"]")
	}
	answer, err := a.read(question, prompt+": ")
	if err != nil || answer == "" {
		return preset, err
	}
	return answer, nil
}

// Yes asks a question that is answered by yes or no.
func (a *Ask) Yes(question string, preset bool) (bool, error) {
	keys := "y/N"
	if preset {
		keys = "Y/n"
	}
	for {
		answer, err := a.read(question, Line(question, 0)+a.out.paint(dim, " ["+keys+"]")+" ")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "":
			return preset, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// Choose asks for one of several answers and returns its key. An answer that
// is none of them is asked for again.
func (a *Ask) Choose(question string, choices []Choice, preset string) (string, error) {
	var menu strings.Builder
	menu.WriteString(Line(question, 0) + "\n")
	keys := make([]string, len(choices))
	for i, c := range choices {
		keys[i] = c.Key
		menu.WriteString("  " + a.out.paint(bold, Line(c.Key, 0)) + "  " + Line(c.Text, 0) + "\n")
	}
	prompt := strings.Join(keys, "/")
	if preset != "" {
		prompt += " [" + preset + "]"
	}
	menu.WriteString(a.out.paint(dim, prompt) + " ")
	for {
		answer, err := a.read(question, menu.String())
		if err != nil {
			return "", err
		}
		if answer == "" {
			answer = preset
		}
		for _, key := range keys {
			if strings.EqualFold(answer, key) {
				return key, nil
			}
		}
	}
}

func (a *Ask) read(question, prompt string) (string, error) {
	if !a.interactive {
		return "", fault.New(fault.Invalid, "nobody is there to answer: %s", question).
			WithHint("run the command at a terminal")
	}
	if _, err := io.WriteString(a.out, prompt); err != nil {
		return "", err
	}
	line, err := a.in.ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		_, _ = fmt.Fprintln(a.out)
		return "", fault.New(fault.Interrupted, "no answer was given: %s", question)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(Clean(line)), nil
}
