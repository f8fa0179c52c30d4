package eventlog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// forgetful is the lease of a store that asks the server for erasures each time.
const forgetful = time.Nanosecond

// Erased events leave positions without gaps, their keys are free again, and reduced events keep their ids. A program
// that has the streams in memory sees the erasure as soon as the audit stream records it.
func TestErase(t *testing.T) {
	t.Parallel()
	eraseAndReduce(t, stacktest.Migrated(t))
}

func eraseAndReduce(t *testing.T, conn driver.Conn) {
	t.Helper()
	s := eventlog.New(conn, eventlog.Options{Lease: forgetful})
	const gone, shared = "session/p/u/a/gone", "project/p"
	_, err := s.Append(t.Context(), gone, events("g", 3))
	require.NoError(t, err)
	appended, err := s.Append(t.Context(), shared, []schema.Event{
		event("a", map[string]any{"text": "secret"}), event("b", map[string]any{"text": "public"}),
		event("c", map[string]any{"texts": []string{"secret", "public"}}), event("d", map[string]any{"text": "secret"}),
	})
	require.NoError(t, err)
	as, err := s.AsWriter(t.Context(), shared, schema.StreamHead{})
	require.NoError(t, err)
	require.Len(t, collect(t, s.Stream(as, shared, eventlog.StreamOptions{})), 4)

	stored := appended.Events
	reduced := stored[2]
	reduced.Payload = []byte(`{"texts":["public"]}`)
	x := eventlog.NewEraser(conn, "e1")
	require.NoError(t, x.WaitForMutations(t.Context()))
	all := []eventlog.Replacement{{Old: stored[0]}, {stored[2], reduced}, {Old: stored[3]}}
	require.NoError(t, x.Replace(t.Context(), all))
	// Both are in the log now: readers see the replacement, or both.
	require.NoError(t, x.Replace(t.Context(), all), "an attempt that broke off is done again")
	require.NoError(t, x.Delete(t.Context(), []string{gone}))
	require.NoError(t, x.Apply(t.Context()))

	begin(t, s, schema.ErasureBegunPayload{ErasureID: "e1", Kind: schema.EraseQuery, By: "ann", Salt: "x"})
	for name, store := range map[string]*eventlog.Store{"another program": eventlog.New(conn, eventlog.Options{}), "one that has read it": s} {
		as, err := store.AsWriter(t.Context(), shared, schema.StreamHead{})
		require.NoError(t, err)
		_, err = store.Append(t.Context(), "session/p/u/a/other", events("o", 1)) // It learns of the erasure.
		require.NoError(t, err)
		read := collect(t, store.Stream(as, shared, eventlog.StreamOptions{}))
		require.Len(t, read, 2, name)
		require.Equal(t, []uint64{2, 3}, []uint64{read[0].Seq, read[1].Seq}, name)
		require.Equal(t, `{"texts":["public"]}`, string(read[1].Payload), name)
		require.Equal(t, stored[2].ID, read[1].ID, name)
		require.Empty(t, collect(t, store.Stream(t.Context(), gone, eventlog.StreamOptions{})), name)
		_, err = store.At(t.Context(), shared, []uint64{1})
		require.ErrorIs(t, err, eventlog.ErrNotFound, name)
	}
	var rows uint64
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count() FROM events_raw WHERE payload_json LIKE '%secret%'`).Scan(&rows))
	require.Zero(t, rows)
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count() FROM erasing_raw`).Scan(&rows))
	require.Zero(t, rows)

	again, err := s.Append(t.Context(), shared, []schema.Event{event("a", map[string]any{"text": "new"}), event("b", map[string]any{"text": "public"})})
	require.NoError(t, err)
	require.Equal(t, 1, again.New)
	require.Equal(t, uint64(5), again.Events[0].Seq)
	require.Empty(t, again.Differing)
	back, err := s.Append(t.Context(), gone, events("g", 2))
	require.NoError(t, err)
	require.Equal(t, 2, back.New)
}

func begin(t *testing.T, s *eventlog.Store, p any) {
	t.Helper()
	e, err := schema.NewEvent(p, schema.Event{TS: time.Now(), Actor: "ann", DedupeKey: fmt.Sprint(t.Name(), time.Now().UnixNano())})
	require.NoError(t, err)
	_, err = s.Append(t.Context(), schema.AuditStream(), []schema.Event{e})
	require.NoError(t, err)
}

// Erased content is not stored again by any stream that names it, other names are stored, and a person can lift the
// tombstone.
func TestTombstone(t *testing.T) {
	t.Parallel()
	key := func(project, user, agent, id string) schema.SessionKey {
		return schema.SessionKey{Scope: schema.Scope{Project: project, User: user, Agent: agent}, SessionID: id}
	}
	of := func(project, session string) schema.Event {
		e := event("k"+project+session+fmt.Sprint(time.Now().UnixNano()), map[string]any{})
		e.Project, e.SessionID = project, session
		return e
	}
	for name, c := range map[string]struct {
		scope schema.ErasureScope
		// refused and stored are streams, with the project and session of the event.
		refused, stored [][3]string
	}{
		"session": {
			schema.ErasureScope{Project: "p/1", User: "ü", Agent: "a", SessionID: "s'\\"},
			[][3]string{
				{key("p/1", "ü", "a", "s'\\").Stream(), "", ""}, {schema.MemoryStream("ü", "a"), "p/1", "s'\\"}, {schema.QueueStream("ü", "a"), "p/1", "s'\\"},
			},
			[][3]string{
				{key("p/1", "ü", "", "s'\\").Stream(), "", ""}, {key("p", "ü", "a", "s'\\").Stream(), "", ""}, {key("p/1", "u", "a", "s'\\").Stream(), "", ""},
				{schema.MemoryStream("ü", "a"), "p/1", "s"}, {schema.MemoryStream("ü", ""), "p/1", "s'\\"}, {schema.ProjectStream("p/1"), "p/1", "s'\\"},
			},
		},
		"user": {
			schema.ErasureScope{User: "ann"},
			[][3]string{{key("p", "ann", "", "s").Stream(), "", ""}, {schema.MemoryStream("ann", "x"), "", ""}, {schema.QueueStream("ann", ""), "", ""}},
			[][3]string{{key("ann", "bob", "ann", "ann").Stream(), "", ""}, {schema.MemoryStream("anna", ""), "", ""}, {schema.ProjectStream("ann"), "ann", ""}},
		},
		"project": {
			schema.ErasureScope{Project: "p"},
			[][3]string{
				{key("p", "ann", "", "s").Stream(), "", ""}, {schema.ProjectStream("p"), "", ""}, {schema.GraduateStream("p"), "", ""},
				{schema.UsageStream("p", "r"), "", ""}, {schema.MemoryStream("ann", ""), "p", ""},
			},
			[][3]string{{key("p2", "p", "p", "p").Stream(), "", ""}, {schema.ProjectStream("P"), "", ""}, {schema.MemoryStream("p", ""), "q", ""}, {schema.MemoryStream("p", ""), "", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := stacktest.Migrated(t)
			s, other := eventlog.New(conn, eventlog.Options{Lease: forgetful}), eventlog.New(conn, eventlog.Options{Lease: forgetful})
			put := func(stream [3]string) error {
				_, err := other.Append(t.Context(), stream[0], []schema.Event{of(stream[1], stream[2])})
				return err
			}
			require.NoError(t, put(c.refused[0]))
			require.NoError(t, c.scope.Validate())
			begin(t, s, schema.ErasureBegunPayload{ErasureID: "erasure-1", Kind: c.scope.Kind(), By: "ann", Salt: "salt", Scope: c.scope.Hash("salt")})
			begin(t, s, schema.ErasureLockedPayload{ErasureID: "erasure-1", Streams: []string{eventlog.StreamHash("salt", "graduate/locked")}})
			for _, stream := range c.refused {
				var erased *eventlog.ErasedError
				require.ErrorAs(t, put(stream), &erased, "%q", stream)
				require.ErrorContains(t, erased, "starter forget lift erasure-")
			}
			for _, stream := range c.stored {
				require.NoError(t, put(stream), "%q", stream)
			}
			var erasing *eventlog.ErasingError
			require.ErrorAs(t, put([3]string{"graduate/locked"}), &erasing)
			begin(t, s, schema.ErasureFinishedPayload{ErasureID: "erasure-1"})
			begin(t, s, schema.ErasureLiftedPayload{ErasureID: "erasure-1", By: "ann"})
			require.NoError(t, put([3]string{"graduate/locked"}))
			for _, stream := range c.refused {
				require.NoError(t, put(stream), "%q", stream)
			}
		})
	}
}
