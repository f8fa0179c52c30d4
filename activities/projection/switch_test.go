package projection_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
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

// dying is the connection of a program that is killed: from some write on nothing reaches the server.
type dying struct {
	driver.Conn
	// left counts the writes until then, and after says whether the last of them is done.
	left  *atomic.Int64
	after bool
}

func (c dying) write(do func() error) error {
	switch left := c.left.Add(-1); {
	case left < 0 || left == 0 && !c.after:
		return errKilled
	case left == 0:
		if err := do(); err != nil {
			return err
		}
		return errKilled
	}
	return do()
}

func (c dying) Exec(ctx context.Context, query string, args ...any) error {
	return c.write(func() error { return c.Conn.Exec(ctx, query, args...) })
}

func (c dying) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	batch, err := c.Conn.PrepareBatch(ctx, query, opts...)
	return dyingBatch{batch, c}, err
}

func (c dying) Neighbor(ctx context.Context, database string) (driver.Conn, error) {
	return c.Conn.(clickhouse.Neighbor).Neighbor(ctx, database)
}

type dyingBatch struct {
	driver.Batch
	c dying
}

func (b dyingBatch) Send() error { return b.c.write(b.Batch.Send) }

// killedHow is how a switch is killed: before or after a write is done, and whether a writer waits for the new tables.
type killedHow struct{ after, waits bool }

func killedAt(write int64) killedHow { return killedHow{write%2 == 0, write%3 == 0} }

// switchWrites is at most the number of writes of the switch in switchKilled.
const switchWrites = 40

// The switch is killed at two writes, which are drawn. The campaign kills it at every write.
func TestI2SwitchKilledAnywhere(t *testing.T) {
	t.Parallel()
	random := stacktest.Random(t)
	writes := []int64{1 + random.Int64N(switchWrites/2), 1 + switchWrites/2 + random.Int64N(switchWrites/2)}
	t.Logf("killed at the writes %v", writes)
	switchKilled(t, slices.Values(writes))
}

// I2, I3: a program that is killed before or after any write of a switch leaves complete tables. Either it is called
// again and finishes, or a waiting one ends the switch. In each case the rows match the log, and a wrong row is gone
// once the rebuild is done. switchKilled kills at the writes, until a switch has fewer, and returns how it has killed.
func switchKilled(t *testing.T, writes iter.Seq[int64]) map[killedHow]bool {
	t.Helper()
	conn := stacktest.Migrated(t)
	options := eventlog.Options{Lease: shortLease / 2}
	s := projection.New(conn, options)
	a, b := newTally(t, conn), newChain(t, conn)
	for _, stream := range []string{"p/a", "p/b", "p/c"} {
		_, err := s.Append(t.Context(), stream, said(stream, 7))
		require.NoError(t, err)
	}
	for _, p := range []projection.Projector{a, b} {
		insist(t, func() error { _, err := s.ProjectAll(t.Context(), p); return err })
	}
	want, words := a.rows(t), digests(t, s, b)
	require.Len(t, want, 15)
	compare := projection.SwitchOptions{Compare: true}
	rounds, hows := 0, map[killedHow]bool{}
	for at := range writes {
		how := killedAt(at)
		rounds++
		what := fmt.Sprintf("killed at write %d: %+v", at, how)
		sh, made, inUse := filledShadow(t, s, conn, fmt.Sprint(rounds), a, b)
		require.NoError(t, sh.Close())
		// A late event, and a row that no event has made.
		key := fmt.Sprintf("late-%d", rounds)
		late := event(key, key)
		late.Type = "say"
		added, err := s.Append(t.Context(), "p/b", []schema.Event{late})
		require.NoError(t, err)
		want = append(want, fmt.Sprintf("p/b %d say %q", added.Events[0].Seq, key))
		require.NoError(t, conn.Exec(t.Context(), `INSERT INTO tally_raw VALUES ('p/a', 100, 'wrong')`))

		victim := dying{conn, &atomic.Int64{}, how.after}
		victim.left.Store(at)
		dead := projection.New(victim, options)
		victim.left.Add(1 << 40) // It opens the shadow alive.
		opened, err := dead.OpenShadow(t.Context(), fmt.Sprint(rounds))
		require.NoError(t, err)
		victim.left.Store(at)
		_, err = opened.Switch(t.Context(), compare, over(opened.Conn, a, b), inUse)
		finished := err == nil
		require.GreaterOrEqual(t, len(a.rows(t)), len(want)-1, what)
		if !finished {
			hows[how] = true
			// The lease is short, and the machine may be slow.
			require.True(t, errors.Is(err, errKilled) || clickhouse.Retryable(err), "%s: %v", what, err)
		}
		other := projection.New(conn, options)
		if how.waits { // A writer waits, as long as it takes.
			for _, p := range []projection.Projector{a, b} {
				insist(t, func() error { _, err := other.ProjectAll(t.Context(), p); return err })
			}
			require.GreaterOrEqual(t, len(a.rows(t)), len(want), what)
		}
		again, err := other.OpenShadow(t.Context(), fmt.Sprint(rounds))
		require.NoError(t, err)
		made = over(again.Conn, a, b)
		var done projection.Switched
		insist(t, func() (err error) { done, err = again.Switch(t.Context(), compare, made, inUse); return err })
		found, err := again.Compare(t.Context(), a.Tables()[0], done.Generation)
		require.NoError(t, err)
		require.NotNil(t, found.Difference, what)
		require.Equal(t, []int{1, 0, 0}, []int{found.Difference.OnlyBefore, found.Difference.OnlyAfter, found.Difference.Changed}, what)
		require.NoError(t, again.Finish(t.Context(), made))
		for _, p := range []projection.Projector{a, b} {
			insist(t, func() error { _, err := projection.New(conn, options).ProjectAll(t.Context(), p); return err })
		}
		require.ElementsMatch(t, want, a.rows(t), what)
		if finished {
			t.Logf("a switch has %d writes", at-1)
			break
		}
	}
	require.NotEqual(t, words, digests(t, s, b))
	words = digests(t, s, b)
	_, err := stacktest.Rebuild(t.Context(), conn, b)
	require.NoError(t, err)
	require.Equal(t, words, digests(t, s, b))
	return hows
}

// insist does it until it succeeds, as the activities do that Temporal retries.
func insist(t *testing.T, do func() error) {
	t.Helper()
	for range 20 {
		err := do()
		if err == nil {
			return
		}
		require.True(t, clickhouse.Retryable(err), "%v", err)
	}
	t.Fatal("it does not succeed")
}

func over(conn driver.Conn, ps ...movable) []projection.Projector {
	out := make([]projection.Projector, len(ps))
	for i, p := range ps {
		out[i] = p.over(conn)
	}
	return out
}

// A dry run finds each kind of difference, and changes no row, whatever the database is called.
func TestDryRun(t *testing.T) {
	t.Parallel()
	conn := stacktest.NamedDatabase(t, "`it's\\\"")
	_, err := clickhouse.Migrate(t.Context(), conn)
	require.NoError(t, err)
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: shortLease})
	_, err = s.Append(t.Context(), "p/a", said("p/a", 9))
	require.NoError(t, err)
	_, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	for _, statement := range []string{
		`INSERT INTO tally_raw VALUES ('p/it''s', 1, 'extra')`,
		`INSERT INTO tally_raw VALUES ('p/a', 2, 'changed')`,
		`DELETE FROM tally_raw WHERE seq = 4`,
	} {
		require.NoError(t, conn.Exec(t.Context(), statement))
	}
	_, err = s.Append(t.Context(), "p/b", said("p/b", 3)) // Behind, which is no difference.
	require.NoError(t, err)
	for _, dry := range []bool{true, true, false} {
		sh, made, inUse := filledShadow(t, s, conn, fmt.Sprint(time.Now().UnixNano()), p)
		done, err := sh.Switch(t.Context(), projection.SwitchOptions{Compare: true, DryRun: dry}, made, inUse)
		require.NoError(t, err)
		found, err := sh.Compare(t.Context(), p.Tables()[0], done.Generation)
		require.NoError(t, err)
		require.NotNil(t, found.Difference)
		require.Equal(t, []int{1, 1, 1}, []int{found.Difference.OnlyBefore, found.Difference.OnlyAfter, found.Difference.Changed})
		require.EqualValues(t, 8, found.Before.Rows)
		require.NoError(t, sh.Finish(t.Context(), made))
		if dry {
			require.Contains(t, strings.Join(p.rows(t), "\n"), "p/it's 1 extra")
		}
	}
	require.Len(t, p.rows(t), 8)
	require.NotContains(t, strings.Join(p.rows(t), "\n"), "extra")
}

// growing is a projector during whose last look at the old tables another program appends.
type growing struct {
	projection.Projector
	appends func()
}

func (g growing) Version() uint32 {
	g.appends()
	return g.Projector.Version()
}

// I4: events that come while the last rows of a switch are written go to neither of the compared tables, or to both: no
// row of the old tables is missing in the new ones.
func TestSwitchWhileEventsCome(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: shortLease})
	other, n := projection.New(conn, eventlog.Options{}), 0
	appends := func() {
		e := event(fmt.Sprint("late", n), n)
		e.Type = "say"
		_, err := other.Append(t.Context(), "p/a", []schema.Event{e})
		require.NoError(t, err)
		n++
	}
	appends()
	sh, made, inUse := filledShadow(t, s, conn, "1", p)
	done, err := sh.Switch(t.Context(), projection.SwitchOptions{Compare: true}, made, []projection.Projector{growing{inUse[0], appends}})
	require.NoError(t, err)
	found, err := sh.Compare(t.Context(), p.Tables()[0], done.Generation)
	require.NoError(t, err)
	require.Nil(t, found.Difference, "%+v", found.Difference)
	require.NotZero(t, found.After.Rows)
	require.Less(t, found.After.Rows, uint64(n))
	require.NoError(t, sh.Finish(t.Context(), made))
	_, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, p.rows(t), n)
}

// halfCopied is the connection of a program that is killed between the copy of the old rows and that of the new ones.
type halfCopied struct {
	driver.Conn
	copied chan struct{}
	killed *atomic.Bool
}

func (c halfCopied) Exec(ctx context.Context, query string, args ...any) error {
	isRename := strings.HasPrefix(query, "RENAME")
	if isRename && strings.Contains(query, "`after_") && !c.killed.Load() {
		<-c.copied
		c.killed.Store(true)
		return errKilled
	}
	err := c.Conn.Exec(ctx, query, args...)
	if isRename && strings.Contains(query, "`before_") && !c.killed.Load() {
		close(c.copied)
	}
	return err
}

func (c halfCopied) Neighbor(ctx context.Context, database string) (driver.Conn, error) {
	return c.Conn.(clickhouse.Neighbor).Neighbor(ctx, database)
}

// I2: a switch that is killed between its two copies compares the same events when it is called again.
func TestSwitchKilledBetweenCopies(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	s := projection.New(halfCopied{conn, make(chan struct{}), &atomic.Bool{}}, eventlog.Options{Lease: shortLease})
	_, err := s.Append(t.Context(), "p/a", said("p/a", 4))
	require.NoError(t, err)
	_, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	sh, made, inUse := filledShadow(t, s, conn, "1", p)
	_, err = sh.Switch(t.Context(), projection.SwitchOptions{Compare: true}, made, inUse)
	require.ErrorIs(t, err, errKilled)
	_, err = s.Append(t.Context(), "p/a", said("later", 4))
	require.NoError(t, err)
	done, err := sh.Switch(t.Context(), projection.SwitchOptions{Compare: true}, made, inUse)
	require.NoError(t, err)
	found, err := sh.Compare(t.Context(), p.Tables()[0], done.Generation)
	require.NoError(t, err)
	require.Nil(t, found.Difference, "%+v", found.Difference)
	require.NotZero(t, found.Before.Rows)
	require.NoError(t, sh.Finish(t.Context(), made))
	_, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, p.rows(t), 6)
}

// A rebuild whose tables are gone, or were not filled, never replaces those in use.
func TestShadowGone(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	p := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: shortLease})
	_, err := s.Append(t.Context(), "p/a", said("p/a", 3))
	require.NoError(t, err)
	_, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	_, err = s.OpenShadow(t.Context(), "1")
	require.ErrorIs(t, err, projection.ErrShadowGone)
	sh, err := s.BeginShadow(t.Context(), "1", p)
	require.NoError(t, err)
	made := over(sh.Conn, p)
	_, err = sh.CatchUp(t.Context(), made[0])
	require.ErrorIs(t, err, projection.ErrShadowGone)
	_, err = sh.Switch(t.Context(), projection.SwitchOptions{}, made, []projection.Projector{p})
	require.ErrorIs(t, err, projection.ErrShadowGone)
	require.False(t, standings(t, s, p).Rebuilding)
	require.NoError(t, sh.Drop(t.Context()))
	require.Len(t, p.rows(t), 2)
}

// part makes the rows of one value of a table that several projectors share.
type part struct {
	*tally
	value string
}

func (p part) Name() string { return "part/" + p.value }
func (p part) Tables() []projection.Table {
	return []projection.Table{{Name: "tally_raw", Column: "stream", Value: p.value}}
}
func (p part) StreamPrefix() string { return p.value }
func (p part) over(conn driver.Conn) projection.Projector {
	return part{p.tally.over(conn).(*tally), p.value}
}

// Projectors that share a table are rebuilt together, and the rows of one that began meanwhile stay.
func TestSharedTable(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	base := newTally(t, conn)
	s := projection.New(conn, eventlog.Options{Lease: shortLease})
	one, two, late := part{base, "p/it's"}, part{base, "p/b"}, part{base, "p/late"}
	all := []projection.Projector{one, two}
	require.Len(t, projection.RebuildSet(all, all[:1]), 2)
	for _, p := range []part{one, two, late} {
		_, err := s.Append(t.Context(), p.value, said(p.value, 3))
		require.NoError(t, err)
	}
	for _, p := range all {
		_, err := s.ProjectAll(t.Context(), p)
		require.NoError(t, err)
	}
	require.NoError(t, conn.Exec(t.Context(), `INSERT INTO tally_raw VALUES (?, 9, 'wrong')`, two.value))
	sh, made, inUse := filledShadow(t, s, conn, "1", one, two)
	_, err := s.ProjectAll(t.Context(), late)
	require.NoError(t, err)
	require.Len(t, base.rows(t), 7)
	_, err = sh.Switch(t.Context(), projection.SwitchOptions{}, made, inUse)
	require.NoError(t, err)
	require.NoError(t, sh.Finish(t.Context(), made))
	require.Len(t, base.rows(t), 6)
	require.EqualValues(t, 2, count(t, conn, `SELECT count() FROM tally_raw FINAL WHERE stream = 'p/late'`))
}

func TestFillInPages(t *testing.T) {
	t.Parallel()
	fillInPages(t, 5, 1, 1000)
}

// Rows are the same however the pages of the log are cut, and an interrupted pass goes on where it was.
func fillInPages(t *testing.T, streams int, sizes ...int) {
	t.Helper()
	conn := stacktest.Migrated(t)
	p, c := newTally(t, conn), newChain(t, conn)
	s := projection.New(conn, eventlog.Options{})
	for n := range streams {
		stream := fmt.Sprintf("p/%d'\\", n)
		_, err := s.Append(t.Context(), stream, said(stream, 1+n))
		require.NoError(t, err)
	}
	for _, q := range []projection.Projector{p, c} {
		_, err := s.ProjectAll(t.Context(), q)
		require.NoError(t, err)
	}
	want := append(digests(t, s, p), digests(t, s, c)...)
	for i, pages := range sizes {
		s := projection.New(conn, eventlog.Options{PageRows: pages, Lease: shortLease})
		rebuild(t, s, conn, fmt.Sprint(i), p, c)
		require.Equal(t, want, append(digests(t, s, p), digests(t, s, c)...), "pages of %d", pages)
		behind := standings(t, s, p)
		require.Zero(t, behind.Behind)
	}
}
