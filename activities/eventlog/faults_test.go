package eventlog_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// forge writes a row as a server would hold it after a fault that Append does not allow: it has
// forgotten every token.
func forge(t *testing.T, conn driver.Conn, stream string, seq uint64, key, payload string, recorded int64) {
	t.Helper()
	require.NoError(t, conn.Exec(t.Context(), `INSERT INTO events_raw (* EXCEPT (heading, message_index)) SELECT ?, ?, ?, 'test', now64(6), 'forger', '', '', '', ?,
		?, ?, '', 'normal', ?, fromUnixTimestamp64Micro(?, 'UTC'), ? SETTINGS insert_deduplicate = 0, async_insert = 0`,
		schema.EventID(key), stream, seq, key, payload, uint32(len(payload)), schema.HashText(payload), recorded, math.MaxUint64-uint64(recorded)))
}

// TestI7NoDuplicateShows is I7 where the first guard, the token, is gone: the view and each read still
// show an event once, and all show the same one.
func TestI7NoDuplicateShows(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	// A merge would remove the duplicates by itself.
	require.NoError(t, conn.Exec(t.Context(), "SYSTEM STOP MERGES events_raw"))
	forge(t, conn, "a", 1, "k1", `1`, 1000)
	forge(t, conn, "a", 1, "k1", `2`, 2000) // The same place: the first recorded stays.
	forge(t, conn, "a", 2, "k2", `1`, 1000)
	forge(t, conn, "a", 3, "k2", `2`, 900) // Another place, recorded before.
	forge(t, conn, "a", 3, "k3", `1`, 1000)
	forge(t, conn, "b", 1, "k3", `1`, 1000) // Another stream, recorded at the same time.
	forge(t, conn, "b", 2, "k1", `3`, 3000)
	forge(t, conn, "b", 3, "k4", `1`, 1000)
	hidden, err := eventlog.New(conn, eventlog.Options{}).HideCopies(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, hidden)
	want := []string{"a 1 k1 1", "a 3 k2 2", "a 3 k3 1", "b 3 k4 1"}

	rows, err := conn.Query(t.Context(), `SELECT concat(stream, ' ', toString(seq), ' ', dedupe_key, ' ', payload_json) AS line FROM events ORDER BY line`)
	require.NoError(t, err)
	var view []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		view = append(view, line)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, want, view)
	require.NoError(t, conn.Exec(t.Context(), "SYSTEM START MERGES events_raw"))

	show := func(e schema.Event) string {
		return fmt.Sprintf("%s %d %s %s", e.Stream, e.Seq, e.DedupeKey, e.Payload)
	}
	for _, size := range []int{1, 2, 3, 100} {
		s := eventlog.New(conn, eventlog.Options{PageRows: size})
		var read []string
		for _, e := range collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{})) {
			read = append(read, show(e))
			one, err := s.Get(t.Context(), e.ID)
			require.NoError(t, err)
			require.Equal(t, show(e), show(one))
		}
		require.ElementsMatch(t, want, read, "pages of %d", size)
		require.Len(t, collect(t, s.Stream(t.Context(), "a", eventlog.StreamOptions{})), 3)
		b := collect(t, s.Stream(t.Context(), "b", eventlog.StreamOptions{}))
		require.Len(t, b, 1)
		require.Equal(t, "b 3 k4 1", show(b[0]))
		got, err := s.Append(t.Context(), "b", []schema.Event{event("k1", 1), event("k2", 2), event("k4", 1)})
		require.NoError(t, err)
		require.Zero(t, got.New)
		require.Equal(t, "a 1 k1 1", show(got.Events[0]))
		require.Equal(t, "a 3 k2 2", show(got.Events[1]))
	}
	require.NoError(t, conn.Exec(t.Context(), `OPTIMIZE TABLE events_raw FINAL`))
	s := eventlog.New(conn, eventlog.Options{})
	hidden, err = s.HideCopies(t.Context())
	require.NoError(t, err)
	require.Zero(t, hidden, "they stay hidden")
	var read []string
	for _, e := range collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{})) {
		read = append(read, show(e))
	}
	require.ElementsMatch(t, want, read)
	require.EqualValues(t, len(want), count(t, conn, `SELECT count() FROM events`))
	require.EqualValues(t, len(want), count(t, conn, `SELECT count() FROM event_dedup`))
}

// A hidden place stays hidden, and its event where it was, whatever arrives there later. If the other place is gone, the event
// is not stored, and can be appended again.
func testHiddenPlace(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	forge(t, conn, "a", 1, "k", `"secret"`, 2000)
	forge(t, conn, "b", 1, "k", `"secret"`, 3000)
	hide := func(want int) {
		hidden, err := s.HideCopies(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, hidden)
	}
	look := func(want string) {
		var streams []string
		for _, e := range collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{})) {
			streams = append(streams, e.Stream)
		}
		require.Equal(t, want, strings.Join(streams, " "))
		require.EqualValues(t, len(streams), count(t, conn, `SELECT count() FROM events`))
	}
	hide(1)
	look("a")
	forge(t, conn, "b", 1, "k", `"secret"`, 1000)
	hide(0)
	look("a")
	got, err := s.Append(t.Context(), "c", []schema.Event{event("k", "secret")})
	require.NoError(t, err)
	require.Zero(t, got.New)
	require.Equal(t, "a", got.Events[0].Stream)
	look("a")

	eraser := eventlog.NewEraser(conn, "e")
	require.NoError(t, eraser.DeleteRows(t.Context(), "events_raw", "stream = 'a'"))
	look("")
	_, err = s.Get(t.Context(), got.Events[0].ID)
	require.ErrorIs(t, err, eventlog.ErrNotFound)
	got, err = s.Append(t.Context(), "c", []schema.Event{event("k", "secret")})
	require.NoError(t, err)
	require.Equal(t, 1, got.New)
	look("c")
}

// Any number of copies is hidden, and their text is gone with the next merge.
func TestManyCopiesAreHidden(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	const n = 450
	for _, place := range []string{`'a/\'\\', number + 1`, "'b', number + 1"} {
		require.NoError(t, conn.Exec(t.Context(), `INSERT INTO events_raw (* EXCEPT (heading, message_index)) SELECT toString(number), `+place+`, 'test', now64(6),
			'forger', '', '', '', toString(number), '"secret"', 8, '', 'normal', ?, fromUnixTimestamp64Micro(1, 'UTC'), 1000
			FROM numbers(?) SETTINGS insert_deduplicate = 0`, schema.HashText(`"secret"`), n))
	}
	s := eventlog.New(conn, eventlog.Options{})
	hidden, err := s.HideCopies(t.Context())
	require.NoError(t, err)
	require.Equal(t, n, hidden)
	require.EqualValues(t, n, count(t, conn, `SELECT count() FROM events WHERE startsWith(stream, 'a/')`))
	require.EqualValues(t, n, count(t, conn, `SELECT count() FROM events`))
	require.NoError(t, conn.Exec(t.Context(), `OPTIMIZE TABLE events_raw FINAL`))
	require.EqualValues(t, n, count(t, conn, `SELECT count() FROM events_raw WHERE payload_json != ''`))
	require.Len(t, collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{})), n)
}

// TestI7DisputedAppend is a server that keeps both of two blocks with one token.
func TestI7DisputedAppend(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	c := &flaky{Conn: conn}
	c.before = func() error {
		forge(t, conn, "s", 1, "other", `1`, 5)
		forge(t, conn, "s", 2, "k0", `1`, 5)
		c.before = nil
		return nil
	}
	s := eventlog.New(c, eventlog.Options{})
	_, err := s.Append(t.Context(), "s", events("k", 2))
	require.ErrorIs(t, err, eventlog.ErrConcurrentWriter)
	require.ErrorContains(t, err, `"s"`)
	require.True(t, clickhouse.Retryable(err))
	got, err := s.Append(t.Context(), "s", events("k", 2))
	require.NoError(t, err)
	require.Zero(t, got.New)
	require.Equal(t, []int{0}, got.Differing)
	require.EqualValues(t, 3, count(t, conn, `SELECT count() FROM events`))
	require.Len(t, collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{})), 3)
}

// TestViewUsesPrimaryKey keeps the view usable on a large log.
func TestViewUsesPrimaryKey(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := eventlog.New(conn, eventlog.Options{})
	for i := range 3 {
		_, err := s.Append(t.Context(), fmt.Sprintf("s%d", i), events(fmt.Sprintf("s%d-", i), 5000))
		require.NoError(t, err)
	}
	plan := func(sql string) string {
		rows, err := conn.Query(t.Context(), "EXPLAIN indexes = 1 "+sql)
		require.NoError(t, err)
		defer func() { _ = rows.Close() }()
		var lines []string
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			lines = append(lines, line)
		}
		require.NoError(t, rows.Err())
		return strings.Join(lines, "\n")
	}
	got := plan(`SELECT * FROM events WHERE stream = 's1' AND seq BETWEEN 100 AND 200`)
	require.Contains(t, got, "stream in ['s1', 's1']")
	require.Contains(t, got, "seq in [100")
	ids := make([]string, 5)
	for i := range ids {
		ids[i] = "'" + schema.EventID(fmt.Sprintf("s1-%d", i)) + "'"
	}
	got = plan(`SELECT event_id, stream, seq, precedence FROM events_raw WHERE event_id IN (` + strings.Join(ids, ", ") + `)`)
	require.Contains(t, got, "(by_id)", "ids are found without reading all of the log")
}
