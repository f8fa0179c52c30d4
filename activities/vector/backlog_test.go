package vector

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// The rows of a version that was replaced do not count: nothing takes them.
func TestBacklogOfVersionsInUse(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	row := func(item, index, status string, permanent bool, created time.Time) []any {
		return []any{item, "entry", item, index, "p", status, permanent, created, uint64(1)}
	}
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "vector_outbox_raw (job_id, item_kind, item_id, embedding_version, project, status, permanent, created_at, version)",
		[][]any{
			row("1", "old", "pending", false, start.Add(-time.Hour)), row("2", "old", "failed", true, start), row("3", schema.MessageIndex("old"), "pending", false, start),
			row("4", "used", "pending", false, start), row("5", schema.MessageIndex("next"), "failed", true, start), row("6", "next", "done", false, start),
		}))
	read := func(versions ...string) Backlog {
		b, err := ReadBacklog(t.Context(), conn, versions)
		require.NoError(t, err)
		b.Oldest = b.Oldest.UTC()
		return b
	}
	require.Equal(t, Backlog{Pending: 1, Permanent: 1, Oldest: start}, read("used", "next"))
	require.Equal(t, 1, read("next").Permanent)
	require.True(t, read("next").Oldest.IsZero(), "none is pending")
}
