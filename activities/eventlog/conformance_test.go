package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// conformance is a part of the promises of the log.
type conformance func(*testing.T, driver.Conn, *eventlog.Store)

func TestConformance(t *testing.T) {
	t.Parallel()
	conform(t, map[string]conformance{
		"append and read":                    testAppendAndRead,
		"duplicate append":                   testDuplicateAppend,
		"hidden place":                       testHiddenPlace,
		"same key twice in a batch":          testSameKeyInBatch,
		"same key in another stream":         testOtherStream,
		"concurrent appenders, same keys":    concurrentSame(3, 2),
		"concurrent appenders, overlapping":  concurrentOverlapping(3, 3),
		"concurrent appenders, other stores": concurrentDistinct(4, 2),
		"answer lost after the insert":       testAnswerLost,
		"insert never arrived":               testNeverArrived,
		"attempt that arrives late":          testZombie,
		"crash before reading back":          testCrashBeforeReadBack,
		"token spent by a dying server":      testSpentToken,
		"equal timestamps":                   testEqualTimestamps,
		"page boundaries":                    pageBoundaries([]int{1, 2, pageBoundary - 1, pageBoundary, pageBoundary + 1, 3 * pageBoundary}, 1<<20),
		"page boundaries, small pages":       pageBoundaries([]int{3 * pageBoundary}, 30),
		"short pages":                        testShortPages,
		"selections":                         testSelections,
		"payload of 5 MB":                    testLargePayload,
		"limits of a batch":                  testLimits,
		"corruption is detected":             testCorruption,
		"refused events":                     testRefused,
		"text of any script":                 testUnicode,
	})
}

// conform tries the promises on a real server. Each part has a database of its own, and leaves it sound (I7).
func conform(t *testing.T, parts map[string]conformance) {
	t.Helper()
	conformOn(t, stacktest.Migrated, parts)
}

func conformOn(t *testing.T, database func(testing.TB) driver.Conn, parts map[string]conformance) {
	t.Helper()
	for name, test := range parts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := database(t)
			test(t, conn, eventlog.New(conn, eventlog.Options{}))
			if !t.Failed() {
				requireSound(t, conn)
			}
		})
	}
}

func testAppendAndRead(t *testing.T, _ driver.Conn, s *eventlog.Store) {
	given := schema.Event{
		Type: "test", TS: day.Add(1234567 * time.Nanosecond), Actor: "a", SessionID: "s1", Project: "p", BuildID: "b",
		DedupeKey: "k", Payload: []byte(`{ "b": 1.0, "a": "é" }`), PayloadRedacted: []byte(`["a"]`), Sensitivity: schema.SensitivityRedacted,
	}
	got, err := s.Append(t.Context(), "session/s1", append([]schema.Event{given}, events("k", 2)...))
	require.NoError(t, err)
	require.Equal(t, 3, got.New)
	require.Empty(t, got.Differing)
	first := got.Events[0]
	require.Equal(t, schema.EventID("k"), first.ID)
	require.Equal(t, "session/s1", first.Stream)
	require.EqualValues(t, 1, first.Seq)
	require.Equal(t, `{"a":"é","b":1}`, string(first.Payload))
	require.Equal(t, schema.HashText(`{"a":"é","b":1}`), first.Checksum)
	require.Equal(t, day.Add(1234*time.Microsecond), first.TS)
	require.WithinDuration(t, time.Now(), first.RecordedAt, time.Minute)

	read := collect(t, s.Stream(t.Context(), "session/s1", eventlog.StreamOptions{}))
	require.Equal(t, got.Events, read)
	one, err := s.Get(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, first, one)
	many, err := s.GetMany(t.Context(), []string{first.ID, "absent", read[2].ID})
	require.NoError(t, err)
	require.Equal(t, map[string]schema.Event{first.ID: first, read[2].ID: read[2]}, many)
	_, err = s.Get(t.Context(), "absent")
	require.ErrorIs(t, err, eventlog.ErrNotFound)
	none, err := s.Append(t.Context(), "session/s1", nil)
	require.NoError(t, err)
	require.Zero(t, none)
}

func testDuplicateAppend(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	first, err := s.Append(t.Context(), "s", events("k", 5))
	require.NoError(t, err)
	again, err := s.Append(t.Context(), "s", events("k", 5))
	require.NoError(t, err)
	require.Zero(t, again.New)
	require.Empty(t, again.Differing)
	require.Equal(t, first.Events, again.Events)

	mixed := []schema.Event{event("new", 1), event("k1", "another payload"), event("k0", map[string]any{"key": "k0"})}
	got, err := eventlog.New(conn, eventlog.Options{}).Append(t.Context(), "s", mixed)
	require.NoError(t, err)
	require.Equal(t, 1, got.New)
	require.Equal(t, []int{1}, got.Differing)
	require.Equal(t, first.Events[1], got.Events[1], "the first payload stays")
	require.EqualValues(t, 6, got.Events[0].Seq)
	require.EqualValues(t, 6, count(t, conn, `SELECT count() FROM events_raw`))
}

func testSameKeyInBatch(t *testing.T, _ driver.Conn, s *eventlog.Store) {
	got, err := s.Append(t.Context(), "s", []schema.Event{event("a", 1), event("b", 2), event("a", 1), event("a", 3)})
	require.NoError(t, err)
	require.Equal(t, 2, got.New)
	require.Equal(t, []int{3}, got.Differing)
	require.Equal(t, got.Events[0], got.Events[2])
	require.Equal(t, got.Events[0], got.Events[3])
	require.EqualValues(t, 2, got.Events[1].Seq)
}

func testOtherStream(t *testing.T, _ driver.Conn, s *eventlog.Store) {
	first, err := s.Append(t.Context(), "a", events("k", 1))
	require.NoError(t, err)
	got, err := s.Append(t.Context(), "b", events("k", 2))
	require.NoError(t, err)
	require.Equal(t, 1, got.New)
	require.Equal(t, []int{0}, got.Differing)
	require.Equal(t, first.Events[0], got.Events[0])
	require.EqualValues(t, 1, got.Events[1].Seq)
}

// appendUntil appends as a caller does that retries.
func appendUntil(t *testing.T, s *eventlog.Store, stream string, events []schema.Event) eventlog.Appended {
	for {
		got, err := s.Append(t.Context(), stream, events)
		if errors.Is(err, eventlog.ErrConcurrentWriter) {
			continue
		}
		require.NoError(t, err)
		return got
	}
}

func concurrently(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

func concurrentSame(writers, rounds int) conformance {
	const size = 20
	return func(t *testing.T, conn driver.Conn, _ *eventlog.Store) {
		results := make([][]eventlog.Appended, writers)
		concurrently(writers, func(w int) {
			s := eventlog.New(conn, eventlog.Options{})
			for r := range rounds {
				results[w] = append(results[w], appendUntil(t, s, "s", events(fmt.Sprintf("r%d-", r), size)))
			}
		})
		stored := 0
		for w := range writers {
			for r := range rounds {
				require.Equal(t, results[0][r].Events, results[w][r].Events, "all writers see the same events")
				stored += results[w][r].New
			}
		}
		require.Equal(t, rounds*size, stored, "each event is new to one writer")
		require.EqualValues(t, rounds*size, count(t, conn, `SELECT count() FROM events_raw`))
	}
}

func concurrentOverlapping(writers, rounds int) conformance {
	return func(t *testing.T, conn driver.Conn, _ *eventlog.Store) {
		all := events("k", 200)
		concurrently(writers, func(w int) {
			s := eventlog.New(conn, eventlog.Options{})
			for r := range rounds {
				from := (w*31 + r*17) % 150
				appendUntil(t, s, "s", all[from:from+40])
				// And the same keys race for another stream.
				appendUntil(t, s, fmt.Sprintf("t%d", w%2), events(fmt.Sprintf("x%d-", r), 3))
			}
		})
	}
}

func concurrentDistinct(writers, rounds int) conformance {
	return func(t *testing.T, conn driver.Conn, s *eventlog.Store) {
		concurrently(writers, func(w int) {
			other := eventlog.New(conn, eventlog.Options{})
			for r := range rounds {
				require.Equal(t, 3, appendUntil(t, other, "s", events(fmt.Sprintf("w%d-%d-", w, r), 3)).New)
			}
		})
		require.Len(t, collect(t, s.Stream(t.Context(), "s", eventlog.StreamOptions{})), writers*rounds*3)
	}
}

func testAnswerLost(t *testing.T, conn driver.Conn, _ *eventlog.Store) {
	c := &flaky{Conn: conn, after: func() error { return io.ErrUnexpectedEOF }}
	s := eventlog.New(c, eventlog.Options{})
	_, err := s.Append(t.Context(), "s", events("k", 10))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.True(t, clickhouse.Retryable(err))
	c.after = nil
	got, err := s.Append(t.Context(), "s", events("k", 12))
	require.NoError(t, err)
	require.Equal(t, 2, got.New)
	require.EqualValues(t, 12, count(t, conn, `SELECT count() FROM events_raw`))
}

func testNeverArrived(t *testing.T, conn driver.Conn, _ *eventlog.Store) {
	c := &flaky{Conn: conn, before: func() error { return io.EOF }}
	s := eventlog.New(c, eventlog.Options{})
	_, err := s.Append(t.Context(), "s", events("k", 10))
	require.ErrorIs(t, err, io.EOF)
	c.before = nil
	got, err := s.Append(t.Context(), "s", events("k", 10))
	require.NoError(t, err)
	require.Equal(t, 10, got.New)
}

// testZombie holds back an insert until a retry of it, with another payload, has been stored and read.
func testZombie(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	held, released := make(chan struct{}), make(chan struct{})
	zombie := eventlog.New(&flaky{Conn: conn, before: func() error { close(held); <-released; return nil }, after: func() error {
		return errors.New("nobody listens")
	}}, eventlog.Options{})
	done := make(chan error)
	go func() {
		_, err := zombie.Append(context.WithoutCancel(t.Context()), "s", []schema.Event{event("a", "early"), event("b", "early")})
		done <- err
	}()
	<-held
	_, err := s.Append(t.Context(), "s", []schema.Event{event("a", "late"), event("c", "late")})
	require.NoError(t, err)
	before := collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{}))
	close(released)
	require.Error(t, <-done)
	require.Equal(t, before, collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{})), "what was read has changed")
	got, err := zombieRetry(t, conn)
	require.NoError(t, err)
	require.Equal(t, 1, got.New)
	require.Equal(t, []int{0}, got.Differing)
}

func zombieRetry(t *testing.T, conn driver.Conn) (eventlog.Appended, error) {
	return eventlog.New(conn, eventlog.Options{}).Append(t.Context(), "s", []schema.Event{event("a", "early"), event("b", "early")})
}

func testCrashBeforeReadBack(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	ctx, crash := context.WithCancel(t.Context())
	dying := eventlog.New(&flaky{Conn: conn, after: func() error { crash(); return nil }}, eventlog.Options{})
	_, err := dying.Append(ctx, "s", events("k", 5))
	require.ErrorIs(t, err, context.Canceled)
	got, err := s.Append(t.Context(), "s", events("k", 5))
	require.NoError(t, err)
	require.Zero(t, got.New)
	require.Len(t, got.Events, 5)
}

// testSpentToken spends the token of the next append with a block that is not there, as after a crash of the server at
// the wrong moment, or an erasure of the rows.
func testSpentToken(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	_, err := s.Append(t.Context(), "s", events("old", 3))
	require.NoError(t, err)
	ctx := clickhouse.With(t.Context(), clickhouse.Settings{"mutations_sync": 2})
	require.NoError(t, conn.Exec(ctx, `ALTER TABLE events_raw DELETE WHERE stream = 's'`))
	got, err := s.Append(t.Context(), "s", events("new", 3))
	require.NoError(t, err)
	require.Equal(t, 3, got.New)
	require.EqualValues(t, 1, got.Events[0].Seq)
	require.Equal(t, keys(events("new", 3)), keys(collect(t, s.Stream(t.Context(), "s", eventlog.StreamOptions{}))))
}

func testEqualTimestamps(t *testing.T, conn driver.Conn, _ *eventlog.Store) {
	s := eventlog.New(conn, eventlog.Options{PageRows: 3, Now: func() time.Time { return day }})
	for _, stream := range []string{"b", "a"} {
		_, err := s.Append(t.Context(), stream, events(stream, 10))
		require.NoError(t, err)
		_, err = s.Append(t.Context(), stream, events(stream, 20))
		require.NoError(t, err)
	}
	require.Equal(t, append(keys(events("a", 20)), keys(events("b", 20))...),
		keys(collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{}))))
}

// pageBoundary is the number of events of a stream in pageBoundaries.
const pageBoundary = 11

func pageBoundaries(sizes []int, bytes int64) conformance {
	const n = pageBoundary
	return func(t *testing.T, conn driver.Conn, s *eventlog.Store) {
		want, err := s.Append(t.Context(), "m", events("m", n))
		require.NoError(t, err)
		for _, other := range []string{"a", "z"} {
			_, err := s.Append(t.Context(), other, events(other, n))
			require.NoError(t, err)
		}
		for _, size := range sizes {
			s := eventlog.New(conn, eventlog.Options{PageRows: size, PageBytes: bytes})
			require.Equal(t, want.Events, collect(t, s.Stream(t.Context(), "m", eventlog.StreamOptions{})), "pages of %d", size)
			require.Equal(t, want.Events[7:], collect(t, s.Stream(t.Context(), "m", eventlog.StreamOptions{After: 7})))
			require.Empty(t, collect(t, s.Stream(t.Context(), "m", eventlog.StreamOptions{After: n})))
			require.Equal(t, want.Events[:6], collect(t, s.Stream(t.Context(), "m", eventlog.StreamOptions{Limit: 6})))
			require.Len(t, collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{})), 3*n)
			require.Equal(t, []eventlog.StreamInfo{{"a", n}, {"m", n}, {"z", n}}, collect(t, s.Streams(t.Context(), "")))
		}
		for _, err := range s.Stream(t.Context(), "m", eventlog.StreamOptions{}) {
			require.NoError(t, err)
			break // An abandoned read frees its connection.
		}
	}
}

// A stream is read by one query if the selection is short, and by another if it is not. Both return the same at the
// limits: a replay always takes the other one.
func testShortPages(t *testing.T, _ driver.Conn, s *eventlog.Store) {
	const rows, payload = 128, eventlog.DefaultPageBytes / 128
	many := events("many", rows+2)
	large := events("large", 5)
	for i, n := range []int{2, payload + 1, payload, payload - 1, 2} {
		large[i].Payload = []byte(`"` + strings.Repeat("x", n-2) + `"`)
	}
	for stream, batch := range map[string][]schema.Event{"many": many, "large": large} {
		_, err := s.Append(t.Context(), stream, batch)
		require.NoError(t, err)
		want := collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{StreamPrefix: stream}))
		require.Len(t, want, len(batch))
		for after := range 5 {
			require.Equal(t, want[after:], collect(t, s.Stream(t.Context(), stream, eventlog.StreamOptions{After: uint64(after)})), "%s after %d", stream, after)
		}
	}
}

func testSelections(t *testing.T, conn driver.Conn, _ *eventlog.Store) {
	s := eventlog.New(conn, eventlog.Options{PageRows: 2})
	for _, stream := range []string{"session/1", "session/2", "project/'x\\"} {
		batch := events(stream, 9)
		for i := range batch {
			batch[i].Type = []string{"one", "two", "three"}[i%3]
			batch[i].TS = day.Add(time.Duration(i) * time.Hour)
		}
		_, err := s.Append(t.Context(), stream, batch)
		require.NoError(t, err)
	}
	two := collect(t, s.Stream(t.Context(), "session/1", eventlog.StreamOptions{Types: []string{"two"}}))
	require.Equal(t, []string{"session/11", "session/14", "session/17"}, keys(two))
	require.Len(t, collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{Types: []string{"one", "three"}, StreamPrefix: "session/"})), 12)
	require.Len(t, collect(t, s.Replay(t.Context(), eventlog.ReplayOptions{Since: day.Add(7 * time.Hour)})), 6)
	require.Len(t, collect(t, s.Stream(t.Context(), "project/'x\\", eventlog.StreamOptions{})), 9)
	require.Equal(t, []eventlog.StreamInfo{{"session/1", 9}, {"session/2", 9}}, collect(t, s.Streams(t.Context(), "session/")))
}

func testLargePayload(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	text := strings.Repeat("0123456789", 500_000)
	batch := []schema.Event{event("a", 1), event("b", text), event("c", text), event("d", 2)}
	want, err := s.Append(t.Context(), "s", batch)
	require.NoError(t, err)
	require.Equal(t, want.Events, collect(t, s.Stream(t.Context(), "s", eventlog.StreamOptions{})))
	require.EqualValues(t, 1, count(t, conn, `SELECT uniqExact(_part) FROM events_raw`), "a batch is one block")
}

func testLimits(t *testing.T, _ driver.Conn, s *eventlog.Store) {
	many := events("k", eventlog.MaxBatchRows+5)
	_, err := s.Append(t.Context(), "s", many)
	require.ErrorIs(t, err, eventlog.ErrInvalid)
	require.ErrorContains(t, err, "use AppendAll")
	many[eventlog.MaxBatchRows+2].Payload = []byte(`{`)
	_, err = s.AppendAll(t.Context(), "s", many)
	require.ErrorContains(t, err, "invalid event 100002: payload: is not JSON")
}

// testLongBatch appends more events than a batch holds.
func testLongBatch(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	got, err := s.AppendAll(t.Context(), "s", append(events("k", eventlog.MaxBatchRows+5), event("k3", "differs")))
	require.NoError(t, err)
	require.Equal(t, eventlog.MaxBatchRows+5, got.New)
	require.Equal(t, []int{eventlog.MaxBatchRows + 5}, got.Differing)
	require.EqualValues(t, eventlog.MaxBatchRows+5, got.Events[eventlog.MaxBatchRows+4].Seq)
	require.EqualValues(t, 2, count(t, conn, `SELECT uniqExact(recorded_at) FROM events_raw`), "a batch is one insert")
}

func testCorruption(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	_, err := s.Append(t.Context(), "s", events("k", 3))
	require.NoError(t, err)
	ctx := clickhouse.With(t.Context(), clickhouse.Settings{"mutations_sync": 2})
	require.NoError(t, conn.Exec(ctx, `ALTER TABLE events_raw UPDATE payload_json = '{"key":"kX"}' WHERE seq = 2`))
	id := schema.EventID("k1")
	_, err = s.Get(t.Context(), id)
	require.ErrorIs(t, err, eventlog.ErrCorrupt)
	require.ErrorContains(t, err, id)
	require.False(t, clickhouse.Retryable(err))
	for _, err = range s.Stream(t.Context(), "s", eventlog.StreamOptions{}) {
		if err != nil {
			break
		}
	}
	require.ErrorIs(t, err, eventlog.ErrCorrupt)
	require.NoError(t, conn.Exec(ctx, `ALTER TABLE events_raw UPDATE payload_json = '{"key":"k1"}' WHERE seq = 2`))
}

func testRefused(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	for want, spoil := range map[string]func(*schema.Event){
		"invalid event 1: event_type: is empty":                      func(e *schema.Event) { e.Type = "" },
		"invalid event 1: dedupe_key: is empty":                      func(e *schema.Event) { e.DedupeKey = "" },
		"invalid event 1: dedupe_key: is 4097 bytes long":            func(e *schema.Event) { e.DedupeKey = strings.Repeat("k", schema.MaxDedupeKeyBytes+1) },
		"invalid event 1: actor: is 1025 bytes long":                 func(e *schema.Event) { e.Actor = strings.Repeat("a", 1025) },
		"invalid event 1: actor: holds a NUL byte":                   func(e *schema.Event) { e.Actor = "a\x00" },
		"invalid event 1: session_id: is not valid UTF-8":            func(e *schema.Event) { e.SessionID = "\xff" },
		"invalid event 1: ts: is 0001-01-01T00:00:00Z":               func(e *schema.Event) { e.TS = time.Time{} },
		"invalid event 1: payload: is empty":                         func(e *schema.Event) { e.Payload = nil },
		"invalid event 1: payload: is not JSON":                      func(e *schema.Event) { e.Payload = []byte(`{"a":1}{`) },
		"invalid event 1: payload: holds the integer 12345678901234": func(e *schema.Event) { e.Payload = []byte(`{"n":12345678901234567891}`) },
		"invalid event 1: payload_redacted: is not JSON":             func(e *schema.Event) { e.PayloadRedacted = []byte(`x`) },
		"invalid event 1: sensitivity: is \"secret\"":                func(e *schema.Event) { e.Sensitivity = "secret" },
	} {
		batch := events("k", 3)
		spoil(&batch[1])
		_, err := s.Append(t.Context(), "s", batch)
		require.ErrorIs(t, err, eventlog.ErrInvalid, want)
		require.ErrorContains(t, err, want)
		require.False(t, clickhouse.Retryable(err))
	}
	_, err := s.Append(t.Context(), "", events("k", 1))
	require.ErrorContains(t, err, "invalid stream: is empty")
	require.Zero(t, count(t, conn, `SELECT count() FROM events_raw`), "all or none")
	longest := event(strings.Repeat("k", schema.MaxDedupeKeyBytes), 1)
	_, err = s.Append(t.Context(), "s", []schema.Event{longest})
	require.NoError(t, err)
	require.Equal(t, longest.DedupeKey, collect(t, s.Stream(t.Context(), "s", eventlog.StreamOptions{}))[0].DedupeKey)
}

func testUnicode(t *testing.T, conn driver.Conn, s *eventlog.Store) {
	const name = "프로젝트/'…\\n\t😀?{a:String}"
	batch := []schema.Event{event(name, map[string]string{"z": "\u2028<&>\x00", "ä": "मी", "a": "👩‍👩‍👧"})}
	batch[0].Actor, batch[0].Project, batch[0].SessionID = name, name, name
	want, err := s.Append(t.Context(), name, batch)
	require.NoError(t, err)
	require.True(t, bytes.Contains(want.Events[0].Payload, []byte("\u2028<&>\\u0000")))
	require.Equal(t, want.Events, collect(t, s.Stream(t.Context(), name, eventlog.StreamOptions{Types: []string{"test"}})))
	again, err := s.Append(t.Context(), name, batch)
	require.NoError(t, err)
	require.Equal(t, want.Events, again.Events)
	require.EqualValues(t, 1, count(t, conn, `SELECT count() FROM event_dedup WHERE dedupe_key = ?`, name))
}
