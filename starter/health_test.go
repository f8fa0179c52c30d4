package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
)

// The results of a search or a context count as retrieved from then on, unless a person disables that. Health shows a remedy
// for each count.
func TestHealth(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	require.Equal(t, "nothing is remembered yet; process a transcript with: starter process FILE\n", c.run("health").out)
	file := write(t, "s.jsonl", said(1, "user", decision)+said(2, "user", "I prefer tabs over spaces in Go files.")+
		said(3, "user", "We decided to write the parser by hand."))
	require.Zero(t, c.process(file).code)
	count := func(args ...string) graduate.Health {
		t.Helper()
		all := decode[[]graduate.Health](t, c.run(append([]string{"health", "--project", c.project, "-o", "json"}, args...)...))
		require.Len(t, all, 1)
		return all[0]
	}
	fresh := count()
	require.Positive(t, fresh.Believed)
	require.Equal(t, fresh.Entries, fresh.Believed)
	require.Equal(t, fresh.Believed, fresh.Proven+fresh.Unproven)
	require.Equal(t, fresh.Believed, fresh.NeverRetrieved)

	search := []string{"search", "which database holds the event log", "--project", c.project, "--limit", "1"}
	require.Contains(t, c.run(append(search, "--no-usage")...).out, decision)
	require.Equal(t, fresh, count(), "--no-usage leaves no trace")
	// A search does not wait for a server that is too busy to record it.
	eventually(t, func() bool {
		require.Contains(t, c.run(search...).out, decision)
		return count().NeverRetrieved == fresh.NeverRetrieved-1
	})
	eventually(t, func() bool {
		require.Contains(t, c.run("context").out, "tabs over spaces")
		return count().NeverRetrieved < fresh.NeverRetrieved-1
	})

	shown := c.run("health", "--project", c.project)
	require.Zero(t, shown.code, shown)
	require.Contains(t, shown.out, "never retrieved")
	require.Contains(t, shown.out, "→ starter health --list never_retrieved --project "+c.project)
	listed := decode[[]graduate.Counted](t, c.run("health", "--list", "never_retrieved", "--project", c.project, "-o", "json"))
	require.Len(t, listed, count().NeverRetrieved)
	for _, e := range listed {
		require.NotEqual(t, decision, e.Title)
		require.Contains(t, c.run("health", "--list", "never_retrieved").out, short(e.EntryID))
	}
	require.Equal(t, "no memory is counted as contested\n", c.run("health", "--list", "contested").out)
	one := decode[[]graduate.Health](t, c.run("health", "--by", "scope", "-o", "json"))
	require.Len(t, one, 1)
	require.Equal(t, "default", one[0].User)

	require.Zero(t, c.run("process", file, "--project", "other one").code)
	several := c.run("health")
	require.Contains(t, several.out, "NEVER RETRIEVED")
	require.Contains(t, several.out, "--project PROJECT")
	require.Contains(t, c.run("health", "--project", "other one").out, "--project 'other one'")
	require.Equal(t, "nothing is remembered in project nobody\n", c.run("health", "--project", "nobody").out)
	require.Equal(t, "[]\n", c.run("health", "--project", "nobody", "-o", "json").out)
	for flag, value := range map[string]string{"--by": "day", "--list": "bad", "--limit": "0"} {
		o := c.run("health", flag, value)
		require.Equal(t, exitUsage, o.code, o)
		require.True(t, strings.Contains(o.err, flag), o)
	}
}

// A search that can't be recorded still returns its answer.
func TestSearchThatIsNotNoted(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t)
	require.Zero(t, c.process(write(t, "s.jsonl", said(1, "user", decision))).code)
	conn, err := eventlog.Connect(t.Context(), c.config(t).ClickHouseDSN, eventlog.ConnectOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.Exec(t.Context(), "DROP TABLE usage_raw SYNC"))
	o := c.run("search", "which database holds the event log", "--project", c.project)
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, decision)
	require.NotContains(t, o.err, "usage")
}
