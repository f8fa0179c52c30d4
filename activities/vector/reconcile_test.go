package vector

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/schema"
)

func (b *bench) reconcile(t *testing.T) Report {
	t.Helper()
	report, err := b.writer.Reconcile(t.Context())
	require.NoError(t, err)
	return report
}

// lost returns the projects whose vectors are not there, and the number of projects.
func (b *bench) lost(t *testing.T) ([]string, int) {
	t.Helper()
	version, _ := schema.SplitIndex(b.writer.version)
	x := NewIndexes(b.conn, b.log, b.client, struct{ client.Client }{}, b.embedder, nil, Options{})
	lost, projects, err := x.Lost(t.Context(), version)
	require.NoError(t, err)
	return lost, projects
}

func TestDeletedCollectionLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	b.add(t, "blue", "k")
	b.index(t, 100)
	lost, projects := b.lost(t)
	require.Empty(t, lost)
	require.Equal(t, 2, projects)
	require.NoError(t, b.client.DeleteCollection(t.Context(), b.writer.Collection()))
	lost, projects = b.lost(t)
	require.Equal(t, []string{"red", "blue"}, lost)
	require.Equal(t, 2, projects)

	report := b.reconcile(t)
	require.Equal(t, 11, report.Missing)
	require.Equal(t, 11, report.Repaired())
	require.Equal(t, 11, report.Outbox.Pending)
	require.Equal(t, Result{Indexed: 11}, b.index(t, 100))
	require.Equal(t, 10, b.count(t, "red"))
	require.Equal(t, 1, b.count(t, "blue"))
	require.Zero(t, b.reconcile(t).Repaired())

	// A tenant that is there and empty, as its objects are gone, is lost too.
	lost, _ = b.lost(t)
	require.Empty(t, lost)
	require.NoError(t, b.client.deleteTenants(t.Context(), b.writer.Collection(), []string{schema.VectorTenant("blue")}))
	require.NoError(t, b.client.EnsureTenant(t.Context(), b.writer.Collection(), "blue"))
	lost, _ = b.lost(t)
	require.Equal(t, []string{"blue"}, lost)
}

func TestReconcileRepairsDrift(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "a", "b", "c", "d", "e")
	b.index(t, 100)
	ctx, collection := t.Context(), b.writer.Collection()

	object := func(id string) string {
		return schema.VectorItem{Kind: schema.ItemEntry, ID: id, EmbeddingVersion: b.embedder.version}.ObjectID()
	}
	require.NoError(t, b.client.remove(ctx, collection, "red", object(entries[0].ID)))
	changed := EntryItem(entries[1])
	changed.Title = "not b"
	stray := EntryItem(entries[2])
	stray.ID = "stray"
	vectors, err := b.embedder.Embed(ctx, []string{"x"})
	require.NoError(t, err)
	other := changed.object(b.embedder.version, vectors[0])
	extra := stray.object(b.embedder.version, vectors[0])
	results, err := b.client.Put(ctx, collection, "red", []Object{other, extra})
	require.NoError(t, err)
	require.Equal(t, []error{nil, nil}, results)
	require.NoError(t, b.client.EnsureTenant(ctx, collection, "nobody"))

	report := b.reconcile(t)
	require.Equal(t, Report{
		Checked: 5, Missing: 1, Changed: 1, Extra: 1, ExtraIDs: []string{extra.ID},
		UnknownTenants: []string{"nobody"}, Outbox: OutboxCounts{Pending: 2, Due: 2, Done: 3},
	}, report)
	require.Equal(t, schema.DriftMissing, rowOf(t, b, entries[0].ID).Error)
	require.Equal(t, Result{Indexed: 2}, b.index(t, 100))
	again := b.reconcile(t)
	require.Zero(t, again.Repaired())
	require.Equal(t, 1, again.Extra)
}

func TestReconcileFindsStaleAndNeverEnqueued(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "a", "b", "c")
	b.index(t, 100)

	// The entry has changed since it was indexed, like an entry that was redacted later.
	entries[0].Title = "a, and more"
	b.now = b.now.Add(time.Hour)
	fresh := entries[0]
	fresh.CanonicalKey = "again"
	b.materializeAs(t, "s-red", fresh, "entry/again")
	require.Equal(t, schema.OutboxDone, b.statuses(t)[fresh.ID], "a new request hides nothing")
	require.NoError(t, b.conn.Exec(t.Context(), "DELETE FROM vector_outbox_raw WHERE item_id = ?", entries[2].ID))

	report := b.reconcile(t)
	require.Equal(t, 1, report.Stale)
	require.Equal(t, 1, report.NotEnqueued)
	require.Equal(t, Result{Indexed: 2}, b.index(t, 100))
	require.Zero(t, b.reconcile(t).Repaired())
}
