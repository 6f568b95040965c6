package chat

import (
	"bytes"
	"encoding/json"
)

// halves joins characters that a server cut in two. Some send as many UTF-16
// units as they like, and a half of a character is an escape of its own in
// JSON, which is read as no character at all.
type halves struct {
	held string // `\ud83c`, until the other half comes
}

// join returns a JSON string behind the half that was held, and without one at
// its end.
func (h *halves) join(text json.RawMessage) json.RawMessage {
	if len(text) < len(`""`) || text[0] != '"' {
		return text
	}
	if h.held != "" {
		text = json.RawMessage(`"` + h.held + string(text[1:]))
		h.held = ""
	}
	end := len(text) - len(`"`)
	at := end - len(`\ud83c`)
	if at <= 0 || !firstHalf(text[at:end]) || escaped(text[:at]) {
		return text
	}
	h.held = string(text[at:end])
	return json.RawMessage(string(text[:at]) + `"`)
}

// firstHalf tells whether six bytes of JSON are the first half of a character.
func firstHalf(b []byte) bool {
	return b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && bytes.IndexByte([]byte("89abAB"), b[3]) >= 0
}

// escaped tells whether what follows is escaped.
func escaped(before []byte) bool {
	slashes := len(before) - len(bytes.TrimRight(before, `\`))
	return slashes%2 == 1
}
