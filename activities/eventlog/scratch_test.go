package eventlog_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
)

// hostileNames are names of databases and ids that must be quoted.
var hostileNames = []string{
	"Ünï`c\"o'd\\e", "a/b c%2F", "줄\n바꿈\t\x01", "; DROP DATABASE x --", strings.Repeat("long ", 16), strings.Repeat("長", 10), "{a}?&=",
}

// hostileHome is emptyHome with the tables of the program.
func hostileHome(t *testing.T, name string) driver.Conn {
	t.Helper()
	conn := emptyHome(t, name)
	_, err := eventlog.Migrate(t.Context(), conn)
	require.NoError(t, err)
	return conn
}

// emptyHome returns a connection to a database whose name ends with the one given.
func emptyHome(t *testing.T, name string) driver.Conn {
	t.Helper()
	dsn := stacktest.Database(t)
	admin := connect(t, dsn)
	address, err := url.Parse(dsn)
	require.NoError(t, err)
	name = strings.TrimPrefix(address.Path, "/") + "_" + name
	require.NoError(t, admin.Exec(t.Context(), "CREATE DATABASE "+eventlog.Identifier(name)))
	t.Cleanup(func() {
		require.NoError(t, admin.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE "+eventlog.Identifier(name)+" SYNC"))
	})
	conn, err := admin.(eventlog.Neighbor).Neighbor(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
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
			conn := hostileHome(t, name)
			log := eventlog.New(conn, eventlog.Options{})
			_, err := log.Append(t.Context(), "p/a", said("p/a", 2))
			require.NoError(t, err)

			key := eventlog.ScratchKey{Purpose: "replay", ID: name}
			scratch, err := eventlog.OpenScratch(t.Context(), conn, key)
			require.NoError(t, err)
			missing, err := eventlog.MissingTables(t.Context(), scratch.Conn)
			require.NoError(t, err)
			require.Empty(t, missing)
			other := eventlog.New(scratch.Conn, eventlog.Options{})
			require.Empty(t, collect(t, other.Replay(t.Context(), eventlog.ReplayOptions{})))
			_, err = other.Append(t.Context(), "p/b", said("p/b", 3))
			require.NoError(t, err)
			require.Len(t, collect(t, log.Replay(t.Context(), eventlog.ReplayOptions{})), 2)

			again, err := eventlog.OpenScratch(t.Context(), conn, key)
			require.NoError(t, err)
			require.Equal(t, scratch.Database, again.Database)
			require.EqualValues(t, 3, count(t, again.Conn, "SELECT count() FROM events"))
			require.NoError(t, again.Close())

			all, err := eventlog.Scratches(t.Context(), conn)
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, key, all[0].ScratchKey)
			require.NoError(t, scratch.Drop(t.Context()))
			all, err = eventlog.Scratches(t.Context(), conn)
			require.NoError(t, err)
			require.Empty(t, all)
			require.Len(t, collect(t, log.Replay(t.Context(), eventlog.ReplayOptions{})), 2)
		})
	}
}

// Leftovers of killed programs are dropped, but no database in use, of another purpose, of another home, or of another
// program.
func TestDropScratches(t *testing.T) {
	t.Parallel()
	conn, stranger := emptyHome(t, "'one`"), emptyHome(t, "'one`_rebuild")
	open := func(conn driver.Conn, purpose, id string) *eventlog.Scratch {
		s, err := eventlog.MakeScratch(t.Context(), conn, eventlog.ScratchKey{Purpose: purpose, ID: id})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Drop(context.WithoutCancel(t.Context()))) })
		return s
	}
	left, used := open(conn, "rebuild", "1"), open(conn, "rebuild", "2")
	others := []*eventlog.Scratch{open(conn, "replay", "1"), open(stranger, "rebuild", "1")}
	require.Eventually(t, func() bool {
		all, err := eventlog.Scratches(t.Context(), conn)
		return err == nil && len(all) == 3 && all[0].Unused >= 2*time.Second
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, used.Use(t.Context()))
	dropped, err := eventlog.DropScratches(t.Context(), conn, "rebuild", 2*time.Second)
	require.NoError(t, err)
	require.Equal(t, []string{left.Database}, dropped)
	for _, s := range append(others, used) {
		require.Zero(t, count(t, s.Conn, "SELECT count() FROM system.tables WHERE database = currentDatabase()"), "it is there")
	}
	all, err := eventlog.Scratches(t.Context(), conn)
	require.NoError(t, err)
	require.Len(t, all, 2)
}

func TestScratchNeedsNeighbor(t *testing.T) {
	t.Parallel()
	conn := struct{ driver.Conn }{connect(t, stacktest.Database(t))}
	_, err := eventlog.OpenScratch(t.Context(), conn, eventlog.ScratchKey{Purpose: "replay", ID: "1"})
	require.ErrorContains(t, err, "cannot open another one")
}

// Two keys never mean one database, and no name is longer than a file's name may be, with each byte in it escaped.
func TestScratchDatabase(t *testing.T) {
	t.Parallel()
	require.Equal(t, "axiommind_rebuild_17", eventlog.ScratchDatabase("axiommind", eventlog.ScratchKey{Purpose: "rebuild", ID: "17"}))
	names := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z_0-9]{1,60}`))
	rapid.Check(t, func(t *rapid.T) {
		home := names.Draw(t, "home")
		a := eventlog.ScratchKey{Purpose: "rebuild", ID: names.Draw(t, "a")}
		b := eventlog.ScratchKey{Purpose: "rebuild", ID: names.Draw(t, "b")}
		one, two := eventlog.ScratchDatabase(home, a), eventlog.ScratchDatabase(home, b)
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
