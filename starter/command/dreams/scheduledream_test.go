package dreams_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/dreams"
)

// A schedule starts real dreams by itself, and not only by hand.
func TestScheduleDreams(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t, "--memory-root", t.TempDir(), "--time-zone", "UTC")
	file := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(2, "assistant", "Noted."))
	require.Zero(t, c.Process(file, "--session", "s1").Code)
	o := c.Run("schedule", "apply", "--user", "default", "--cron", "@every 1s", "--jitter", "0")
	require.Zero(t, o.Code, o)
	commandtest.Eventually(t, func() bool {
		shown := c.Run("memory", "show")
		return shown.Code == 0 && len(shown.Out) > 0
	})
	require.Contains(t, c.Run("memory", "show").Out, "- "+commandtest.Decision)
	id := schema.DreamScheduleID("default", "")
	require.NotEmpty(t, commandtest.Decode[dreams.Schedule](t, c.Run("schedule", "show", id, "-o", "json")).Recent)
	require.Zero(t, c.Run("schedule", "delete", id).Code)
}
