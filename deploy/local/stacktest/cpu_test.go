package stacktest_test

import (
	"testing"
	"time"

	"axiommind/deploy/local/stacktest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The CPU time of a server grows with its work.
func TestCPU(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	before := stacktest.CPU(t)
	require.Positive(t, before["clickhouse"])
	require.Positive(t, stacktest.Processes(t)["clickhouse"])
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var n uint64
		assert.NoError(c, conn.QueryRow(t.Context(), "SELECT sum(cityHash64(number)) FROM numbers(9999999)").Scan(&n))
		assert.Greater(c, stacktest.CPU(t)["clickhouse"], before["clickhouse"])
	}, time.Minute, time.Millisecond)
}
