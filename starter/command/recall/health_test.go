package recall_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/graduate"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// The results of a search or a context count as retrieved from then on, unless a person disables that. Health shows a remedy
// for each count.
func TestHealth(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	require.Equal(t, "nothing is remembered yet; process a transcript with: starter process FILE\n", c.Run("health").Out)
	file := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)+commandtest.Said(2, "user", "I prefer tabs over spaces in Go files.")+
		commandtest.Said(3, "user", "We decided to write the parser by hand."))
	require.Zero(t, c.Process(file).Code)
	count := func(args ...string) graduate.Health {
		t.Helper()
		all := commandtest.Decode[[]graduate.Health](t, c.Run(append([]string{"health", "--project", c.Project, "-o", "json"}, args...)...))
		require.Len(t, all, 1)
		return all[0]
	}
	fresh := count()
	require.Positive(t, fresh.Believed)
	require.Equal(t, fresh.Entries, fresh.Believed)
	require.Equal(t, fresh.Believed, fresh.Proven+fresh.Unproven)
	require.Equal(t, fresh.Believed, fresh.NeverRetrieved)

	search := []string{"search", "which database holds the event log", "--project", c.Project, "--limit", "1"}
	require.Contains(t, c.Run(append(search, "--no-usage")...).Out, commandtest.Decision)
	require.Equal(t, fresh, count(), "--no-usage leaves no trace")
	// A search does not wait for a server that is too busy to record it.
	commandtest.Eventually(t, func() bool {
		require.Contains(t, c.Run(search...).Out, commandtest.Decision)
		return count().NeverRetrieved == fresh.NeverRetrieved-1
	})
	commandtest.Eventually(t, func() bool {
		require.Contains(t, c.Run("context").Out, "tabs over spaces")
		return count().NeverRetrieved < fresh.NeverRetrieved-1
	})

	shown := c.Run("health", "--project", c.Project)
	require.Zero(t, shown.Code, shown)
	require.Contains(t, shown.Out, "never retrieved")
	require.Contains(t, shown.Out, "→ starter health --list never_retrieved --project "+c.Project)
	listed := commandtest.Decode[[]graduate.Counted](t, c.Run("health", "--list", "never_retrieved", "--project", c.Project, "-o", "json"))
	require.Len(t, listed, count().NeverRetrieved)
	for _, e := range listed {
		require.NotEqual(t, commandtest.Decision, e.Title)
		require.Contains(t, c.Run("health", "--list", "never_retrieved").Out, command.ShortID(e.EntryID))
	}
	require.Equal(t, "no memory is counted as contested\n", c.Run("health", "--list", "contested").Out)
	one := commandtest.Decode[[]graduate.Health](t, c.Run("health", "--by", "scope", "-o", "json"))
	require.Len(t, one, 1)
	require.Equal(t, "default", one[0].User)

	require.Zero(t, c.Run("process", file, "--project", "other one").Code)
	several := c.Run("health")
	require.Contains(t, several.Out, "NEVER RETRIEVED")
	require.Contains(t, several.Out, "--project PROJECT")
	require.Contains(t, c.Run("health", "--project", "other one").Out, "--project 'other one'")
	require.Equal(t, "nothing is remembered in project nobody\n", c.Run("health", "--project", "nobody").Out)
	require.Equal(t, "[]\n", c.Run("health", "--project", "nobody", "-o", "json").Out)
	for flag, value := range map[string]string{"--by": "day", "--list": "bad", "--limit": "0"} {
		o := c.Run("health", flag, value)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.True(t, strings.Contains(o.Err, flag), o)
	}
}

// A search that can't be recorded still returns its answer.
func TestSearchThatIsNotNoted(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))).Code)
	conn, err := clickhouse.Connect(t.Context(), c.Config(t).ClickHouseDSN, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.Exec(t.Context(), "DROP TABLE usage_raw SYNC"))
	o := c.Run("search", "which database holds the event log", "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, commandtest.Decision)
	require.NotContains(t, o.Err, "usage")
}
