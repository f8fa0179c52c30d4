package clickhouse_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.Database(t))
	program, err := schema.Migrations()
	require.NoError(t, err)
	state, err := clickhouse.MigrationStatus(t.Context(), conn)
	require.NoError(t, err)
	require.Empty(t, state.Applied)
	require.Equal(t, program, state.Pending)

	applied, err := clickhouse.Migrate(t.Context(), conn)
	require.NoError(t, err)
	require.Equal(t, program, applied)
	applied, err = clickhouse.Migrate(t.Context(), conn)
	require.NoError(t, err)
	require.Empty(t, applied)
	state, err = clickhouse.MigrationStatus(t.Context(), conn)
	require.NoError(t, err)
	require.Empty(t, state.Pending)
	require.Len(t, state.Applied, len(program))
	require.Equal(t, program[0].Checksum, state.Applied[0].Checksum)
	for _, m := range program { // A crash before recording repeats them.
		for _, statement := range m.Statements {
			require.NoError(t, conn.Exec(t.Context(), statement))
		}
	}
}

func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	dsn := stacktest.Database(t)
	program, err := schema.Migrations()
	require.NoError(t, err)
	var failed atomic.Value
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := clickhouse.Migrate(t.Context(), connect(t, dsn)); err != nil {
				failed.Store(err)
			}
		})
	}
	group.Wait()
	require.Nil(t, failed.Load())
	state, err := clickhouse.MigrationStatus(t.Context(), connect(t, dsn))
	require.NoError(t, err)
	require.Len(t, state.Applied, len(program))
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	one := schema.Migration{Version: 1, Name: "one", Checksum: "aa", Statements: []string{"CREATE TABLE IF NOT EXISTS one (a UInt8) ENGINE = MergeTree ORDER BY a"}}
	two := schema.Migration{Version: 2, Name: "two", Checksum: "bb", Statements: []string{"CREATE VIEW IF NOT EXISTS two AS SELECT * FROM one"}}
	three := schema.Migration{Version: 3, Name: "three", Checksum: "cc"}
	changed := one
	changed.Checksum = "dd"
	broken := schema.Migration{Version: 3, Name: "broken", Checksum: "ee", Statements: []string{"CREATE NONSENSE"}}
	for name, test := range map[string]struct {
		before, now []schema.Migration
		want        string
	}{
		"changed": {[]schema.Migration{one}, []schema.Migration{changed, two}, `migration 1 "one" was changed after it was applied`},
		"newer":   {[]schema.Migration{one, two}, []schema.Migration{one}, `migration 2 "two" was applied on`},
		"gap":     {[]schema.Migration{one, three}, []schema.Migration{one, two, three}, `migration 2 "two" is missing though 3 is applied`},
		"broken":  {[]schema.Migration{one}, []schema.Migration{one, broken, two}, `apply migration 3 "broken": statement 1: `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := connect(t, stacktest.Database(t))
			list := func(m []schema.Migration) func() ([]schema.Migration, error) {
				return func() ([]schema.Migration, error) { return m, nil }
			}
			_, err := clickhouse.MigrateTo(t.Context(), conn, list(test.before))
			require.NoError(t, err)
			_, err = clickhouse.MigrateTo(t.Context(), conn, list(test.now))
			require.ErrorContains(t, err, test.want)
			if name != "broken" {
				require.ErrorIs(t, err, clickhouse.ErrSchema)
			}
			require.False(t, clickhouse.Retryable(err))
		})
	}
}
