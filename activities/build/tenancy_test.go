package build_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestI10BuildsOfOneUser(t *testing.T) {
	t.Parallel()
	names, _ := stacktest.SomeNames(t)
	buildsOfOneUser(t, names)
}

// The builds of one user of a project are read as no other user's, and all of them are listed only on request.
func buildsOfOneUser(t *testing.T, names []string) {
	t.Helper()
	conn := stacktest.Migrated(t)
	var runs []selectedRun
	for _, o := range stacktest.Owners(names) {
		if o.Agent == "" {
			runs = append(runs, selectedRun{SessionKey: schema.SessionKey{Scope: o, SessionID: "s of " + o.User}, ordinal: 1, start: at, status: schema.BuildSuccess})
		}
	}
	storeRuns(t, conn, runs)
	for _, r := range runs {
		f := build.Filter{Project: r.Project, User: r.User, Limit: 1000}
		listed, err := build.List(t.Context(), conn, f)
		require.NoError(t, err)
		require.Len(t, listed, 1)
		require.Equal(t, r.SessionKey, listed[0].SessionKey)
		values, err := build.Values(t.Context(), conn, build.ColumnSession, "", f)
		require.NoError(t, err)
		require.Len(t, values, 1)
		require.Equal(t, r.SessionID, values[0].Text)
	}
	all, err := build.List(t.Context(), conn, build.Filter{All: true, Limit: 1000})
	require.NoError(t, err)
	require.Len(t, all, len(runs))
	for _, f := range []build.Filter{{}, {Project: "ann"}, {User: "ann"}, {SessionID: "s of ann"}, {Status: schema.BuildFailed, Running: nothingRuns}} {
		_, err := build.List(t.Context(), conn, f)
		require.ErrorIs(t, err, clickhouse.ErrNoScope)
		_, err = build.Values(t.Context(), conn, build.ColumnSession, "", f)
		require.ErrorIs(t, err, clickhouse.ErrNoScope)
	}
}
