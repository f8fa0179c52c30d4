package exchange_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/exchange"
)

// backup is an export of a user with two events in the memory, a session, and an answer of a model about the session.
func backup(t *testing.T) (dir string, key schema.SessionKey, model string) {
	t.Helper()
	c := commandtest.NewRemembered(t)
	key, model = schema.SessionKey{Scope: schema.Scope{Project: "p", User: "ann"}, SessionID: "s1"}, schema.ModelStream("m1")
	put(t, c.Log, schema.MemoryStream("ann", ""), "one", schema.FactsClearedPayload{Facts: 1})
	put(t, c.Log, schema.MemoryStream("ann", ""), "two", schema.FactsClearedPayload{Facts: 2})
	put(t, c.Log, key.Stream(), "started", schema.BuildStartedPayload{})
	put(t, c.Log, model, "answer", schema.ModelRespondedPayload{})
	dir = filepath.Join(t.TempDir(), "backup")
	o := c.Run("export", dir, "--all", "--format", "jsonl")
	require.Zero(t, o.Code, o)
	return dir, key, model
}

func put(t *testing.T, log *projection.Store, stream, key string, payload any) {
	t.Helper()
	e := schema.Event{TS: time.Now(), Actor: "ann", DedupeKey: key}
	if !strings.HasPrefix(stream, schema.MemoryPrefix) {
		e.Project, e.SessionID = "p", "s1"
	}
	e, err := schema.NewEvent(payload, e)
	require.NoError(t, err)
	_, err = log.Append(t.Context(), stream, []schema.Event{e})
	require.NoError(t, err)
}

func idsOf(t *testing.T, log *projection.Store) (keys []string) {
	t.Helper()
	for e, err := range log.Replay(t.Context(), eventlog.ReplayOptions{}) {
		require.NoError(t, err)
		if e.Stream != schema.AuditStream() {
			keys = append(keys, e.DedupeKey)
		}
	}
	return keys
}

// Another writer that appends after the comparison makes an import store nothing in that stream.
func TestImportBesideAnotherWriter(t *testing.T) {
	t.Parallel()
	dir, _, _ := backup(t)
	to := commandtest.NewRemembered(t)
	path := filepath.Join(dir, "events.jsonl")
	log := projection.New(to.Conn, eventlog.Options{})
	_, _, err := exchange.Import(t.Context(), log, path, func() {
		put(t, to.Log, schema.MemoryStream("ann", ""), "other", schema.FactsClearedPayload{Facts: 3})
	})
	require.ErrorIs(t, err, eventlog.ErrConcurrentWriter)
	require.Equal(t, []string{"other"}, idsOf(t, log))
}

// An import leaves out events at erased positions, and those of erased sessions with the answers about them. It imports
// the rest.
func TestImportAfterForgetting(t *testing.T) {
	t.Parallel()
	dir, key, model := backup(t)
	path := filepath.Join(dir, "events.jsonl")
	erased := commandtest.NewRemembered(t)
	put(t, erased.Log, schema.MemoryStream("ann", ""), schema.EventErasedKey("e1", schema.MemoryStream("ann", ""), 1), schema.EventErasedPayload{})
	log := projection.New(erased.Conn, eventlog.Options{})
	n, streams, err := exchange.Import(t.Context(), log, path, func() {})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []string{schema.MemoryStream("ann", "")}, streams)
	require.Equal(t, []string{"two", "answer", "started"}, idsOf(t, log))

	session := commandtest.NewRemembered(t)
	scope := schema.ErasureScope{Project: key.Project, User: key.User, SessionID: key.SessionID}
	put(t, session.Log, schema.AuditStream(), "begun", schema.ErasureBegunPayload{ErasureID: "e1", Kind: scope.Kind(), By: "ann", Salt: "x", Scope: scope.Hash("x")})
	log = projection.New(session.Conn, eventlog.Options{})
	n, streams, err = exchange.Import(t.Context(), log, path, func() {})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.ElementsMatch(t, []string{key.Stream(), model}, streams)
	require.Equal(t, []string{"one", "two"}, idsOf(t, log))
}

// An export fails while an erasure is at work on one of its streams, and leaves nothing behind.
func TestExportDuringAnErasure(t *testing.T) {
	t.Parallel()
	c := commandtest.NewRemembered(t)
	stream := schema.MemoryStream("ann", "")
	put(t, c.Log, stream, "one", schema.FactsClearedPayload{Facts: 1})
	put(t, c.Log, schema.AuditStream(), "begun", schema.ErasureBegunPayload{ErasureID: "e1", Kind: schema.EraseQuery, By: "ann", Salt: "x"})
	put(t, c.Log, schema.AuditStream(), "locked", schema.ErasureLockedPayload{ErasureID: "e1", Streams: []string{eventlog.StreamHash("x", stream)}})
	for _, form := range []string{"jsonl", "okf"} {
		dir := filepath.Join(t.TempDir(), "backup")
		o := c.Run("export", dir, "--all", "--format", form)
		require.NotZero(t, o.Code, o)
		require.Contains(t, o.Err, "is at work on the stream")
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
