package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// Until the size of a batch is known, its progress shows no numbers, neither on a terminal nor in lines.
func TestBatchProgress(t *testing.T) {
	t.Parallel()
	var drawn bytes.Buffer
	p := (&app{errOut: &drawn, drawn: &drawn, interactive: true}).newProgress(0, "sessions done")
	looking := batchText(schema.BatchProgress{Listing: true})
	p.at(looking, 0, 0, "sessions done")
	p.at(looking, 0, 0, "sessions done")
	require.Contains(t, drawn.String(), " looking for sessions ")
	require.NotRegexp(t, `\d/|/\d|%`, drawn.String())
	require.Equal(t, "0s: looking for sessions", p.line(t.Context()))
	drawn.Reset()
	p.at(batchText(schema.BatchProgress{Running: []string{"하나\n둘", "b", "c"}}), 0, 40, "sessions done")
	require.Contains(t, drawn.String(), "하나 둘 and 2 more")
	require.Contains(t, drawn.String(), "0/40")
	p.at("b", 10, 40, "sessions done")
	require.Contains(t, drawn.String(), "10/40")
	p.at("b", 11, 50, "sessions done")
	require.Contains(t, drawn.String(), "11/50")
	p.at(batchText(schema.BatchProgress{Done: 50}), 50, 50, "sessions done")
	require.Equal(t, "50 of 50 sessions done", p.line(t.Context())[len("0s: "):])
	p.finish()
}

// An import first reports only that it is looking for sessions, and then how many are done.
func testImportLooksForSessions(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	dir := t.TempDir()
	for i := range 2 {
		put(t, dir, fmt.Sprintf("%d.jsonl", i), inSession(fmt.Sprint("s", i), 1, decision))
	}
	says, _, ended := c.begin(t, 20*time.Millisecond, "process", "--project", c.project, dir)
	eventually(t, func() bool { return strings.Count(says.String(), ": looking for sessions\n") > 2 }, says)
	require.Regexp(t, `^(\d+s: looking for sessions\n)+$`, says.String())
	c.work(t)
	require.Zero(t, <-ended, says)
	require.Regexp(t, `(?m)^\d+s: [012] of 2 sessions done`, says.String())
	require.NotContains(t, says.String(), "of 1 session")
}

// The work of a batch is described in a few words.
func TestBatchText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "looking for sessions", batchText(schema.BatchProgress{Listing: true}))
	require.Empty(t, batchText(schema.BatchProgress{Done: 3}))
	require.Equal(t, "1 not started, 2 failed, 3 success", statusCounts(map[schema.BuildStatus]int{"": 1, schema.BuildSuccess: 3, schema.BuildFailed: 2}))
	require.Equal(t, "nothing to do", statusCounts(nil))
}

// A detached batch prints its workflow and the command that shows it, both as text and as JSON.
func TestBatchDetached(t *testing.T) {
	t.Parallel()
	link := workflowLink{ID: "W"}
	var out bytes.Buffer
	a := &app{out: &out, exact: &out}
	require.NoError(t, a.printDetached(backfillReport{Workflow: link}, link, "starter again"))
	require.Contains(t, out.String(), "started as workflow W")
	require.Contains(t, out.String(), "\nto see its progress: starter again\n")
	a.output = outputJSON
	require.NoError(t, a.printDetached(backfillReport{Workflow: link}, link, "starter again"))
	require.Contains(t, out.String(), `"W"`)
}
