package sqlstore

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"time"

	"jp/internal/lib/fault"
)

// layout gives every time the same width, so that text sorts as time does.
const layout = "2006-01-02T15:04:05.000000Z"

// The wrappers: how a field stands in its column.
type (
	moment   struct{ to *time.Time }       // a time
	moments  struct{ to **time.Time }      // a time or NULL
	list     struct{ to *[]string }        // a JSON list; nil is the empty one
	verbatim struct{ to *json.RawMessage } // JSON text as it came; nil is NULL
	document struct{ to any }              // JSON of what a pointer points to; nil is NULL
	excerpt  struct{ to *string }          // the beginning of a text, only read
)

var (
	_ sql.Scanner   = moment{}
	_ sql.Scanner   = moments{}
	_ sql.Scanner   = list{}
	_ sql.Scanner   = verbatim{}
	_ sql.Scanner   = document{}
	_ sql.Scanner   = excerpt{}
	_ driver.Valuer = moment{}
	_ driver.Valuer = moments{}
	_ driver.Valuer = list{}
	_ driver.Valuer = verbatim{}
	_ driver.Valuer = document{}
)

// Value implements driver.Valuer.
func (m moment) Value() (driver.Value, error) { return m.to.UTC().Format(layout), nil }

// Scan implements sql.Scanner.
func (m moment) Scan(stored any) error {
	text, _ := stored.(string)
	t, err := time.Parse(layout, text)
	if err != nil {
		return unreadable("time", err)
	}
	*m.to = t
	return nil
}

// Value implements driver.Valuer.
func (m moments) Value() (driver.Value, error) {
	if *m.to == nil {
		return nil, nil
	}
	return moment{*m.to}.Value()
}

// Scan implements sql.Scanner.
func (m moments) Scan(stored any) error {
	if stored == nil {
		*m.to = nil
		return nil
	}
	*m.to = new(time.Time)
	return moment{*m.to}.Scan(stored)
}

// Value implements driver.Valuer.
func (l list) Value() (driver.Value, error) {
	if *l.to == nil {
		return "[]", nil
	}
	return document{l.to}.Value()
}

// Scan implements sql.Scanner.
func (l list) Scan(stored any) error { return document{l.to}.Scan(stored) }

// Value implements driver.Valuer.
func (v verbatim) Value() (driver.Value, error) {
	if *v.to == nil {
		return nil, nil
	}
	return string(*v.to), nil
}

// Scan implements sql.Scanner.
func (v verbatim) Scan(stored any) error {
	*v.to = nil
	if text, ok := stored.(string); ok {
		*v.to = json.RawMessage(text)
	}
	return nil
}

// Value implements driver.Valuer.
func (d document) Value() (driver.Value, error) {
	text, err := json.Marshal(d.to)
	if err != nil {
		return nil, fault.New(fault.Internal, "a value that is no JSON: %w", err)
	}
	if string(text) == "null" {
		return nil, nil
	}
	return string(text), nil
}

// Scan implements sql.Scanner.
func (d document) Scan(stored any) error {
	text, ok := stored.(string)
	if !ok {
		return nil
	}
	if err := json.Unmarshal([]byte(text), d.to); err != nil {
		return unreadable("value", err)
	}
	return nil
}

// excerptLength is in characters; excerptSQL takes bytes enough for them. It
// does so of a blob, since a text of SQLite ends at a zero byte.
const (
	excerptLength = 200
	excerptSQL    = "substr(CAST(content AS BLOB), 1, 800)"
)

// Scan implements sql.Scanner.
func (e excerpt) Scan(stored any) error {
	b, _ := stored.([]byte)
	text := []rune(string(b))
	*e.to = string(text[:min(len(text), excerptLength)])
	return nil
}

func unreadable(what string, err error) error {
	return fault.New(fault.Damaged, "the database holds a %s that cannot be read: %w", what, err)
}
