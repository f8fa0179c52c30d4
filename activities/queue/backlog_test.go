package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// The backlog adds up the queues: of each the contexts after the position that its last end has, and after the end of their session.
func TestBacklog(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	at := time.Unix(1_000_000, 0).UTC()
	log := projection.New(conn, eventlog.Options{Now: func() time.Time { return at }})
	event := func(session, key string, payload any) schema.Event {
		e, err := schema.NewEvent(payload, schema.Event{TS: at, Actor: "queue", Project: "p", SessionID: session, DedupeKey: key})
		require.NoError(t, err)
		return e
	}
	queued := func(session, id, refused string) schema.Event {
		return event(session, id, schema.ContextEnqueuedPayload{QueuedContext: schema.QueuedContext{ID: id}, Refused: refused})
	}
	ended := func(session, key string, to, since uint64) schema.Event {
		return event(session, key, schema.ContextProcessedPayload{To: to, Since: since})
	}
	store := func(user string, events ...schema.Event) {
		_, err := log.Append(t.Context(), schema.QueueStream(user, ""), events)
		require.NoError(t, err)
		at = at.Add(time.Minute)
	}
	read := func(pending int, oldest time.Time) {
		t.Helper()
		b, err := ReadBacklog(t.Context(), conn)
		require.NoError(t, err)
		b.Oldest = b.Oldest.UTC()
		require.Equal(t, Backlog{Pending: pending, Oldest: oldest}, b)
	}
	read(0, time.Time{})
	first := at
	store("u", queued("s", "1", ""), queued("other", "2", ""), ended("s", "e1", 1, 1))
	read(1, first)
	second := at
	store("u", queued("s", "3", ""), queued("s", "4", "full"), ended("other", "e2", 2, 3), queued("third", "5", ""))
	read(2, second)
	third := at
	store("v", queued("s", "v1", ""), queued("s", "v2", ""))
	read(4, second)
	store("u", ended("s", "e3", 5, 6), ended("third", "e4", 7, 9))
	read(2, third)
	// The position of the last end decides: the events before it are not read.
	store("v", ended("another", "ev", 0, 2))
	read(0, time.Time{})
}
