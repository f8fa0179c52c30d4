package recall

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// Every output of an entry shows whether it is superseded, and by which entry.
func TestSupersededIsShown(t *testing.T) {
	t.Parallel()
	for want, row := range map[string]entry.Row{
		"stage     working, active\n":                                                   {Entry: schema.Entry{Status: schema.StatusActive}},
		"stage     working, superseded: a newer extractor does not state it\n":          {Entry: schema.Entry{Status: schema.StatusSuperseded}},
		"working, superseded by entry e2, which a newer extractor made of the same sen": {Entry: schema.Entry{Status: schema.StatusSuperseded}, SupersededBy: "e2"},
	} {
		row.Stage = schema.StageWorking
		var out strings.Builder
		printEntry(&out, row, nil, graduate.Life{})
		require.Contains(t, out.String(), want)
	}
	var out strings.Builder
	hit := retrieve.Hit{Entry: schema.Entry{Type: schema.EntryFact, Stage: schema.StageWorking, Status: schema.StatusSuperseded}}
	hit.Sessions = []retrieve.Statement{{}, {SessionID: "s", Type: schema.EntryFact, Stage: schema.StageRaw, Status: schema.StatusActive}}
	_, err := PrintHits(&out, &SearchOptions{}, retrieve.Result{Hits: []retrieve.Hit{hit}})
	require.NoError(t, err)
	require.Contains(t, out.String(), "fact · working, superseded · ")
	require.Contains(t, out.String(), "also in session s: fact · raw · ")
}

// A search without hits reports superseded matches.
func TestSupersededIsCounted(t *testing.T) {
	t.Parallel()
	require.Empty(t, leftOut(retrieve.Result{Filtered: 3}))
	require.Contains(t, leftOut(retrieve.Result{Superseded: 1}), "\n1 memory that is no longer believed matches: --superseded shows")
	require.Contains(t, leftOut(retrieve.Result{Superseded: 2}), "2 memories that are no longer believed match: ")
}
