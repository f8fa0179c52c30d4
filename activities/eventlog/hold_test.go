package eventlog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// Held events are read like stored ones, cost nothing until they are stored, and then as much as one append.
func TestHold(t *testing.T) {
	t.Parallel()
	conn := &counted{Conn: stacktest.Migrated(t)}
	s := eventlog.New(conn, eventlog.Options{Lease: time.Hour})
	stored, err := s.Append(t.Context(), "h/a", events("a", 2))
	require.NoError(t, err)
	head, err := s.Load(t.Context(), "h/a")
	require.NoError(t, err)
	ctx := eventlog.WithHead(t.Context(), "h/a", head)
	_ = collect(t, s.Stream(ctx, "h/a", eventlog.StreamOptions{}))
	conn.n.Store(0)

	holding, held := s.Hold(ctx, "h/a")
	first, err := s.AppendAll(holding, "h/a", append(events("a", 2), events("b", 3)...))
	require.NoError(t, err)
	require.Equal(t, 3, first.New)
	require.Equal(t, stored.Events, first.Events[:2], "known events are not held")
	// A later step gets the earlier head.
	later := eventlog.WithHead(holding, "h/a", head)
	all := collect(t, s.Stream(later, "h/a", eventlog.StreamOptions{}))
	require.Equal(t, first.Events, all)
	second, err := s.Append(later, "h/a", events("c", 1))
	require.NoError(t, err)
	require.Equal(t, uint64(6), second.Events[0].Seq)
	again, err := s.Append(later, "h/a", events("c", 1))
	require.NoError(t, err)
	require.Zero(t, again.New)
	require.Equal(t, second.Events, again.Events)
	require.Zero(t, conn.n.Load())
	found, err := s.Get(later, second.Events[0].ID)
	require.NoError(t, err)
	require.Equal(t, second.Events[0], found)
	conn.n.Store(0)

	other := eventlog.New(conn.Conn, eventlog.Options{})
	require.Len(t, collect(t, other.Stream(t.Context(), "h/a", eventlog.StreamOptions{})), 2, "held events are for this context alone")
	require.NoError(t, held.Store(ctx))
	require.EqualValues(t, 2, conn.n.Swap(0))
	require.NoError(t, held.Store(ctx), "nothing is left")
	require.Zero(t, conn.n.Load())
	require.Equal(t, schema.StreamHead{Known: true, Seq: 6}, s.Head("h/a"))
	require.Equal(t, keysOf(append(all, second.Events...)), keysOf(collect(t, other.Stream(t.Context(), "h/a", eventlog.StreamOptions{}))))
}

func keysOf(events []schema.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = fmt.Sprint(e.Seq, " ", e.DedupeKey, " ", e.Checksum)
	}
	return out
}

// Events made of a stream that has grown meanwhile are not stored.
func TestHoldOfAStreamThatGrows(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s, other := eventlog.New(conn, eventlog.Options{}), eventlog.New(conn, eventlog.Options{})
	ctx := eventlog.WithHead(t.Context(), "h/b", schema.StreamHead{Known: true})
	holding, held := s.Hold(ctx, "h/b")
	_, err := s.Append(holding, "h/b", events("a", 2))
	require.NoError(t, err)
	_, err = other.Append(t.Context(), "h/b", events("b", 1))
	require.NoError(t, err)
	require.ErrorIs(t, held.Store(ctx), eventlog.ErrConcurrentWriter)
	require.Len(t, collect(t, other.Stream(t.Context(), "h/b", eventlog.StreamOptions{})), 1)

	head, err := s.Load(t.Context(), "h/b")
	require.NoError(t, err)
	ctx = eventlog.WithHead(t.Context(), "h/b", head)
	holding, held = s.Hold(ctx, "h/b")
	_, err = s.Append(holding, "h/b", events("a", 2))
	require.NoError(t, err)
	require.NoError(t, held.Store(ctx), "another attempt")
	require.Len(t, collect(t, other.Stream(t.Context(), "h/b", eventlog.StreamOptions{})), 3)
}

// An erasure in between: the held events may repeat the text that it erases, so they are made again.
func TestHoldWhileSomethingIsErased(t *testing.T) {
	t.Parallel()
	s := eventlog.New(stacktest.Migrated(t), eventlog.Options{Lease: forgetful})
	_, err := s.Append(t.Context(), "h/c", events("a", 2))
	require.NoError(t, err)
	for _, read := range []bool{false, true} {
		head, err := s.Load(t.Context(), "h/c")
		require.NoError(t, err)
		ctx := eventlog.WithHead(t.Context(), "h/c", head)
		holding, held := s.Hold(ctx, "h/c")
		_, err = s.Append(holding, "h/c", events("b", 2))
		require.NoError(t, err)
		begin(t, s, schema.ErasureBegunPayload{ErasureID: fmt.Sprint("e", read), Kind: schema.EraseQuery, By: "ann", Salt: "x"})
		time.Sleep(2 * forgetful) // No longer does the store know nothing of it.
		if read {
			_, err = s.Append(holding, "h/c", events("c", 1))
			require.ErrorIs(t, err, eventlog.ErrConcurrentWriter)
		}
		require.ErrorIs(t, held.Store(ctx), eventlog.ErrConcurrentWriter)
		require.Len(t, collect(t, s.Stream(t.Context(), "h/c", eventlog.StreamOptions{})), 2)
	}
}

// A stream is the same whether its appends are held or not: also one that is too long to be remembered, or whose end is
// not known.
func TestHoldChangesNothing(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	n := 0
	sharedtest.CheckFew(t, 12, func(t *rapid.T) {
		n++
		plain, held := fmt.Sprintf("plain/%d", n), fmt.Sprintf("held/%d", n)
		s := eventlog.New(conn, eventlog.Options{})
		known := rapid.IntRange(0, 4).Draw(t, "known") > 0
		large := strings.Repeat("x", rapid.SampledFrom([]int{1, 1, 1, 900_000}).Draw(t, "size"))
		for range rapid.IntRange(1, 3).Draw(t, "turns") {
			ctx := eventlog.WithHead(t.Context(), held, schema.StreamHead{Known: known, Seq: s.Head(held).Seq})
			holding, h := s.Hold(ctx, held)
			for range rapid.IntRange(0, 4).Draw(t, "appends") {
				from := rapid.IntRange(0, 6).Draw(t, "from")
				var some []schema.Event
				for i := range rapid.IntRange(1, 3).Draw(t, "events") {
					some = append(some, event(fmt.Sprint(from+i), large))
				}
				appendTo(holding, t, s, held, some)
				appendTo(t.Context(), t, s, plain, some)
				require.Equal(t, payloads(t.Context(), t, s, plain), payloads(holding, t, s, held))
			}
			require.NoError(t, h.Store(ctx))
			require.Equal(t, payloads(t.Context(), t, s, plain), payloads(t.Context(), t, s, held))
		}
	})
}

// appendTo appends the events, under keys of the stream's own.
func appendTo(ctx context.Context, t *rapid.T, s *eventlog.Store, stream string, some []schema.Event) {
	own := make([]schema.Event, len(some))
	for i, e := range some {
		e.DedupeKey = stream + "/" + e.DedupeKey
		own[i] = e
	}
	_, err := s.AppendAll(ctx, stream, own)
	require.NoError(t, err)
}

// payloads are the stream's positions and keys, without its name.
func payloads(ctx context.Context, t *rapid.T, s *eventlog.Store, stream string) (out []string) {
	for e, err := range s.Stream(ctx, stream, eventlog.StreamOptions{}) {
		require.NoError(t, err)
		out = append(out, fmt.Sprint(e.Seq, " ", strings.TrimPrefix(e.DedupeKey, stream), " ", e.Checksum))
	}
	return out
}
