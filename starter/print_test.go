package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/vector"
	"axiommind/schema"
)

// Names in JSON output have one form, even if another package defines the result.
func TestReconcileInJSON(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(vector.Report{ExtraIDs: []string{"x"}, UnknownTenants: []string{"x"}})
	require.NoError(t, err)
	require.NotRegexp(t, `"[a-z_]*[A-Z]\w*":`, string(data))
	require.NotContains(t, string(data), "0001-01-01")
}

// Windows without a complete answer are reported with the command that retries them.
func TestNoteNamesTheRetry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		quarantined, givenUp int
		want                 string
	}{
		{0, 0, ""},
		{3, 0, "s: the model gave no whole answer to 3 windows; see starter builds show b1\n  ask again about 3: starter builds retry b1\n"},
		{1, 1, "s: the model gave no whole answer to 1 window; see starter builds show b1\n" +
			"  ask once more about 1, too small to be asked about in parts: starter builds retry b1 --force\n"},
		{5, 2, "s: the model gave no whole answer to 5 windows; see starter builds show b1\n  ask again about 3: starter builds retry b1\n" +
			"  ask once more about 2, too small to be asked about in parts: starter builds retry b1 --force\n"},
	} {
		var b strings.Builder
		j := &job{Result: schema.ProcessSessionResult{SessionID: "s", BuildID: "b1", Status: schema.BuildPartial}}
		j.Result.Counts.Quarantined, j.Result.Counts.GivenUp = tt.quarantined, tt.givenUp
		note(&b, j, true)
		require.Equal(t, tt.want, b.String())
	}
}

// A run that found nothing new recorded no build, so its note names none.
func TestNoteOfUnchanged(t *testing.T) {
	t.Parallel()
	for status, want := range map[schema.BuildStatus]string{
		schema.BuildSuccess:   "s: 6 lines of the source had to be repaired or left out; see starter builds show b1\n",
		schema.BuildUnchanged: "s: 6 lines of the source had to be repaired or left out\n",
	} {
		var b strings.Builder
		j := &job{Result: schema.ProcessSessionResult{SessionID: "s", BuildID: "b1", Status: status}}
		j.Result.Counts.SkippedLines = 6
		note(&b, j, true)
		require.Equal(t, want, b.String())
	}
}

// The report of several sessions ends with the command that finds their entries.
func TestProcessSaysNext(t *testing.T) {
	t.Parallel()
	session := func(status schema.BuildStatus, entries int) *job {
		j := &job{Input: schema.ProcessSessionInput{Project: "shop", User: "default"}}
		j.Result.Status, j.Result.Counts.Entries = status, entries
		return j
	}
	failed := &job{Error: "the model refuses"}
	of := session(schema.BuildSuccess, 2)
	of.Input.User = "ann"
	for _, tt := range []struct {
		sessions []*job
		want     string
	}{
		{[]*job{session(schema.BuildSuccess, 2)}, ""},
		{[]*job{failed, failed}, ""},
		{[]*job{session(schema.BuildSuccess, 2), session(schema.BuildUnchanged, 0), failed}, "3 sessions, 2 entries. Next: starter search '…' --project shop\n"},
		{[]*job{session(schema.BuildUnchanged, 0), session(schema.BuildUnchanged, 0)}, "2 sessions, nothing new. Next: starter search '…' --project shop\n"},
		{[]*job{of, of}, "2 sessions, 4 entries. Next: starter search '…' --project shop --user ann\n"},
	} {
		var b strings.Builder
		processReport{Sessions: tt.sessions}.sayNext(&b)
		require.Equal(t, tt.want, b.String())
	}
}

func TestHanging(t *testing.T) {
	t.Parallel()
	text := hanging(strings.Repeat("promoted since it is proven ", 12), 20)
	lines := strings.Split(text, "\n")
	require.Greater(t, len(lines), 2)
	for i, line := range lines {
		require.LessOrEqual(t, len(line), lineWidth, line)
		require.Equal(t, i > 0, strings.HasPrefix(line, strings.Repeat(" ", 20)), line)
	}
	require.Equal(t, "said", hanging("said", 20))
	require.Equal(t, "said also by 04a5ad1b, by ann", shortIDs(`said also by "04a5ad1b-0000-5000-8000-000000000001", by ann`))
}
