package feed_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/builds"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/progress"
)

// Until the size of a batch is known, its progress shows no numbers, neither on a terminal nor in lines.
func TestBatchProgress(t *testing.T) {
	t.Parallel()
	var drawn bytes.Buffer
	p := progress.New((&command.App{ErrOut: &drawn, Drawn: &drawn, Interactive: true}), 0, "sessions done")
	looking := progress.BatchText(schema.BatchProgress{Listing: true})
	p.At(looking, 0, 0, "sessions done")
	p.At(looking, 0, 0, "sessions done")
	require.Contains(t, drawn.String(), " looking for sessions ")
	require.NotRegexp(t, `\d/|/\d|%`, drawn.String())
	require.Equal(t, "0s: looking for sessions", p.Line(t.Context()))
	drawn.Reset()
	p.At(progress.BatchText(schema.BatchProgress{Running: []string{"하나\n둘", "b", "c"}}), 0, 40, "sessions done")
	require.Contains(t, drawn.String(), "하나 둘 and 2 more")
	require.Contains(t, drawn.String(), "0/40")
	p.At("b", 10, 40, "sessions done")
	require.Contains(t, drawn.String(), "10/40")
	p.At("b", 11, 50, "sessions done")
	require.Contains(t, drawn.String(), "11/50")
	p.At(progress.BatchText(schema.BatchProgress{Done: 50}), 50, 50, "sessions done")
	require.Equal(t, "50 of 50 sessions done", p.Line(t.Context())[len("0s: "):])
	p.Finish()
}

// An import first reports only that it is looking for sessions, and then how many are done.
func testImportLooksForSessions(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	dir := t.TempDir()
	for i := range 2 {
		commandtest.Put(t, dir, fmt.Sprintf("%d.jsonl", i), commandtest.InSession(fmt.Sprint("s", i), 1, commandtest.Decision))
	}
	says, _, ended := c.Begin(t, 20*time.Millisecond, "process", "--project", c.Project, dir)
	commandtest.Eventually(t, func() bool { return strings.Count(says.String(), ": looking for sessions\n") > 2 }, says)
	require.Regexp(t, `^(\d+s: looking for sessions\n)+$`, says.String())
	c.Work(t)
	require.Zero(t, <-ended, says)
	require.Regexp(t, `(?m)^\d+s: [012] of 2 sessions done`, says.String())
	require.NotContains(t, says.String(), "of 1 session")
}

// The work of a batch is described in a few words.
func TestBatchText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "looking for sessions", progress.BatchText(schema.BatchProgress{Listing: true}))
	require.Empty(t, progress.BatchText(schema.BatchProgress{Done: 3}))
	require.Equal(t, "1 not started, 2 failed, 3 success", progress.StatusCounts(map[schema.BuildStatus]int{"": 1, schema.BuildSuccess: 3, schema.BuildFailed: 2}))
	require.Equal(t, "nothing to do", progress.StatusCounts(nil))
}

// A detached batch prints its workflow and the command that shows it, both as text and as JSON.
func TestBatchDetached(t *testing.T) {
	t.Parallel()
	link := progress.WorkflowLink{ID: "W"}
	var out bytes.Buffer
	a := &command.App{Out: &out, Exact: &out}
	require.NoError(t, progress.PrintDetached(a, builds.BackfillReport{Workflow: link}, link, "starter again"))
	require.Contains(t, out.String(), "started as workflow W")
	require.Contains(t, out.String(), "\nto see its progress: starter again\n")
	a.Output = command.OutputJSON
	require.NoError(t, progress.PrintDetached(a, builds.BackfillReport{Workflow: link}, link, "starter again"))
	require.Contains(t, out.String(), `"W"`)
}
