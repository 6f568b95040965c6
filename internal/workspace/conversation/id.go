package conversation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"jp/internal/lib/fault"
)

// ID names a conversation: its creation time in tenths of a second since the
// Unix epoch, UTC.
type ID int64

// NewID returns the id of a conversation created at t.
func NewID(t time.Time) ID { return ID(t.UnixMilli() / 100) }

// String returns the text form, e.g. "jp-c17727391057".
func (id ID) String() string { return "jp-c" + strconv.FormatInt(int64(id), 10) }

// Time returns the creation time.
func (id ID) Time() time.Time { return time.UnixMilli(int64(id) * 100).UTC() }

// The global id and a directory's slug follow the number.
var idForm = regexp.MustCompile(`^(?:jp-c([0-9]{1,18})(?:-[a-z0-9]+)?|([0-9]{1,18})(?:-.*)?)$`)

// ParseID reads an id as "jp-c17727391057", the same with a global id behind
// it ("jp-c17727391057-a1b2"), the bare number, or a directory's name. Its
// error is a fault.NotFound: the text names no conversation.
func ParseID(s string) (ID, error) {
	m := idForm.FindStringSubmatch(s)
	if m == nil {
		return 0, fault.New(fault.NotFound, "%q is no conversation id", s).
			WithHint("ids look like jp-c17727391057; `jp c ls` lists them")
	}
	n, err := strconv.ParseInt(m[1]+m[2], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("conversation id %q: %w", s, err)
	}
	return ID(n), nil
}

// maxSlug keeps a name, with what a temporary adds to it, below the 255 bytes
// that file systems allow.
const maxSlug = 180

// DirName returns the name of the directory of a conversation with this title:
// the number, and after a dash the title's slug unless that is empty.
func (id ID) DirName(title string) string {
	n := strconv.FormatInt(int64(id), 10)
	if s := slug(title); s != "" {
		return n + "-" + s
	}
	return n
}

// slug is the existing tool's: the first 60 characters, what is neither letter
// nor number as a dash, cut back to a whole word when something was lost.
func slug(title string) string {
	title = strings.TrimSpace(title)
	var b strings.Builder
	for n, r := range []rune(title) {
		if n == 60 || b.Len() >= maxSlug {
			break
		}
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			r = '-'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	s := b.String()
	if len(title) > 60 {
		if i := strings.LastIndexByte(s, '-'); i >= 0 {
			s = s[:i]
		}
	}
	return strings.TrimRight(s, "-")
}

const stampLayout = "2006-01-02 15:04:05.999999999"

// FormatTime writes a time as every file of a conversation holds it: UTC, a
// fraction of one to nine digits.
func FormatTime(t time.Time) string {
	s := t.UTC().Format(stampLayout)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// ParseTime reads what FormatTime writes, and RFC 3339.
func ParseTime(s string) (time.Time, error) {
	if t, err := time.Parse(stampLayout, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err
}
