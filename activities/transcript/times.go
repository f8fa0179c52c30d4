package transcript

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

var timeLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02",
}

// timeOf reads a time given as text or as a number since the epoch in seconds, milli-, micro- or
// nanoseconds, told apart by its size. It is zero when the value is no time of the years 1970 to 9999.
func timeOf(v gjson.Result) time.Time {
	switch v.Type {
	case gjson.Number:
		return epoch(v.Num)
	case gjson.String:
		return timeText(v.Str)
	}
	return time.Time{}
}

func timeText(s string) time.Time {
	s = strings.TrimSpace(s)
	if f, err := strconv.ParseFloat(s, 64); err == nil && len(s) > 4 {
		return epoch(f)
	}
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, s); err == nil {
			return sane(t)
		}
	}
	return time.Time{}
}

func epoch(n float64) time.Time {
	switch {
	case math.IsNaN(n) || n <= 0 || n >= 1e19:
		return time.Time{}
	case n < 1e11:
		return sane(time.UnixMicro(int64(math.Round(n * 1e6))))
	case n < 1e14:
		return sane(time.UnixMilli(int64(n)))
	case n < 1e17:
		return sane(time.UnixMicro(int64(n)))
	}
	if n >= math.MaxInt64 {
		return time.Time{}
	}
	return sane(time.Unix(0, int64(n)))
}

func sane(t time.Time) time.Time {
	t = t.UTC()
	if t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
