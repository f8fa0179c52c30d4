package build_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// manyBuilds stores builds of half as many sessions, of which a fifth failed.
func manyBuilds(b *testing.B, n int) driver.Conn {
	b.Helper()
	conn := stacktest.Migrated(b)
	var runs []selectedRun
	for i := range n {
		r := selectedRun{
			SessionKey: schema.SessionKey{Scope: schema.Scope{Project: fmt.Sprintf("p%d", i%7), User: "u"}, SessionID: fmt.Sprintf("session %d", i/2)},
			ordinal:    i%2 + 1, start: at.Add(time.Duration(i) * time.Second), status: schema.BuildSuccess,
		}
		r.Project = fmt.Sprintf("p%d", i/2%7)
		if i%5 == 0 {
			r.status, r.errType = schema.BuildFailed, failureTypes[i/5%len(failureTypes)]
		}
		runs = append(runs, r)
	}
	for i := 0; i < n; i += 100 { // A projector writes few rows at a time.
		storeRuns(b, conn, runs[i:min(i+100, n)])
	}
	return conn
}

// The latest page of 10,000 builds, and a selection among them.
func BenchmarkTenThousandBuilds(b *testing.B) {
	conn := manyBuilds(b, 10_000)
	for name, f := range map[string]build.Filter{
		"list": {All: true, Limit: 51}, "failed": {All: true, Status: schema.BuildFailed, Limit: 51}, "project": {All: true, Project: "p3", Limit: 51},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				runs, err := build.List(b.Context(), conn, f)
				require.NoError(b, err)
				require.Len(b, runs, 51)
			}
		})
	}
	b.Run("show", func(b *testing.B) {
		runs, err := build.List(b.Context(), conn, build.Filter{All: true, Limit: 1})
		require.NoError(b, err)
		for b.Loop() {
			_, err := build.Show(b.Context(), conn, runs[0].BuildID)
			require.NoError(b, err)
		}
	})
	b.Run("select", func(b *testing.B) {
		selection := build.Selection{Conn: conn, Running: nothingRuns, At: at.AddDate(1, 0, 0), By: schema.RetryBuildsInput{Failed: true}}
		b.ReportAllocs()
		for b.Loop() {
			all := candidates(b, selection, "")
			require.Len(b, all, 1000)
		}
	})
}
