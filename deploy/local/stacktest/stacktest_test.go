package stacktest_test

import (
	"testing"

	"axiommind/deploy/local/stacktest"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func TestDatabase(t *testing.T) {
	t.Parallel()
	opts, err := clickhouse.ParseDSN(stacktest.Database(t))
	require.NoError(t, err)
	conn, err := clickhouse.Open(opts)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	var name string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT currentDatabase()").Scan(&name))
	require.Equal(t, opts.Auth.Database, name)
}
