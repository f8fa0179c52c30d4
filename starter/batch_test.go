package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// The bar of a batch grows once it is known how much there is to do.
func TestBatchProgress(t *testing.T) {
	t.Parallel()
	var drawn bytes.Buffer
	p := (&app{errOut: &drawn, drawn: &drawn, interactive: true}).newProgress(1, "sessions done")
	p.grow(40, 0)
	p.describe(batchText(schema.BatchProgress{Running: []string{"하나\n둘", "b", "c"}}))
	p.grow(40, 10)
	p.grow(40, 40)
	require.Contains(t, drawn.String(), "하나 둘 and 2 more")
	require.Contains(t, drawn.String(), "10/40")
	require.Equal(t, "40 of 40 sessions done", p.line(t.Context())[len("0s: "):])
	p.finish()
	require.Equal(t, "looking for sessions", batchText(schema.BatchProgress{Listing: true}))
	require.Empty(t, batchText(schema.BatchProgress{Done: 3}))
	require.Equal(t, "1 not started, 2 failed, 3 success", statusCounts(map[schema.BuildStatus]int{"": 1, schema.BuildSuccess: 3, schema.BuildFailed: 2}))
	require.Equal(t, "nothing to do", statusCounts(nil))
}

// A batch that nobody waits for is named, with the command that shows it: for people, and for programs in its report.
func TestBatchDetached(t *testing.T) {
	t.Parallel()
	link := workflowLink{ID: "W"}
	var out bytes.Buffer
	a := &app{out: &out, exact: &out}
	require.NoError(t, a.printDetached(backfillReport{Workflow: link}, link, "starter again"))
	require.Contains(t, out.String(), "started as workflow W")
	require.Contains(t, out.String(), "\nsee how far it is: starter again\n")
	a.output = outputJSON
	require.NoError(t, a.printDetached(backfillReport{Workflow: link}, link, "starter again"))
	require.Contains(t, out.String(), `"W"`)
}
