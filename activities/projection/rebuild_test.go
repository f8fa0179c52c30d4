package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// testLease is longer than a busy machine takes to empty a table, and so short that tests can wait it out.
const testLease = 5 * time.Second

// shortLease is for rebuilds of which no program writes the tables meanwhile. A busy machine applies a page in it.
const shortLease = 2 * time.Second

// chain folds each stream into one row with a word of each of its events, in order. It reads the previous row, so that
// a row that was lost, or made of a part of the events, shows for good.
type chain struct {
	conn driver.Conn
	// reading is called between the read of the rows and their write.
	reading func()
}

func newChain(t testing.TB, conn driver.Conn) *chain {
	t.Helper()
	require.NoError(t, conn.Exec(t.Context(), `CREATE TABLE chain_raw (stream String, words String, version UInt64)
		ENGINE = ReplacingMergeTree(version) ORDER BY stream`))
	require.NoError(t, conn.Exec(t.Context(), `CREATE TABLE chain_log_raw (stream String, seq UInt64)
		ENGINE = ReplacingMergeTree ORDER BY (stream, seq)`))
	return &chain{conn: conn, reading: func() {}}
}

func (*chain) Name() string         { return "chain" }
func (*chain) Version() uint32      { return 1 }
func (*chain) Types() []string      { return nil }
func (*chain) StreamPrefix() string { return "p/" }

func (*chain) Tables() []projection.Table {
	return []projection.Table{{Name: "chain_raw"}, {Name: "chain_log_raw"}}
}

func (p *chain) Apply(ctx context.Context, events []schema.Event) error {
	var words string
	var version uint64
	rows, err := p.conn.Query(ctx, `SELECT words, version FROM chain_raw FINAL WHERE stream = ?`, events[0].Stream)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := rows.Scan(&words, &version); err != nil {
			return err
		}
	}
	if err := rows.Close(); err != nil {
		return err
	}
	p.reading()
	var log [][]any
	for _, e := range events {
		if e.Seq <= version {
			continue
		}
		words, version = words+" "+e.DedupeKey, e.Seq
		// Unlike those of the rooms these rows are written only once: a lost one is not written again.
		log = append(log, []any{e.Stream, e.Seq})
	}
	if err := clickhouse.Insert(ctx, p.conn, "chain_log_raw (stream, seq)", log); err != nil {
		return err
	}
	return clickhouse.Insert(ctx, p.conn, "chain_raw (stream, words, version)", [][]any{{events[0].Stream, words, version}})
}

// over returns the projector over another connection.
func (p *chain) over(conn driver.Conn) projection.Projector {
	other := *p
	other.conn = conn
	return &other
}

func (p *tally) over(conn driver.Conn) projection.Projector {
	other := *p
	other.conn = conn
	return &other
}

// movable is a projector that can be run over another connection.
type movable interface {
	projection.Projector
	over(conn driver.Conn) projection.Projector
}

// filledShadow rebuilds the projector's rows into shadow tables.
func filledShadow(t testing.TB, s *projection.Store, conn driver.Conn, id string, ps ...movable) (sh *projection.Shadow, made, inUse []projection.Projector) {
	t.Helper()
	scratch, err := clickhouse.MakeScratch(t.Context(), conn, clickhouse.ScratchKey{Purpose: clickhouse.PurposeRebuild, ID: id})
	require.NoError(t, err)
	database := clickhouse.Identifier(scratch.Database) + "."
	names := []string{"projection_offsets_raw", "schema_migrations"}
	for _, p := range ps {
		inUse = append(inUse, p)
		for _, table := range p.Tables() {
			names = append(names, table.Name)
		}
	}
	for _, name := range names {
		require.NoError(t, conn.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS "+database+name+" AS "+name))
	}
	// A migration would take the server longer than most tests, and makes no other table that these projectors use.
	require.NoError(t, conn.Exec(t.Context(), "INSERT INTO "+database+"schema_migrations SELECT * FROM schema_migrations"))
	require.NoError(t, scratch.Close())
	sh, err = s.BeginShadow(t.Context(), id, inUse...)
	require.NoError(t, err)
	for _, p := range ps {
		fillShadow(t, sh, p)
		made = append(made, p.over(sh.Conn))
	}
	return sh, made, inUse
}

// fillShadow fills the shadow a page at a time.
func fillShadow(t testing.TB, sh *projection.Shadow, p movable) {
	t.Helper()
	for at := (projection.Filled{}); !at.Done; {
		var err error
		at, err = sh.Fill(t.Context(), p.over(sh.Conn), at.Place, time.Time{}, func(projection.Filled) {})
		require.NoError(t, err)
	}
}

// rebuild rebuilds the projector's rows and swaps them in.
func rebuild(t testing.TB, s *projection.Store, conn driver.Conn, id string, ps ...movable) projection.Switched {
	t.Helper()
	sh, made, inUse := filledShadow(t, s, conn, id, ps...)
	for _, p := range made {
		_, err := sh.CatchUp(t.Context(), p)
		require.NoError(t, err)
	}
	for {
		done, err := sh.Switch(t.Context(), projection.SwitchOptions{}, made, inUse)
		if errors.Is(err, projection.ErrSwitchAborted) {
			continue // The machine is slow, and another program had waited too long.
		}
		require.NoError(t, err)
		require.NoError(t, sh.Finish(t.Context(), made))
		return done
	}
}

func TestI4RebuildBesideWriters(t *testing.T) {
	t.Parallel()
	rebuildBesideWriters(t, 1, 200*time.Millisecond)
}

// I4: rebuilds concurrent with projecting programs yield the rows of an undisturbed rebuild, though the programs read
// their own rows. At no time does a reader find fewer rows than before. The pace is the least time between two turns of
// a writer or the reader.
func rebuildBesideWriters(t *testing.T, rebuilds int, pace time.Duration) {
	t.Helper()
	conn := stacktest.Migrated(t)
	options := eventlog.Options{Lease: testLease, PageRows: 5}
	p := newChain(t, conn)
	ctx, stop := context.WithCancel(t.Context())
	turn := func(tick *time.Ticker) bool {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		return ctx.Err() == nil
	}
	var wait sync.WaitGroup
	for w := range 3 {
		s := projection.New(conn, options) // A program of its own.
		wait.Go(func() {
			stream := fmt.Sprintf("p/%d", w)
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for n := 0; turn(tick); n++ {
				_, err := s.Append(t.Context(), stream, []schema.Event{event(fmt.Sprintf("%s-%d", stream, n), n)})
				assert.NoError(t, err)
				_, err = s.Project(t.Context(), p, stream)
				assert.True(t, err == nil || clickhouse.Retryable(err), "%v", err)
			}
		})
	}
	reads := 0
	wait.Go(func() {
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for seen := uint64(0); turn(tick); reads++ {
			rows := count(t, conn, `SELECT uniqExact(stream, seq) FROM chain_log_raw`)
			if !assert.GreaterOrEqual(t, rows, seen) {
				return
			}
			seen = rows
		}
	})
	s := projection.New(conn, options)
	for n := range rebuilds {
		done := rebuild(t, s, conn, fmt.Sprint(n), p)
		t.Logf("writers waited %s, %d events came late", done.Waited, done.Events)
	}
	stop()
	wait.Wait()
	require.NotZero(t, reads)
	_, err := s.ProjectAll(t.Context(), p) // Of attempts that took longer than the lease and were not made again.
	require.NoError(t, err)
	beside := digests(t, s, p)
	require.NotZero(t, beside[0].Rows)
	_, err = stacktest.Rebuild(t.Context(), conn, p)
	require.NoError(t, err)
	require.Equal(t, beside, digests(t, s, p))
	left, err := clickhouse.Scratches(t.Context(), conn)
	require.NoError(t, err)
	require.Empty(t, left)
}

func digests(t *testing.T, s *projection.Store, p projection.Projector) []projection.Digest {
	t.Helper()
	var out []projection.Digest
	for _, table := range p.Tables() {
		d, err := s.Digest(t.Context(), table)
		require.NoError(t, err)
		out = append(out, d)
	}
	return out
}

// A plan reads one generation, though a rebuild replaces the tables in the middle of it.
func TestSteady(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: testLease})
	_, err := s.Append(t.Context(), "p/a", said("p/a", 6))
	require.NoError(t, err)
	var seen []int
	err = s.Steady(t.Context(), p, "p/a", func() error {
		if len(seen) == 0 {
			rebuild(t, s, conn, "1", p) // It takes longer than the lease.
		}
		seen = append(seen, len(p.rows(t)))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []int{4, 4}, seen)

	refused := fmt.Errorf("refused")
	require.ErrorIs(t, s.Steady(t.Context(), p, "p/a", func() error { return refused }), refused)
}

// sluggish makes rows of a few events only in the time that it has.
type sluggish struct {
	*tally
	most  int
	tried []int
}

func (p *sluggish) Apply(ctx context.Context, events []schema.Event) error {
	p.tried = append(p.tried, len(events))
	if len(events) > p.most {
		<-ctx.Done()
		return ctx.Err()
	}
	return p.tally.Apply(ctx, events)
}

// sizes returns the sizes tried, each once. A size that takes too long is tried twice at most: the second time only if
// some of the lease had passed at the first, as on a busy machine. Each size is half of the one before.
func (p *sluggish) sizes(t *testing.T) []int {
	t.Helper()
	times := map[int]int{}
	for _, n := range p.tried {
		times[n]++
	}
	out := slices.Compact(slices.Clone(p.tried))
	for i, n := range out {
		if n > p.most {
			require.LessOrEqual(t, times[n], 2, p.tried)
		}
		if i > 0 {
			require.Equal(t, (out[i-1]+1)/2, n, p.tried)
		}
	}
	return out
}

// A page whose rows take longer to make than a projector may write is applied in parts. Else the projection would
// never come further.
func TestProjectSlowly(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := projection.New(conn, eventlog.Options{Lease: testLease})
	_, err := s.Append(t.Context(), "p/a", said("p/a", 12))
	require.NoError(t, err)
	p := &sluggish{tally: newTally(t, conn), most: 3}
	done, err := s.Project(t.Context(), p, "p/a")
	require.NoError(t, err)
	require.Equal(t, projection.Progress{Streams: 1, Events: 8}, done)
	require.Equal(t, []int{8, 4, 2}, p.sizes(t)[:3])
	require.Len(t, p.rows(t), 8)

	p.most, p.tried = 0, nil
	require.NoError(t, s.SaveOffsets(t.Context()))
	s = projection.New(conn, eventlog.Options{Lease: 200 * time.Millisecond}) // The lease is too short for any event.
	_, err = s.Append(t.Context(), "p/a", said("p/a", 14))
	require.NoError(t, err)
	_, err = s.Project(t.Context(), p, "p/a")
	require.ErrorIs(t, err, context.DeadlineExceeded, "one event cannot be parted")
	require.ErrorContains(t, err, "within 200ms")
	require.Equal(t, []int{2, 1}, p.sizes(t))
}

// Rows of two versions of a projector never mix: neither program adds to the other's.
func TestStaleProjection(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: shortLease})
	_, err := s.Append(t.Context(), "p/a", said("p/a", 3))
	require.NoError(t, err)
	_, err = s.Project(t.Context(), p, "p/a")
	require.NoError(t, err)
	want := p.rows(t)
	_, err = s.Append(t.Context(), "p/a", said("p/a", 6))
	require.NoError(t, err)
	for _, version := range []uint32{2, 1} {
		other := *p
		other.version = version
		p.version = 3 - version
		_, err = s.Project(t.Context(), &other, "p/a")
		var stale *projection.StaleError
		require.ErrorAs(t, err, &stale)
		require.Equal(t, projection.StaleError{Projector: "tally", Stored: p.version, Program: version}, *stale)
		require.ErrorContains(t, err, "starter rebuild tally")
		require.True(t, clickhouse.Retryable(err), "who waits goes on after the rebuild")
		require.Equal(t, want, p.rows(t))
		standing := standings(t, s, &other)
		require.True(t, standing.Stale())
		rebuild(t, s, conn, fmt.Sprint(version), &other)
		require.False(t, standings(t, s, &other).Stale())
		_, err = s.Project(t.Context(), p, "p/a")
		require.ErrorAs(t, err, &stale)
		want = p.rows(t)
	}
	require.Len(t, want, 4)
}

func standings(t *testing.T, s *projection.Store, p projection.Projector) projection.Status {
	t.Helper()
	out, err := s.ProjectionStatuses(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, out, 1)
	return out[0]
}

// A projection is behind when a stream of it holds a wanted event that it has not seen.
func TestProjectionStatuses(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: testLease})
	require.Equal(t, projection.Status{Name: "tally", Program: 1}, standings(t, s, p))
	for _, stream := range []string{"p/it's", "p/b", "q/c"} {
		_, err := s.Append(t.Context(), stream, said(stream, 5))
		require.NoError(t, err)
	}
	require.Equal(t, projection.Status{Name: "tally", Program: 1, Behind: 2, Streams: 2, Events: 8}, standings(t, s, p))
	_, err := s.Project(t.Context(), p, "p/it's")
	require.NoError(t, err)
	require.Equal(t, projection.Status{Name: "tally", Stored: 1, Program: 1, Behind: 1, Streams: 2, Events: 8}, standings(t, s, p))
	_, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	_, err = s.Append(t.Context(), "p/b", said("p/b", 6)) // The sixth is of a type that no projector reads.
	require.NoError(t, err)
	require.Zero(t, standings(t, s, p).Behind)
	sh, made, inUse := filledShadow(t, s, conn, "1", p)
	require.False(t, standings(t, s, p).Rebuilding, "nobody waits while the tables are made")
	short, cancel := context.WithTimeout(t.Context(), testLease/2)
	defer cancel()
	_, err = sh.Switch(short, projection.SwitchOptions{}, made, inUse)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, standings(t, s, p).Rebuilding)
	_, err = sh.Switch(t.Context(), projection.SwitchOptions{}, made, inUse)
	require.NoError(t, err)
	require.NoError(t, sh.Finish(t.Context(), made))
	require.Equal(t, projection.Status{Name: "tally", Stored: 1, Program: 1, Streams: 2, Events: 8}, standings(t, s, p))
	names, err := s.ProjectorNames(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"tally"}, names)
}

// A digest distinguishes rows by every column that a view shows, and by nothing else.
func TestDigest(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := projection.New(conn, eventlog.Options{})
	require.NoError(t, conn.Exec(t.Context(), `CREATE TABLE d_raw (owner String, id String, n Nullable(Float64), gone Bool, version UInt64)
		ENGINE = ReplacingMergeTree(version) ORDER BY (owner, id)`))
	table := projection.Table{Name: "d_raw", Column: "owner", Value: "it's", Hidden: "gone", Varying: []string{"version"}}
	digest := func() projection.Digest {
		d, err := s.Digest(t.Context(), table)
		require.NoError(t, err)
		return d
	}
	insert := func(row string) { require.NoError(t, conn.Exec(t.Context(), "INSERT INTO d_raw VALUES "+row)) }
	require.Equal(t, projection.Digest{}, digest())
	insert(`('it''s', 'a', NULL, false, 1)`)
	one := digest()
	require.EqualValues(t, 1, one.Rows)
	for _, same := range []string{
		`('it''s', 'a', NULL, false, 2)`, `('it''s', 'b', 1, true, 1)`, `('another', 'a', 1, false, 1)`,
	} {
		insert(same)
		require.Equal(t, one, digest(), same)
	}
	insert(`('it''s', 'a', 0, false, 3)`)
	require.NotEqual(t, one, digest(), "null is not zero")
	insert(`('it''s', 'a\n\'', NULL, false, 1)`)
	require.EqualValues(t, 2, digest().Rows)
	var keys []string
	for row, err := range s.RowHashes(t.Context(), table) {
		require.NoError(t, err)
		keys = append(keys, row.Key)
	}
	require.Equal(t, []string{`('it\'s','a')`, `('it\'s','a\n\'')`}, keys)
}

// Dropped tables and views are restored, and the log is as it was.
func TestRestoreTables(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := projection.New(conn, eventlog.Options{})
	_, err := s.Append(t.Context(), "p/a", said("p/a", 2))
	require.NoError(t, err)
	made, err := clickhouse.RestoreTables(t.Context(), conn)
	require.NoError(t, err)
	require.Empty(t, made)
	for _, statement := range []string{"DROP TABLE entries_raw SYNC", "DROP VIEW facts", "DROP TABLE projection_offsets_raw SYNC"} {
		require.NoError(t, conn.Exec(t.Context(), statement))
	}
	made, err = clickhouse.RestoreTables(t.Context(), conn)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"entries_raw", "facts", "projection_offsets_raw"}, made)
	require.Zero(t, count(t, conn, "SELECT count() FROM entries"))
	require.Len(t, collect(t, s.Stream(t.Context(), "p/a", eventlog.StreamOptions{})), 2)
}
