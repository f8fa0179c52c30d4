package dreams

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A lost run is printed prominently.
func TestPrintSchedules(t *testing.T) {
	t.Parallel()
	next := time.Date(2026, 6, 8, 1, 30, 0, 0, time.UTC)
	s := Schedule{
		ID: schema.DreamSchedule, Next: &next, Missed: 2, Skipped: 1,
		ScheduleDefinition: ScheduleDefinition{Cron: "30 3 * * *", TimeZone: "Europe/Berlin", CatchUp: duration(6 * time.Hour)},
		Recent:             []scheduleRun{{Scheduled: next.AddDate(0, 0, -1), Status: "completed", Summary: "night\nof"}},
	}
	paused := Schedule{ID: "axiommind-dream/ann", Paused: true, Note: "a\nb", ScheduleDefinition: ScheduleDefinition{
		User: "ann", Cron: "@every 12h", TimeZone: "Nowhere", LookbackDays: 2}, Skipped: 3}
	var b strings.Builder
	printSchedules(&b, []Schedule{s, paused})
	require.Equal(t, `SCHEDULE             DREAMS OF     WHEN                      NEXT                   LAST                   ENDED      MISSED  SKIPPED
axiommind-dream      all memories  30 3 * * * Europe/Berlin  2026-06-08 03:30 CEST  2026-06-07 03:30 CEST  completed       2        1
axiommind-dream/ann  user ann      @every 12h Nowhere        paused                 -                      -               0        3
axiommind-dream: night of
!! axiommind-dream: 2 runs were missed while Temporal was away for longer than 6h, 1 run was skipped because the one before still ran
   → run them: starter schedule backfill axiommind-dream --from DAY --to DAY (no day is lost without: the next run reads all that no dream has read)
axiommind-dream/ann is paused: a b
!! axiommind-dream/ann: 3 runs were skipped because the one before still ran
   → run them: starter schedule backfill axiommind-dream/ann --from DAY --to DAY
`, b.String())
	b.Reset()
	printSchedule(&b, &s)
	require.Contains(t, b.String(), "!! axiommind-dream: 2 runs were missed")
	require.Contains(t, b.String(), "reads     all days that no dream has read\n")
}

func TestDreamLine(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]schema.DeepDreamResult{
		"dream of D: version 2 of 1 item, 1 added, 0 dropped": {Date: "D", Status: schema.DreamCommitted, Version: 2, Items: 1, Added: 1},
		"dream of D: unchanged":                               {Date: "D", Status: schema.DreamUnchanged},
		"dream of D: refused: truncated":                      {Date: "D", Status: schema.DreamIsRefused, Reason: "truncated"},
		"dream of D: skipped: nothing new":                    {Date: "D", Status: schema.DreamSkipped, Reason: "nothing new"},
	} {
		require.Equal(t, want, dreamLine(r))
	}
}

func TestMachineZone(t *testing.T) {
	t.Parallel()
	etc := t.TempDir()
	require.Equal(t, "UTC", machineZone("", etc))
	require.Equal(t, "UTC", machineZone("/no/where", etc))
	require.Equal(t, "Asia/Seoul", machineZone("Asia/Seoul", etc))
	require.Equal(t, "Asia/Seoul", machineZone(":Asia/Seoul", etc))
	require.NoError(t, os.WriteFile(filepath.Join(etc, "timezone"), []byte("Europe/Berlin\n"), 0o600))
	require.Equal(t, "Europe/Berlin", machineZone("", etc))
	zones := filepath.Join(etc, "zoneinfo", "America")
	require.NoError(t, os.MkdirAll(zones, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(zones, "Lima"), nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Join(zones, "Lima"), filepath.Join(etc, "localtime")))
	require.Equal(t, "America/Lima", machineZone("Local", etc))
}

func TestDurationAsText(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "0s", 10 * time.Minute: "10m", 6 * time.Hour: "6h", 90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s"} {
		require.Equal(t, want, duration(d).String())
		data, err := json.Marshal(duration(d))
		require.NoError(t, err)
		var back duration
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, duration(d), back)
	}
}
