package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
)

// A worker without a model's key remembers real work: the user's wishes reach the facts, and a replay finds the same.
func TestDefaultExtractor(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t, "--model", "")
	const wish = "We focus our unit tests on complicated logic in `pkg/sync`, and never on what the compiler checks."
	path := write(t, "s.jsonl", said(1, "user", "Can you look at `pkg/sync/pool.go`?")+said(2, "assistant", "Let me look at the file.")+
		said(3, "user", wish)+said(4, "assistant", "OK."))
	require.Zero(t, c.process(path, "--session", "s", "--user", c.project).code)
	found := c.run("search", "unit tests on logic", "--project", c.project, "--user", c.project)
	require.Contains(t, found.out, "complicated logic", found)
	require.NotContains(t, c.run("search", "look at the file", "--project", c.project, "--user", c.project).out, "Let me look")
	require.Contains(t, c.run("facts", "--user", c.project).out, "We focus our unit tests")
	replayed := decode[build.Replayed](t, c.run("builds", "replay", c.buildsOf(t, "s")[0], "-o", "json"))
	require.Empty(t, replayed.Differences)
	require.Equal(t, []string{"the answers are computed again: rules/worth-v3 needs no model"}, replayed.Notes)
}
