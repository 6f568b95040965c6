package term

import (
	"io"

	"jp/internal/lib/fault"
)

// Fault writes an error for people: "error: …" and, if there is one, a
// "hint: …", each in a line that is folded on a terminal; or as one JSON object
// {message, hint, code}.
func Fault(s Stream, err error, asJSON bool) {
	message, hint := err.Error(), fault.HintOf(err)
	if asJSON {
		_ = NewJSON(s, false).Write(struct {
			Message string     `json:"message"`
			Hint    string     `json:"hint"`
			Code    fault.Code `json:"code"`
		}{message, hint, fault.CodeOf(err)})
		return
	}
	text := s.sentence("error:", also(bold, red), message)
	if hint != "" {
		text += s.sentence("hint:", dim, hint)
	}
	_, _ = io.WriteString(s, text)
}
