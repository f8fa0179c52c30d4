package builds

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command/progress"
)

// An unreadable source is named, too, and unknown values are left out.
func TestSourceText(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]schema.Source{
		"file:///s.jsonl (messages, 12 bytes)":                 {URI: "file:///s.jsonl", Format: "messages", SHA256: "x", Bytes: 12},
		"file:///s.jsonl (nothing of it was stored)":           {URI: "file:///s.jsonl"},
		"file:///s.jsonl (messages, nothing of it was stored)": {URI: "file:///s.jsonl", Format: "messages"},
		"inline messages (12 bytes)":                           {Format: schema.FormatInline, SHA256: "x", Bytes: 12},
		"inline messages (nothing of it was stored)":           {Format: schema.FormatInline},
	} {
		require.Equal(t, want, sourceText(s))
	}
}

// Each problem is listed with its reason. A remedy that several problems share is printed once.
func TestPrintProblems(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printProblems(&out, shownBuild{Detail: build.Detail{Problems: []build.Problem{
		{Where: "messages 0 to 3", Reason: "quarantined", Retry: "again"},
		{Where: "messages 4 to 5", Reason: "broke off", Retry: "again"},
		{Where: `fact "x"`, Reason: "duplicate"},
		{Where: "vector of entry 1", Reason: "too large", Retry: "reconcile"},
	}}})
	require.Equal(t, `messages 0 to 3: quarantined
messages 4 to 5: broke off
  -> again
fact "x": duplicate
vector of entry 1: too large
  -> reconcile
`, out.String())
}

// A build shows how many entries are aligned and proven, and how many gained evidence if any did.
func TestPrintBuildCountsEvidence(t *testing.T) {
	t.Parallel()
	for gained, want := range map[int]string{
		0: "entries    9, 2 of them new, 7 with aligned evidence, 5 of them proven; 0 items rejected\nvectors",
		1: "0 items rejected\ngained     1 entry has better evidence, here or in other sessions\nvectors",
		3: "0 items rejected\ngained     3 entries have better evidence, here or in other sessions\nvectors",
	} {
		var out strings.Builder
		var d shownBuild
		d.FinishedAt = &time.Time{}
		d.Counts = schema.BuildCounts{Entries: 9, NewEntries: 2, AlignedEntries: 7, ProvenEntries: 5, GainedEntries: gained}
		printBuild(&out, d)
		require.Contains(t, out.String(), want)
	}
}

// A build shows how many entries are candidates and verified, if any are.
func TestPrintBuildCountsStages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		counts schema.BuildCounts
		want   string
	}{
		{schema.BuildCounts{Entries: 9, CandidateEntries: 7, VerifiedEntries: 5, PromotedEntries: 2}, "\nstages     7 candidates or more, 5 of them verified; 2 lifted\n"},
		{schema.BuildCounts{Entries: 9, CandidateEntries: 1}, "\nstages     1 candidate or more, 0 of them verified; 0 lifted\n"},
		{schema.BuildCounts{Entries: 9}, "0 items rejected\nvectors"},
	} {
		var out strings.Builder
		var d shownBuild
		d.FinishedAt, d.Counts = &time.Time{}, tt.counts
		printBuild(&out, d)
		require.Contains(t, out.String(), tt.want)
	}
}

// A running build shows its step and the known counts, and leaves out unknown ones.
func TestPrintRunningBuild(t *testing.T) {
	t.Parallel()
	var d shownBuild
	d.Status = schema.BuildRunning
	printed := func() string {
		var out strings.Builder
		printBuild(&out, d)
		_, told, ok := strings.Cut(out.String(), "took       -, from ")
		require.True(t, ok, out.String())
		_, told, _ = strings.Cut(told, "\n")
		return told
	}
	require.Equal(t, "at step    not known: no worker says so\n\n", printed())
	d.Progress = &schema.Progress{Step: schema.StepMemory, WindowsDone: 1, WindowsTotal: 1}
	require.Equal(t, "at step    update_memory\n\n", printed())
	d.Progress.Step, d.Progress.WindowsTotal = schema.StepExtract, 3
	d.Counts = schema.BuildCounts{Messages: 2, NewMessages: 1, Quarantined: 1}
	d.Problems = []build.Problem{{Where: "a line", Reason: "not JSON"}}
	require.Equal(t, "at step    extract, 1 of 3 windows\nso far     2 messages, 1 new message, 1 window without a whole answer\n\na line: not JSON\n", printed())
	d.Status, d.Progress, d.Problems = build.StatusInterrupted, nil, nil
	require.Equal(t, "\n", printed())
}

// A build shows how it ended, the advice, and the build that it resumed. Unknown values are left out.
func TestPrintOutcome(t *testing.T) {
	t.Parallel()
	d := shownBuild{Workflow: progress.WorkflowLink{ID: "session/p/u//s", Namespace: "default"}}
	d.Status, d.NoRetry = schema.BuildSuccess, "it ended with success: there is nothing to retry"
	said := func() string {
		var b strings.Builder
		printOutcome(&b, d)
		return b.String()
	}
	require.Equal(t, "status     success\nworkflow   session/p/u//s in namespace default (--temporal-ui makes it a link)\n", said())
	d.Status, d.FailedStep, d.Error, d.ErrorType, d.Class = schema.BuildFailed, schema.StepAlign, "no\nluck", schema.ErrorTimeout, schema.FailurePassing
	d.Hint, d.Retry, d.NoRetry, d.Unread = "wait", "starter builds retry x", "", "it is gone"
	d.Resumed = &schema.ResumedBuild{BuildID: "b1", Step: schema.StepAlign}
	d.Workflow.URL = "http://ui/w"
	require.Equal(t, `status     failed
failed at  align: no luck
kind       passing, Timeout
remedy     wait
retry      starter builds retry x
resumed    build b1, from the step align
unread     the source: it is gone; the build used the messages in the log
workflow   http://ui/w
`, said())
}
