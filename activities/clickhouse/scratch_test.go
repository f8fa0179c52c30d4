package clickhouse_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/deploy/local/stacktest"
)

// hostileNames are names of databases and ids that must be quoted.
var hostileNames = []string{
	"Ünï`c\"o'd\\e", "a/b c%2F", "줄\n바꿈\t\x01", "; DROP DATABASE x --", strings.Repeat("long ", 16), strings.Repeat("長", 10), "{a}?&=",
}

func migrated(t *testing.T, conn driver.Conn) driver.Conn {
	t.Helper()
	_, err := clickhouse.Migrate(t.Context(), conn)
	require.NoError(t, err)
	return conn
}

// used adds n rows of usage, and uses counts those that are there.
func used(t *testing.T, conn driver.Conn, n int) {
	t.Helper()
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO usage_raw (project, entry_id, ts) SELECT 'p', toString(number), now() FROM numbers(?)", n))
}

func uses(t *testing.T, conn driver.Conn) (n uint64) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM usage_raw").Scan(&n))
	return n
}

func TestScratch(t *testing.T) {
	t.Parallel()
	scratchOf(t, stacktest.Sample(t, 1, hostileNames)...)
}

// A scratch database has the tables of the one in use, and its rows show nowhere else, whatever both are called.
func scratchOf(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := migrated(t, stacktest.NamedDatabase(t, name))
			used(t, conn, 2)

			key := clickhouse.ScratchKey{Purpose: "replay", ID: name}
			scratch, err := clickhouse.OpenScratch(t.Context(), conn, key)
			require.NoError(t, err)
			missing, err := clickhouse.MissingTables(t.Context(), scratch.Conn)
			require.NoError(t, err)
			require.Empty(t, missing)
			require.Zero(t, uses(t, scratch.Conn))
			used(t, scratch.Conn, 3)
			require.EqualValues(t, 2, uses(t, conn))

			again, err := clickhouse.OpenScratch(t.Context(), conn, key)
			require.NoError(t, err)
			require.Equal(t, scratch.Database, again.Database)
			require.EqualValues(t, 3, uses(t, again.Conn))
			require.NoError(t, again.Close())

			all, err := clickhouse.Scratches(t.Context(), conn)
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, key, all[0].ScratchKey)
			require.NoError(t, scratch.Drop(t.Context()))
			all, err = clickhouse.Scratches(t.Context(), conn)
			require.NoError(t, err)
			require.Empty(t, all)
			require.EqualValues(t, 2, uses(t, conn))
		})
	}
}

// Leftovers of killed programs are dropped, but no database in use, of another purpose, of another home, or of another
// program.
func TestDropScratches(t *testing.T) {
	t.Parallel()
	conn, stranger := stacktest.NamedDatabase(t, "'one`"), stacktest.NamedDatabase(t, "'one`_rebuild")
	open := func(conn driver.Conn, purpose, id string) *clickhouse.Scratch {
		s, err := clickhouse.MakeScratch(t.Context(), conn, clickhouse.ScratchKey{Purpose: purpose, ID: id})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Drop(context.WithoutCancel(t.Context()))) })
		return s
	}
	left, used := open(conn, "rebuild", "1"), open(conn, "rebuild", "2")
	others := []*clickhouse.Scratch{open(conn, "replay", "1"), open(stranger, "rebuild", "1")}
	require.Eventually(t, func() bool {
		all, err := clickhouse.Scratches(t.Context(), conn)
		return err == nil && len(all) == 3 && all[0].Unused >= 2*time.Second
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, used.Use(t.Context()))
	dropped, err := clickhouse.DropScratches(t.Context(), conn, "rebuild", 2*time.Second)
	require.NoError(t, err)
	require.Equal(t, []string{left.Database}, dropped)
	for _, s := range append(others, used) {
		require.NoError(t, s.Conn.Exec(t.Context(), "SELECT 1"), "it is there")
	}
	all, err := clickhouse.Scratches(t.Context(), conn)
	require.NoError(t, err)
	require.Len(t, all, 2)
}

func TestScratchNeedsNeighbor(t *testing.T) {
	t.Parallel()
	conn := struct{ driver.Conn }{connect(t, stacktest.Database(t))}
	_, err := clickhouse.OpenScratch(t.Context(), conn, clickhouse.ScratchKey{Purpose: "replay", ID: "1"})
	require.ErrorContains(t, err, "cannot open another one")
}

// Two keys never mean one database, and no name is longer than a file's name may be, with each byte in it escaped.
func TestScratchDatabase(t *testing.T) {
	t.Parallel()
	require.Equal(t, "axiommind_rebuild_17", clickhouse.ScratchDatabase("axiommind", clickhouse.ScratchKey{Purpose: "rebuild", ID: "17"}))
	names := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z_0-9]{1,60}`))
	rapid.Check(t, func(t *rapid.T) {
		home := names.Draw(t, "home")
		a := clickhouse.ScratchKey{Purpose: "rebuild", ID: names.Draw(t, "a")}
		b := clickhouse.ScratchKey{Purpose: "rebuild", ID: names.Draw(t, "b")}
		one, two := clickhouse.ScratchDatabase(home, a), clickhouse.ScratchDatabase(home, b)
		require.Equal(t, a == b, one == two)
		escaped := 0
		for _, c := range []byte(one) {
			if escaped++; c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
				escaped += 2
			}
		}
		require.LessOrEqual(t, escaped, 140, "there is room for the names of tables")
	})
}
