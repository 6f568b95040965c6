package term

import (
	"fmt"

	"jp/internal/lib/fault"
)

// Fault writes an error for people: "error: …" and, if there is one, a
// "hint: …", one line each; or as one JSON object {message, hint, code}.
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
	_, _ = fmt.Fprintf(s, "%s %s\n", s.paint(also(bold, red), "error:"), Line(message, 0))
	if hint != "" {
		_, _ = fmt.Fprintf(s, "%s %s\n", s.paint(dim, "hint:"), Line(hint, 0))
	}
}
