package transcript

import (
	"fmt"
	"time"

	"axiommind/activities/transcript/format"
)

// ParseDate reads the date that a person gives for a session, as 2006-01-02 or RFC 3339.
func ParseDate(given string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		t, err := time.Parse(layout, given)
		switch {
		case err != nil:
		case !format.Plausible(t):
			return time.Time{}, fmt.Errorf("date %q: want one of the years %d to %d", given, format.FirstYear, format.LastYear)
		default:
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("date %q: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z", given)
}
