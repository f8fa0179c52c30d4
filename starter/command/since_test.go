package command

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseSince(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 30, 0, 0, time.FixedZone("", 3600))
	for given, want := range map[string]time.Time{
		"":                          {},
		"7d":                        time.Date(2026, 11, 15, 8, 30, 0, 0, time.UTC),
		"0d":                        now.UTC(),
		"90m":                       time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC),
		"12h":                       time.Date(2026, 11, 21, 20, 30, 0, 0, time.UTC),
		"2026-11-01":                time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-01T10:00:00+02:00": time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC),
	} {
		at, err := ParseSince(given, now)
		require.NoError(t, err, given)
		require.True(t, want.Equal(at), "%s: %s", given, at)
	}
	for _, given := range []string{"7", "-7d", "-1h", "7 d", "d", "yesterday", "999999999d", "99999999999999999999d", "2026-13-01", "\u0667d"} {
		_, err := ParseSince(given, now)
		require.ErrorContains(t, err, "want a span like 7d or 12h, a day like 2006-01-02", given)
		require.True(t, IsUsage(err))
	}
}
