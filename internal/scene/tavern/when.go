package tavern

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// humanized is the form of SillyTavern's file names: 2024-1-5@14h03m22s123ms,
// with or without blanks.
var humanized = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s ?(?:(\d{1,3})ms)?$`)

// zoned ends the way browsers write dates: the zone's name in brackets.
var zoned = regexp.MustCompile(` \([^)]*\)$`)

// layouts are the other forms. Those without a zone count as UTC.
func layouts() []string {
	return []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", "2006-01-02",
		"January 2, 2006 3:04PM", "January 2, 2006 3:04:05PM", "January 2, 2006 15:04", "January 2, 2006 15:04:05",
		"Jan 2, 2006 3:04PM", "Jan 2, 2006 3:04:05PM", "1/2/2006, 3:04:05PM", "1/2/2006, 3:04PM", "1/2/2006, 15:04:05",
		"Mon Jan 2 2006 15:04:05 GMT-0700", "Mon, 2 Jan 2006 15:04:05 MST",
	}
}

// when reads a date in any of the forms that such files have; the zero time
// when it is none of them. Milliseconds since 1970 may also stand in a string.
func when(raw json.RawMessage) time.Time {
	s := strings.Join(strings.Fields(text(raw)), " ")
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return epoch(n)
	}
	if m := humanized.FindStringSubmatch(s); m != nil {
		var n [7]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1]) // digits; none are 0
		}
		return sane(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*1e6, time.UTC))
	}
	s = zoned.ReplaceAllString(s, "")
	for _, half := range []string{"AM", "PM"} {
		if cut, ok := strings.CutSuffix(strings.ToUpper(s), half); ok {
			s = strings.TrimSpace(s[:len(cut)]) + half
		}
	}
	for _, layout := range layouts() {
		if t, err := time.Parse(layout, s); err == nil {
			return sane(t.UTC())
		}
	}
	return time.Time{}
}

// epoch is a number of milliseconds since 1970, or of seconds when it is too
// small for that.
func epoch(n float64) time.Time {
	if n < 1e11 {
		n *= 1000
	}
	if !(n > 0 && n < 1e15) {
		return time.Time{}
	}
	return sane(time.UnixMilli(int64(n)).UTC())
}

// sane refuses years that no chat is from.
func sane(t time.Time) time.Time {
	if t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// stamp writes a date as SillyTavern does now.
func stamp(t time.Time) string {
	if t.Nanosecond()%1e6 != 0 {
		return t.UTC().Format(time.RFC3339Nano)
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
