package runner

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/worker/service"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// TestCatchUp checks that events that a killed worker has projected without saving the offset, or has not projected, do
// not stay a backlog for good.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	embedder, err := llm.NewEmbedder(t.Context(), llm.EmbedderConfig{Provider: "hash"})
	require.NoError(t, err)
	stores := &service.Stores{ClickHouse: conn, Log: projection.New(conn, eventlog.Options{}), Embedder: embedder}
	logger := slog.New(slog.DiscardHandler)
	require.Empty(t, checkProjections(t.Context(), stores, logger))

	key := schema.SessionKey{Scope: schema.Scope{Project: "p/'긴'", User: "u"}, SessionID: "s"}
	started, err := schema.OpenedBuild{BuildID: "b", Ordinal: 1, SessionKey: key}.Started(schema.Source{}).Event(time.Now())
	require.NoError(t, err)
	killed := projection.New(conn, eventlog.Options{})
	appended, err := killed.Append(t.Context(), key.Stream(), []schema.Event{started})
	require.NoError(t, err)
	builds := build.NewProjector(conn)
	require.NoError(t, builds.Apply(t.Context(), appended.Events))

	behind := checkProjections(t.Context(), stores, logger)
	require.Len(t, behind, 1)
	require.Equal(t, builds.Name(), behind[0].Name())
	woken := 0
	wake := func(context.Context) error { woken++; return nil }
	catchUp(t.Context(), stores.Log, behind, wake, logger)
	require.Equal(t, 1, woken)
	require.Empty(t, checkProjections(t.Context(), stores, logger))
	catchUp(t.Context(), stores.Log, nil, wake, logger)
	require.Equal(t, 1, woken)
	runs, err := build.List(t.Context(), conn, build.Filter{All: true, Limit: 10})
	require.NoError(t, err)
	require.Len(t, runs, 1)
}
