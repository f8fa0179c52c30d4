package vector

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/vector/store"
	"axiommind/schema"
)

// A tenant at rest is on the disk alone. A search and a write make it active again, and miss nothing.
func TestTenantsAtRest(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "p", Item{ID: "0", Title: "the quick fox"})
	s.put(t, "q", Item{ID: "0", Title: "the quick fox"})
	states := func() map[string]string {
		all, err := s.client.tenants(t.Context(), s.collection)
		require.NoError(t, err)
		out := map[string]string{}
		for _, one := range all {
			out[one.Name] = one.ActivityStatus
		}
		return out
	}
	idle := map[string]bool{schema.VectorTenant("p"): true, "none": true}
	for range 2 {
		_, err := s.client.rest(t.Context(), s.collection, idle, statuses[IdleInactive])
		require.NoError(t, err)
		require.Equal(t, map[string]string{"p": "COLD", "q": "HOT"}, states())
	}
	found, err := s.find(t.Context(), "p", "fox", 0.5, Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"0"}, found)
	require.Equal(t, "HOT", states()["p"])

	n, err := s.client.rest(t.Context(), s.collection, idle, statuses[IdleInactive])
	require.NoError(t, err)
	require.Equal(t, 1, n)
	s.put(t, "p", Item{ID: "1", Title: "a lazy dog"})
	count, err := s.client.Count(t.Context(), s.collection, "p")
	require.NoError(t, err)
	require.Equal(t, 2, count)
	// This server has no bucket.
	_, err = s.client.rest(t.Context(), s.collection, idle, statuses[IdleOffloaded])
	require.ErrorContains(t, err, "offload")
}

// The replication factor is that of the settings, and the server has to have as many nodes. Each tenant is a shard: the server takes
// no number of them.
func TestReplicas(t *testing.T) {
	t.Parallel()
	c, collection := newClient(t), schema.VectorCollection(version(t))
	t.Cleanup(func() { _ = c.DeleteCollection(context.Background(), collection) })
	require.Nil(t, c.entryClass("Entry_a").ReplicationConfig)
	c.replicas = 2
	_, err := c.EnsureCollection(t.Context(), collection)
	require.ErrorContains(t, err, "1 available, 2 requested")
	require.Equal(t, schema.EntryClass("Entry_a").Description, c.entryClass("Entry_a").Description, "it is the same collection")

	err = c.request(t.Context(), "test", http.MethodPost, "/schema", map[string]any{
		"class": collection, "vectorizer": "none", "multiTenancyConfig": map[string]any{"enabled": true}, "shardingConfig": map[string]any{"desiredCount": 2},
	}, nil)
	require.ErrorContains(t, err, "shardingConfig")
}

// A project is idle if the log has no event of it in the time.
func TestIdleProjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	x := NewIndexes(b.conn, b.log, b.client, struct{ client.Client }{}, b.embedder, nil, Options{})
	x.keep(Choice{Used: b.embedder.version, Chosen: b.embedder.version})
	x.read = time.Now().Add(time.Hour)
	_, err := b.client.EnsureCollection(t.Context(), b.writer.Collection())
	require.NoError(t, err)
	for project, age := range map[string]time.Duration{"old": 48 * time.Hour, "new": 0} {
		require.NoError(t, b.client.EnsureTenant(t.Context(), b.writer.Collection(), project))
		require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO events_raw (event_id, stream, seq, project, recorded_at) SELECT ?, ?, 1, ?, ?`,
			project, "project/"+project, project, time.Now().Add(-age)))
	}
	// Another collection, which comes before, is busy. It holds up no other one.
	other := schema.VectorCollection(schema.Indexes(b.embedder.version)[0])
	if other == b.writer.Collection() {
		other = schema.VectorCollection(schema.Indexes(b.embedder.version)[1])
	}
	_, err = b.client.EnsureCollection(t.Context(), other)
	require.NoError(t, err)
	require.NoError(t, b.client.EnsureTenant(t.Context(), other, "old"))
	class, err := b.client.class(t.Context(), other)
	require.NoError(t, err)
	server := b.client.writer
	b.client.writer = &busy{Writer: server, fails: func(c string, _ []string) bool { return c == class }}
	n, err := x.Rest(t.Context(), 24*time.Hour, IdleInactive)
	require.ErrorIs(t, err, errBusy)
	require.Equal(t, 1, n)
	all, err := b.client.tenants(t.Context(), b.writer.Collection())
	require.NoError(t, err)
	require.ElementsMatch(t, []tenant{{"old", "COLD"}, {"new", "HOT"}}, all)
}

// Weaviate changes at most 100 tenants by one request. A request that fails holds up only its own tenants.
func TestManyIdle(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	class, err := s.client.class(t.Context(), s.collection)
	require.NoError(t, err)
	idle, names := map[string]bool{}, []map[string]string{}
	for i := range tenantsAtOnce + 1 {
		idle[strconv.Itoa(i)] = true
		names = append(names, map[string]string{"name": strconv.Itoa(i)})
	}
	for chunk := range slices.Chunk(names, tenantsAtOnce) {
		require.NoError(t, s.client.request(t.Context(), "make tenants", http.MethodPost, classPath(class)+"/tenants", chunk, nil))
	}
	server := s.client.writer
	s.client.writer = &busy{Writer: server, fails: func(_ string, tenants []string) bool { return len(tenants) < tenantsAtOnce }}
	n, err := s.client.rest(t.Context(), s.collection, idle, statuses[IdleInactive])
	require.ErrorIs(t, err, errBusy)
	require.Equal(t, tenantsAtOnce, n)
	s.client.writer = server
	n, err = s.client.rest(t.Context(), s.collection, idle, statuses[IdleInactive])
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// busy is a server that refuses some changes of tenants.
type busy struct {
	store.Writer
	fails func(class string, tenants []string) bool
}

var errBusy = errors.New("tenant is busy")

func (b *busy) SetTenants(ctx context.Context, class string, tenants []string, status string) error {
	if b.fails(class, tenants) {
		return errBusy
	}
	return b.Writer.SetTenants(ctx, class, tenants, status)
}
