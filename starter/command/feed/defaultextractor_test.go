package feed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/starter/command/commandtest"
)

// A worker without a model's key remembers real work: the user's wishes reach the facts, and a replay finds the same.
func TestDefaultExtractor(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t, "--model", "")
	const wish = "We focus our unit tests on complicated logic in `pkg/sync`, and never on what the compiler checks."
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "Can you look at `pkg/sync/pool.go`?")+commandtest.Said(2, "assistant", "Let me look at the file.")+
		commandtest.Said(3, "user", wish)+commandtest.Said(4, "assistant", "OK."))
	require.Zero(t, c.Process(path, "--session", "s", "--user", c.Project).Code)
	found := c.Run("search", "unit tests on logic", "--project", c.Project, "--user", c.Project)
	require.Contains(t, found.Out, "complicated logic", found)
	require.NotContains(t, c.Run("search", "look at the file", "--project", c.Project, "--user", c.Project).Out, "Let me look")
	require.Contains(t, c.Run("facts", "--user", c.Project).Out, "We focus our unit tests")
	replayed := commandtest.Decode[build.Replayed](t, c.Run("builds", "replay", c.BuildsOf(t, "s")[0], "-o", "json"))
	require.Empty(t, replayed.Differences)
	require.Equal(t, []string{"the answers are computed again: rules/worth-v4 needs no model"}, replayed.Notes)
}
