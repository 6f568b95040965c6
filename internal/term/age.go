package term

import (
	"fmt"
	"time"
)

// Age says how long before now t is: "just now", "3 days ago"; "in 3 days"
// when it is after now. Parts of a unit do not count. The zero time is no time
// and has no age: "".
func Age(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := now.Sub(t)
	form := "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	const day = 24 * time.Hour
	for _, u := range []struct {
		size time.Duration
		name string
	}{{365 * day, "year"}, {30 * day, "month"}, {day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.size); n == 1 {
			return fmt.Sprintf(form, "1 "+u.name)
		} else if n > 1 {
			return fmt.Sprintf(form, fmt.Sprintf("%d %ss", n, u.name))
		}
	}
	return "just now"
}
