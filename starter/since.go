package main

import (
	"regexp"
	"strconv"
	"time"
)

// maxSinceDays is the longest period in days that --since accepts.
const maxSinceDays = 36_500

var daysAgo = regexp.MustCompile(`^(\d{1,9})d$`)

// parseSince parses the value of --since as a period before now, such as 7d or 12h, or as parseTime does. It returns the
// zero time if the value is empty.
func parseSince(value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if m := daysAgo.FindStringSubmatch(value); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n <= maxSinceDays {
			return now.UTC().AddDate(0, 0, -n), nil
		}
	} else if span, err := time.ParseDuration(value); err == nil && span >= 0 {
		return now.UTC().Add(-span), nil
	} else if at, err := parseTime("since", value); err == nil {
		return at, nil
	}
	return time.Time{}, usagef("--since %q: want a span like 7d or 12h, a day like 2006-01-02, or a time like 2006-01-02T15:04:05Z", value)
}
