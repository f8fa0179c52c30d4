package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A schedule starts real dreams by itself, and not only by hand.
func TestScheduleDreams(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t, "--memory-root", t.TempDir(), "--time-zone", "UTC")
	file := write(t, "s.jsonl", said(1, "user", decision)+said(2, "assistant", "Noted."))
	require.Zero(t, c.process(file, "--session", "s1").code)
	o := c.run("schedule", "apply", "--user", "default", "--cron", "@every 1s", "--jitter", "0")
	require.Zero(t, o.code, o)
	eventually(t, func() bool {
		shown := c.run("memory", "show")
		return shown.code == 0 && len(shown.out) > 0
	})
	require.Contains(t, c.run("memory", "show").out, "- "+decision)
	id := schema.DreamScheduleID("default", "")
	require.NotEmpty(t, decode[schedule](t, c.run("schedule", "show", id, "-o", "json")).Recent)
	require.Zero(t, c.run("schedule", "delete", id).code)
}
