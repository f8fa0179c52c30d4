package feed

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command/progress"
)

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
		j := &progress.Job{Result: schema.ProcessSessionResult{SessionID: "s", BuildID: "b1", Status: schema.BuildPartial}}
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
		j := &progress.Job{Result: schema.ProcessSessionResult{SessionID: "s", BuildID: "b1", Status: status}}
		j.Result.Counts.SkippedLines = 6
		note(&b, j, true)
		require.Equal(t, want, b.String())
	}
}

// The report of several sessions ends with the command that finds their entries.
func TestProcessSaysNext(t *testing.T) {
	t.Parallel()
	session := func(status schema.BuildStatus, entries int) *progress.Job {
		j := &progress.Job{Input: schema.ProcessSessionInput{Project: "shop", User: "default"}}
		j.Result.Status, j.Result.Counts.Entries = status, entries
		return j
	}
	failed := &progress.Job{Error: "the model refuses"}
	of := session(schema.BuildSuccess, 2)
	of.Input.User = "ann"
	for _, tt := range []struct {
		sessions []*progress.Job
		want     string
	}{
		{[]*progress.Job{session(schema.BuildSuccess, 2)}, ""},
		{[]*progress.Job{failed, failed}, ""},
		{[]*progress.Job{session(schema.BuildSuccess, 2), session(schema.BuildUnchanged, 0), failed}, "3 sessions, 2 entries. Next: starter search '…' --project shop\n"},
		{[]*progress.Job{session(schema.BuildUnchanged, 0), session(schema.BuildUnchanged, 0)}, "2 sessions, nothing new. Next: starter search '…' --project shop\n"},
		{[]*progress.Job{of, of}, "2 sessions, 4 entries. Next: starter search '…' --project shop --user ann\n"},
	} {
		var b strings.Builder
		ProcessReport{Sessions: tt.sessions}.sayNext(&b)
		require.Equal(t, tt.want, b.String())
	}
}
