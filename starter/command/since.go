package command

import (
	"regexp"
	"strconv"
	"time"
)

// maxSinceDays is the longest period in days that --since accepts.
const maxSinceDays = 36_500

var daysAgo = regexp.MustCompile(`^(\d{1,9})d$`)

// ParseSince parses the value of --since as a period before now, such as 7d or 12h, or as [ParseTime] does. It returns the
// zero time if the value is empty.
func ParseSince(value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if m := daysAgo.FindStringSubmatch(value); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n <= maxSinceDays {
			return now.UTC().AddDate(0, 0, -n), nil
		}
	} else if span, err := time.ParseDuration(value); err == nil && span >= 0 {
		return now.UTC().Add(-span), nil
	} else if at, err := ParseTime("since", value); err == nil {
		return at, nil
	}
	return time.Time{}, Usagef("--since %q: want a span like 7d or 12h, a day like 2006-01-02, or a time like 2006-01-02T15:04:05Z", value)
}

// ParseAsOf parses the value of --as-of. A day means its end, and an empty value the zero time.
func ParseAsOf(value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	at, err := ParseTime("as-of", value)
	if err == nil && len(value) == len(time.DateOnly) {
		at = at.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	return at, err
}
