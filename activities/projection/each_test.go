package projection_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// inserted notes the tables of the inserts of rows, and refuses some.
type inserted struct {
	driver.Conn
	mu     sync.Mutex
	into   []string
	refuse func(query string) error
}

func (c *inserted) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if _, table, is := strings.Cut(query, "INSERT INTO tally_"); is {
		c.mu.Lock()
		defer c.mu.Unlock()
		name, _, _ := strings.Cut(table, " ")
		c.into = append(c.into, name)
		if err := c.refuse(name); err != nil {
			return nil, err
		}
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// taken returns the tables of the inserts since the last call.
func (c *inserted) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.into
	c.into = nil
	return out
}

// half counts some of the events in a table that it shares with others, and then in its own.
type half struct {
	conn *inserted
	kind string
}

func newHalves(t *testing.T) (conn *inserted, say, shout half) {
	t.Helper()
	conn = &inserted{Conn: stacktest.Migrated(t), refuse: func(string) error { return nil }}
	for _, table := range []string{"shared", "say", "shout"} {
		require.NoError(t, conn.Exec(t.Context(), `CREATE TABLE tally_`+table+` (stream String, seq UInt64, kind String)
			ENGINE = ReplacingMergeTree ORDER BY (stream, seq, kind)`))
	}
	return conn, half{conn, "say"}, half{conn, "shout"}
}

func (h half) Name() string         { return h.kind }
func (h half) Version() uint32      { return 1 }
func (h half) Types() []string      { return []string{h.kind} }
func (h half) StreamPrefix() string { return "p/" }
func (h half) Tables() []projection.Table {
	return []projection.Table{{Name: "tally_" + h.kind}, {Name: "tally_shared", Column: "kind", Value: h.kind}}
}

func (h half) Apply(ctx context.Context, events []schema.Event) error {
	var rows [][]any
	for _, e := range events {
		rows = append(rows, []any{e.Stream, e.Seq, e.Type})
	}
	if err := clickhouse.Insert(ctx, h.conn, "tally_shared (stream, seq, kind)", rows); err != nil {
		return err
	}
	return clickhouse.Insert(ctx, h.conn, "tally_"+h.kind+" (stream, seq, kind)", rows)
}

func (h half) rows(t *testing.T, stream string) uint64 {
	t.Helper()
	return count(t, h.conn, `SELECT countIf(place = 'shared') * 100 + countIf(place = 'own') FROM (
		SELECT 'shared' AS place, seq FROM tally_shared FINAL WHERE stream = ? AND kind = ?
		UNION ALL SELECT 'own', seq FROM tally_`+h.kind+` FINAL WHERE stream = ?)`, stream, h.kind, stream)
}

// Projectors of one stream share the inserts into a table, and write their own tables in their order. If they can't, each
// goes on alone.
func TestProjectEach(t *testing.T) {
	t.Parallel()
	conn, say, shout := newHalves(t)
	s := projection.New(conn, eventlog.Options{Lease: time.Hour})
	both := []projection.Projector{say, shout}
	for _, stream := range []string{"p/remembered", "p/read"} {
		ctx := t.Context()
		if stream == "p/remembered" {
			ctx = eventlog.WithHead(ctx, stream, schema.StreamHead{Known: true})
		}
		_, err := s.Append(ctx, stream, said(stream, 7))
		require.NoError(t, err)
		require.NoError(t, s.ProjectEach(ctx, stream, both))
		into := conn.taken()
		if stream == "p/remembered" {
			require.Equal(t, "shared", into[0])
			slices.Sort(into[1:])
			require.Equal(t, []string{"shared", "say", "shout"}, into)
		} else {
			require.Equal(t, []string{"shared", "say", "shared", "shout"}, into)
		}
		require.EqualValues(t, 303, say.rows(t, stream))
		require.EqualValues(t, 202, shout.rows(t, stream))
		require.NoError(t, s.ProjectEach(ctx, stream, both))
		require.Empty(t, conn.taken(), "again")
	}

	// A table that refuses the rows stops its own projector, which names itself.
	ctx := eventlog.WithHead(t.Context(), "p/refused", schema.StreamHead{Known: true})
	_, err := s.Append(ctx, "p/refused", said("p/refused", 7))
	require.NoError(t, err)
	conn.refuse = func(table string) error {
		if table == "say" {
			return errors.New("no room")
		}
		return nil
	}
	err = s.ProjectEach(ctx, "p/refused", both)
	require.ErrorContains(t, err, "no room")
	require.ErrorContains(t, err, `"say"`)
	require.EqualValues(t, 202, shout.rows(t, "p/refused"))
	conn.taken()
	conn.refuse = func(string) error { return nil }
	require.NoError(t, s.ProjectEach(ctx, "p/refused", both))
	require.Equal(t, []string{"shared", "say"}, conn.taken(), "the other one is done")
	require.EqualValues(t, 303, say.rows(t, "p/refused"))

	// A caller that gave up gets its own error.
	ctx, cancel := context.WithCancel(eventlog.WithHead(t.Context(), "p/late", schema.StreamHead{Known: true}))
	_, err = s.Append(ctx, "p/late", said("p/late", 3))
	require.NoError(t, err)
	conn.refuse = func(string) error { cancel(); return ctx.Err() }
	require.ErrorIs(t, s.ProjectEach(ctx, "p/late", both), context.Canceled)
}

// I3: held events are stored before their rows, and rows that are written twice are there once.
func TestProjectEachKilled(t *testing.T) {
	t.Parallel()
	conn, say, shout := newHalves(t)
	for _, table := range []string{"shared", "say", "shout"} {
		stream := "p/" + table
		s := projection.New(conn, eventlog.Options{})
		ctx := eventlog.WithHead(t.Context(), stream, schema.StreamHead{Known: true})
		holding, held := s.Hold(ctx, stream)
		_, err := s.Append(holding, stream, said(stream, 4))
		require.NoError(t, err)
		conn.refuse = func(at string) error {
			if at == table {
				return errKilled
			}
			return nil
		}
		require.ErrorIs(t, s.ProjectEach(holding, stream, []projection.Projector{say, shout}), errKilled)
		require.Len(t, collect(t, s.Stream(t.Context(), stream, eventlog.StreamOptions{})), 4)
		require.NoError(t, held.Store(ctx))
		conn.refuse = func(string) error { return nil }
		// Another program goes on.
		s = projection.New(conn, eventlog.Options{})
		require.NoError(t, s.ProjectEach(t.Context(), stream, []projection.Projector{say, shout}))
		require.EqualValues(t, 202, say.rows(t, stream))
		require.EqualValues(t, 101, shout.rows(t, stream))
	}
}
