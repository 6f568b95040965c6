package scene

import (
	"strings"
	"unicode"

	"jp/internal/lib/fault"
)

// FieldError says that one field of what was handed in does not fit, whatever
// else there is: an Invalid of its own, so that a face can point at the field.
type FieldError struct {
	Field string // as clients name it: "name", "extra_headers"
	Err   *fault.Error
}

var _ fault.Coded = (*FieldError)(nil)

func (e *FieldError) Error() string         { return e.Err.Error() }
func (e *FieldError) Unwrap() error         { return e.Err }
func (e *FieldError) FaultCode() fault.Code { return e.Err.Code }
func (e *FieldError) FaultHint() string     { return e.Err.Hint }

// misfit is a FieldError with a sentence.
func misfit(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Err: fault.New(fault.Invalid, format, args...)}
}

// hint adds what to do.
func (e *FieldError) hint(format string, args ...any) *FieldError {
	return &FieldError{Field: e.Field, Err: e.Err.WithHint(format, args...)}
}

// needText refuses a text of which nothing would be seen.
func needText(field, text string) error {
	visible := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	if strings.IndexFunc(text, visible) < 0 {
		return misfit(field, "the %s is empty", strings.ReplaceAll(field, "_", " ")).hint("give it one")
	}
	return nil
}

// longestID is how long an id that people choose may be, in bytes.
const longestID = 128

// checkID refuses an id that could not stand in the path of a URL as it is.
func checkID(id string) error {
	bad := func(r rune) bool {
		return !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune(`/\?#%`, r)
	}
	if id == "" || id == "." || id == ".." || len(id) > longestID || strings.ContainsFunc(id, bad) {
		return misfit("id", "%q cannot be an id", id).
			hint("take letters, digits, - and _, at most %d", longestID)
	}
	return nil
}
