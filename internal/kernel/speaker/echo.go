package speaker

import "strings"

// Echo takes a speaker's own label off the start of what its model writes:
// models that read "[dev]: …" everywhere tend to write it too. "[label]: " and
// "**[label]:** " go, repeatedly, at the very start only; a foreign label is
// text. What may still become a label is held back, everything else passes at
// once, and the result does not depend on how the text is cut into pieces.
//
// The nil Echo and one without a label pass everything through.
type Echo struct {
	forms []string
	held  string
	after bool // a label was taken; line breaks after it go too
	done  bool
}

// NewEcho returns a filter for one answer of the speaker with this label.
func NewEcho(label string) *Echo {
	if label == "" {
		return &Echo{done: true}
	}
	return &Echo{forms: []string{"[" + label + "]:", "**[" + label + "]:**"}}
}

// Write takes the next piece and returns what can be shown.
func (e *Echo) Write(s string) string {
	if e == nil || e.done {
		return s
	}
	e.held += s
	for {
		if e.after {
			e.held = strings.TrimLeft(e.held, "\r\n")
		}
		rest, ok := e.strip(e.held)
		if !ok {
			break
		}
		e.held = rest
	}
	if e.mayBecomeLabel() {
		return ""
	}
	e.done = true
	return e.held
}

// Flush ends the text and returns what was held back. A label with nothing
// after it is no text.
func (e *Echo) Flush() string {
	if e == nil || e.done {
		return ""
	}
	e.done = true
	for _, form := range e.forms {
		if e.held == form {
			return ""
		}
	}
	return e.held
}

// strip takes one label and the white space that ends it off s.
func (e *Echo) strip(s string) (string, bool) {
	for _, form := range e.forms {
		rest, ok := strings.CutPrefix(s, form)
		if !ok || rest == "" || !strings.ContainsRune(" \t\r\n", rune(rest[0])) {
			continue
		}
		e.after = true
		return rest[1:], true
	}
	return s, false
}

func (e *Echo) mayBecomeLabel() bool {
	for _, form := range e.forms {
		if strings.HasPrefix(form, e.held) {
			return true
		}
	}
	return false
}
