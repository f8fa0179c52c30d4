package build_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// Interrupted builds are listed among the failed ones and those whose failure has passed, or alone, and not among the
// running ones: on each page, whichever sessions are running.
func TestListInterrupted(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	var runs []selectedRun
	for i, status := range []schema.BuildStatus{
		schema.BuildFailed, schema.BuildRunning, schema.BuildRunning, schema.BuildRunning, schema.BuildFailed, schema.BuildSuccess, schema.BuildRunning,
	} {
		runs = append(runs, selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: `p'\`, User: "u"}, SessionID: fmt.Sprintf(`세션 '%d\' /`, i)}, ordinal: 1,
			start: at.Add(-time.Duration(i) * time.Hour), status: status,
		})
	}
	runs[0].errType, runs[4].errType = schema.ErrorTimeout, schema.ErrorModelRefused
	other := runs[1]
	other.Project = "other"
	storeRuns(t, conn, append(runs, other))
	asked := 0
	only2 := func(context.Context, []string) (map[string]bool, error) {
		asked++
		return map[string]bool{runs[2].WorkflowID(): true}, nil
	}
	passing, setup := schema.FailurePassing, schema.FailureSetup
	for _, tt := range []struct {
		status  schema.BuildStatus
		class   schema.FailureClass
		running build.Running
		want    []int
	}{
		{"", "", only2, []int{0, 1, 2, 3, 4, 5, 6}},
		{schema.BuildFailed, "", only2, []int{0, 1, 3, 4, 6}},
		{build.StatusInterrupted, "", only2, []int{1, 3, 6}},
		{schema.BuildRunning, "", only2, []int{2}},
		{schema.BuildSuccess, "", only2, []int{5}},
		{"", passing, only2, []int{0, 1, 3, 6}},
		{schema.BuildFailed, passing, only2, []int{0, 1, 3, 6}},
		{build.StatusInterrupted, passing, only2, []int{1, 3, 6}},
		{schema.BuildFailed, setup, only2, []int{4}},
		{build.StatusInterrupted, setup, only2, nil},
		{schema.BuildFailed, "", nil, []int{0, 4}},
		{schema.BuildRunning, "", nil, []int{1, 2, 3, 6}},
		{build.StatusInterrupted, "", nil, nil},
		{"", passing, nil, []int{0}},
	} {
		name := fmt.Sprintf("status %q, class %q, asked %t", tt.status, tt.class, tt.running != nil)
		f := build.Filter{All: true, Project: `p'\`, Status: tt.status, Class: tt.class, Running: tt.running, Limit: 2}
		var got []int
		for ; ; f.Offset += f.Limit {
			before := asked
			page, err := build.List(t.Context(), conn, f)
			require.NoError(t, err, name)
			require.LessOrEqual(t, asked, before+1, name)
			for _, r := range page {
				for i := range runs {
					if runs[i].id() == r.BuildID {
						got = append(got, i)
					}
				}
				gone := tt.running != nil && runs[got[len(got)-1]].status == schema.BuildRunning && r.WorkflowID() != runs[2].WorkflowID()
				require.Equal(t, gone, r.Status == build.StatusInterrupted, name)
				require.Equal(t, gone, r.ErrorType == schema.ErrorInterrupted, name)
			}
			if len(page) == 0 {
				break
			}
		}
		require.Equal(t, tt.want, got, name)
		if tt.class != "" {
			continue
		}
		f.Limit, f.Offset = len(runs), 0
		sessions, err := build.Sessions(t.Context(), conn, projection.New(conn, eventlog.Options{}).Store, f)
		require.NoError(t, err, name)
		require.Len(t, sessions, len(tt.want), name)
		for n, i := range tt.want {
			want := runs[i].status
			if tt.status != "" && tt.running != nil && want == schema.BuildRunning && i != 2 {
				want = build.StatusInterrupted
			}
			require.Equal(t, runs[i].SessionKey, sessions[n].SessionKey, name)
			require.Equal(t, want, sessions[n].Status, name)
		}
	}
	away := errors.New("temporal is away")
	_, err := build.List(t.Context(), conn, build.Filter{All: true, Status: schema.BuildFailed, Limit: 1, Running: func(context.Context, []string) (map[string]bool, error) { return nil, away }})
	require.ErrorIs(t, err, away)
}
