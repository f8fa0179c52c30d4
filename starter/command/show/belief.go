package show

import (
	"time"

	"axiommind/schema"
)

// MaxTitleShown bounds a title that is shown next to the model's judgment, in characters.
const MaxTitleShown = 160

// StageText returns the stage, with the status unless the entry is active.
func StageText(stage schema.Stage, status schema.Status) string {
	if status == schema.StatusActive || status == "" {
		return string(stage)
	}
	return string(stage) + ", " + string(status)
}

// DayOf formats the day of a time. A time that is only known to the day is midnight in UTC.
func DayOf(t time.Time) string {
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.UTC().Format(time.DateOnly)
	}
	return t.Local().Format(time.DateOnly)
}
