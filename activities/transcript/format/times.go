package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	language "axiommind/activities/text"
	"axiommind/schema"

	"github.com/tidwall/gjson"
)

// The years that a time of a session may lie in. Times outside are taken for mistakes: of a clock, of a
// unit, or of a field that was never set. Every year in between can be stored and written as JSON, and
// the four units of a number since the epoch cannot be confused.
const (
	FirstYear = 1980
	LastYear  = 2199
)

var (
	earliest = time.Date(FirstYear, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(LastYear+1, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Plausible reports whether a session can have a message of that time.
func Plausible(t time.Time) bool { return !t.Before(earliest) && t.Before(latest) }

var timeLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05.999999999",
	"2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999 Z07:00",
	"2006-01-02 15:04:05.999999999 Z0700",
	"2006-01-02 15:04:05.999999999 UTC",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04",
	"2006/01/02 15:04:05",
	"2006/01/02 15:04",
	time.DateOnly,
	time.RFC1123Z,
	"Mon, 02 Jan 2006 15:04:05 GMT",
}

// time reads a time given as text or as a number since the epoch. It is zero if the value has none, or an impossible
// one, which is noted with the line.
func (b *builder) time(line int, v gjson.Result) time.Time {
	switch v.Type {
	case gjson.Null:
		return time.Time{}
	case gjson.Number:
		return b.timeNumber(line, v.Num, v.Raw)
	case gjson.String:
		return b.timeText(line, v.Str)
	}
	b.skipTime(line, v.Raw, "cannot be read")
	return time.Time{}
}

func (b *builder) timeText(line int, s string) time.Time {
	s = strings.TrimSpace(s)
	if s == "" {
		return time.Time{}
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && strings.Trim(s, "0123456789.eE+-") == "" {
		return b.timeNumber(line, n, s)
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return b.timeValue(line, t, s)
		}
	}
	b.skipTime(line, s, "cannot be read")
	return time.Time{}
}

// timeNumber reads seconds, milli-, micro- or nanoseconds: whichever makes a plausible time. 0 means no time.
func (b *builder) timeNumber(line int, n float64, shown string) time.Time {
	if n == 0 {
		return time.Time{}
	}
	for _, micros := range []float64{n * 1e6, n * 1e3, n, n / 1e3} {
		if micros < float64(earliest.UnixMicro()) || micros >= float64(latest.UnixMicro()) {
			continue
		}
		if t := time.UnixMicro(int64(math.Round(micros))); Plausible(t) {
			return t.UTC()
		}
	}
	b.skipTime(line, shown, outOfRange)
	return time.Time{}
}

func (b *builder) timeValue(line int, t time.Time, shown string) time.Time {
	if !Plausible(t) {
		b.skipTime(line, shown, outOfRange)
		return time.Time{}
	}
	return t.UTC()
}

var outOfRange = fmt.Sprintf("is not of the years %d to %d", FirstYear, LastYear)

// skipTime notes a time that is left out. Records that make several messages note it once.
func (b *builder) skipTime(line int, shown, why string) {
	const most = 60
	reason := fmt.Sprintf("time %q %s: left out", clean(language.Clip(shown, most)), why)
	if b.skips().last != (schema.Skipped{Line: line, Reason: reason}) {
		b.skip(line, reason)
	}
}
