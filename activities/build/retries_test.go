package build_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/batch"
	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// Builds that are named and cannot be tried again are an error with the reasons, also for an attempt that finds them
// listed. A list that is done is not begun again, whatever has failed since.
func TestListRetries(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	activities := func() *build.Activities { // like another process
		a, err := build.NewActivities(projection.New(conn, eventlog.Options{}), conn, spec, nil)
		require.NoError(t, err)
		return a
	}
	named := func(session string, status schema.BuildStatus) selectedRun {
		return selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: session},
			ordinal:    1, start: at, status: status, errType: map[bool]string{true: schema.ErrorTimeout}[status == schema.BuildFailed],
		}
	}
	fine, failed := named("fine", schema.BuildSuccess), named("실패 'x'", schema.BuildFailed)
	storeRuns(t, conn, []selectedRun{fine, failed})
	for range 2 {
		_, err := activities().ListRetriesWhile(t.Context(), batch.ListInput[schema.RetryBuildsInput]{
			Batch: "none", At: at, By: schema.RetryBuildsInput{Builds: []string{"nope", fine.id(), "1", "2", "3", "4"}},
		}, nothingRuns)
		var failure boundary.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, schema.ErrorInvalidInput, failure.FailureType())
		require.ErrorContains(t, err, `nothing to retry: build "nope": no such build`)
		require.ErrorContains(t, err, fmt.Sprintf("build %q: it ended with success", fine.id()))
		require.ErrorContains(t, err, "; and 1 more")
	}
	some := batch.ListInput[schema.RetryBuildsInput]{Batch: "some", At: at, By: schema.RetryBuildsInput{Builds: []string{"nope", failed.id()[:8]}}}
	listed, err := activities().ListRetriesWhile(t.Context(), some, nothingRuns)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{listed.Items, listed.PassedOver})
	report, err := batch.Read(t.Context(), projection.New(conn, eventlog.Options{}).Store, "some")
	require.NoError(t, err)
	require.Equal(t, failed.id(), report.Items[0].Input.Retry, "found by the beginning of its id")

	all := batch.ListInput[schema.RetryBuildsInput]{Batch: "all", At: at.Add(time.Hour), By: schema.RetryBuildsInput{Project: "p", Failed: true}}
	first, err := activities().ListRetriesWhile(t.Context(), all, nothingRuns)
	require.NoError(t, err)
	require.Equal(t, 1, first.Items)
	var later []selectedRun
	for i := range 300 {
		later = append(later, named(fmt.Sprintf("나중 %d", i), schema.BuildFailed))
	}
	storeRuns(t, conn, later)
	again, err := activities().ListRetriesWhile(t.Context(), all, nothingRuns)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{again.Items, again.PassedOver})
	nothing, err := activities().ListRetriesWhile(t.Context(), batch.ListInput[schema.RetryBuildsInput]{
		Batch: "empty", At: at, By: schema.RetryBuildsInput{Project: "another", Failed: true},
	}, nothingRuns)
	require.NoError(t, err, "a selection may be empty")
	require.Zero(t, nothing.Items)
}
