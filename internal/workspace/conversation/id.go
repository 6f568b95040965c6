package conversation

import (
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

// ParseID reads an id as "jp-c17727391057", the same with a global id behind
// it ("jp-c17727391057-a1b2"), the bare number, or a directory's name. Its
// error is a fault.NotFound: the text names no conversation.
func ParseID(s string) (ID, error) {
	text, global := strings.CutPrefix(s, "jp-c")
	id, ok := DirID(text)
	if _, behind, more := strings.Cut(text, "-"); global && more {
		ok = ok && globalForm.MatchString(behind)
	}
	if !ok {
		return 0, fault.New(fault.NotFound, "%q is no conversation id", s).
			WithHint("ids look like jp-c17727391057; `jp c ls` lists them")
	}
	return id, nil
}

var globalForm = regexp.MustCompile(`^[a-z0-9]+$`)

// DirID reads the id that a directory's name begins with: the number, which
// only a dash may follow.
func DirID(name string) (ID, bool) {
	digits, _, _ := strings.Cut(name, "-")
	if strings.Trim(digits, "0123456789") != "" {
		return 0, false // a sign, which ParseInt would read
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return ID(n), err == nil
}

// maxSlug keeps a name, with what a temporary adds to it, below the 255 bytes
// that file systems allow.
const maxSlug = 180

// DirName returns the name of the directory of a conversation with this title:
// the number, and after a dash the title's slug unless that is empty.
func (id ID) DirName(title string) string {
	n := strconv.FormatInt(int64(id), 10)
	if s := Slug(title); s != "" {
		return n + "-" + s
	}
	return n
}

// Slug is a title as directories write it, maybe empty, by the existing tool's
// rule: the first 60 characters, what is neither letter nor number as a dash,
// cut back to a whole word when something was lost.
func Slug(title string) string {
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
