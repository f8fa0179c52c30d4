package vector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// tb has the common methods of tests and property tests.
type tb interface {
	require.TestingT
	Helper()
	Context() context.Context
}

// turns runs a whole rebuild, a page at a time, and calls between after each turn.
func (b *bench) turns(t tb, w *Writer, in RebuildInput, between func(Rebuilding)) RebuildResult {
	t.Helper()
	w.opts.Turn = time.Nanosecond
	in.Collection = w.Collection()
	state := Rebuilding{RebuildInput: in}
	for n := 0; !state.Done(); n++ {
		require.Less(t, n, 1000, "it comes to an end: %+v", state)
		var err error
		state, err = w.Rebuild(t.Context(), state)
		require.NoError(t, err)
		if between != nil {
			between(state)
		}
	}
	return state.Result
}

func (b *bench) rebuild(t tb, in RebuildInput) RebuildResult {
	t.Helper()
	return b.turns(t, b.writer, in, nil)
}

func (b *bench) class(t tb) string {
	t.Helper()
	class, err := b.client.class(t.Context(), b.writer.Collection())
	require.NoError(t, err)
	return class
}

func (b *bench) classes(t tb) (names []string) {
	t.Helper()
	made, err := b.client.generations(t.Context(), b.writer.Collection())
	require.NoError(t, err)
	for _, class := range made {
		names = append(names, class.Class)
	}
	return names
}

func (b *bench) search(t testing.TB, project, text string) []string {
	t.Helper()
	vectors, err := b.embedder.Embed(t.Context(), []string{text})
	require.NoError(t, err)
	found, err := b.client.Hybrid(t.Context(), HybridQuery{
		Collection: b.writer.Collection(), Project: project, Filter: Filter{Kinds: []string{schema.ItemEntry}, User: "ann"}, Text: text,
		Vector: vectors[0], Alpha: 0.5, Limit: 100,
	})
	require.NoError(t, err)
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.ItemID
	}
	return ids
}

func (b *bench) events(t testing.TB) (n int) {
	t.Helper()
	for _, err := range b.log.Stream(t.Context(), b.writer.stream(), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		n++
	}
	return n
}

// requireWhole checks that the collection matches the log, by the hash of all stored properties.
func (b *bench) requireWhole(t tb) {
	t.Helper()
	r := &rebuild{Writer: b.writer, Rebuilding: &Rebuilding{New: b.class(t)}, tenants: map[string]bool{}}
	wanted, err := b.writer.outbox.digests(t.Context(), "", 1000)
	require.NoError(t, err)
	for _, want := range wanted {
		got, err := r.digest(t.Context(), want.Project)
		require.NoError(t, err)
		require.Equal(t, want.digest, got, "project %q", want.Project)
	}
	report, err := b.writer.Reconcile(t.Context())
	require.NoError(t, err)
	require.Zero(t, report.Repaired())
	require.Zero(t, report.Extra)
	require.Empty(t, report.UnknownTenants)
}

// A rebuild creates the next generation with the vectors of the previous one, and embeds nothing.
func TestRebuildCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", append([]string{"the quick fox"}, awkward...)...)
	b.add(t, "프로젝트 \"/..\\", "blue", "green")
	b.index(t, 100)
	first := schema.VectorGeneration(b.writer.Collection(), 1)
	require.Equal(t, first, b.class(t))
	before, texts, events := b.search(t, "red", "fox"), b.embedder.texts, b.events(t)

	steps := map[string]bool{}
	result := b.turns(t, b.writer, RebuildInput{Verify: true}, func(s Rebuilding) {
		steps[s.Step] = true
		if s.Step == stepDrop {
			require.Equal(t, schema.Timing{}.WithDefaults().Vectors, s.Wait)
			require.Contains(t, b.classes(t), first, "who has begun to read it may go on")
		}
		require.NotContains(t, s.Title(), "\n")
	})
	n := len(b.rows(t))
	require.Equal(t, RebuildResult{Collection: b.writer.Collection(), Items: n, Copied: n, Switched: true}, result)
	require.Len(t, steps, 4)
	require.Equal(t, texts, b.embedder.texts, "nothing is embedded")
	require.Equal(t, events, b.events(t), "nothing is recorded again")
	require.Equal(t, []string{schema.VectorGeneration(b.writer.Collection(), 2)}, b.classes(t))
	require.Equal(t, b.classes(t)[0], b.class(t))
	require.Equal(t, before, b.search(t, "red", "fox"))
	b.requireWhole(t)

	b.add(t, "red", "after it")
	require.Equal(t, Result{Indexed: 1}, b.index(t, 10))
	b.requireWhole(t)
	require.Equal(t, n+1, b.rebuild(t, RebuildInput{}).Copied)
	b.requireWhole(t)
}

// Verify finds objects that are missing from the collection in use, have other content, or are unknown to the log. A
// dry run changes nothing, and a rebuild repairs all of it.
func TestRebuildVerifies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "a", "b", "c", "d", "e", "f")
	b.index(t, 100)
	ctx, collection := t.Context(), b.writer.Collection()
	require.NoError(t, b.client.remove(ctx, collection, "red", b.writer.objectOf(entries[0].ID)))
	vectors, err := b.embedder.Embed(ctx, []string{"x"})
	require.NoError(t, err)
	changed, lying, stray := EntryItem(entries[1]), EntryItem(entries[2]).object(b.embedder.version, vectors[0]), EntryItem(entries[3])
	changed.Title, stray.ID = "not b", "stray"
	lying.Properties[schema.PropertyTitle] = "not c, but the hash of c"
	results, err := b.client.Put(ctx, collection, "red", []Object{
		changed.object(b.embedder.version, vectors[0]), lying, stray.object(b.embedder.version, vectors[0]),
	})
	require.NoError(t, errors.Join(append(results, err)...))
	require.NoError(t, b.client.EnsureTenant(ctx, collection, "nobody"))
	_, err = b.client.Put(ctx, collection, "nobody", []Object{stray.object(b.embedder.version, vectors[0])})
	require.NoError(t, err)

	want := RebuildResult{
		Collection: collection, Items: 6, Copied: 3, Embedded: 3, Missing: 1, Changed: 2, Extra: 2,
		Examples: []string{
			fmt.Sprintf("missing: entry %q of project \"red\"", entries[0].ID),
			fmt.Sprintf("other content: entry %q of project \"red\"", entries[1].ID),
			fmt.Sprintf("other content: entry %q of project \"red\"", entries[2].ID),
			fmt.Sprintf("not in the log: object %q of project \"red\"", b.writer.objectOf("stray")),
			`not in the log: 1 objects of the tenant "nobody"`,
		},
	}
	events, class := b.events(t), b.class(t)
	dry := b.rebuild(t, RebuildInput{Verify: true, DryRun: true})
	require.ElementsMatch(t, want.Examples, dry.Examples)
	dry.Examples = want.Examples
	require.Equal(t, want, dry)
	require.Equal(t, 5, want.Differences())
	require.Equal(t, []string{class}, b.classes(t))
	require.Equal(t, class, b.class(t))
	require.Equal(t, events, b.events(t))

	result := b.rebuild(t, RebuildInput{Verify: true})
	result.Examples, want.Switched = want.Examples, true
	require.Equal(t, want, result)
	require.Equal(t, events, b.events(t), "the log said all along what should be there")
	b.requireWhole(t)
	require.Zero(t, b.rebuild(t, RebuildInput{Verify: true}).Differences())
}

func (w *Writer) objectOf(entryID string) string {
	return schema.VectorItem{Kind: schema.ItemEntry, ID: entryID, EmbeddingVersion: w.embedder.Version()}.ObjectID()
}

// The rebuild embeds outdated items once, writes them to both collections, and records them. Pending and failed items
// are left to the outbox, so that a rebuild does not wait for an embedder with a long backlog.
func TestRebuildLeavesWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.embedder.refuse = "poison"
	entries := b.add(t, "red", "a", "b", "poison c")
	require.Equal(t, Result{Indexed: 2, Failed: 1}, b.index(t, 100))
	entries[0].Title = "a, and more"
	b.materializeAs(t, "s-red", entries[0], "entry/again")
	waiting := b.add(t, "blue", "new")[0].ID
	before := b.statuses(t)

	want := RebuildResult{Collection: b.writer.Collection(), Items: 2, Copied: 1, Embedded: 1, Pending: 1, Failed: 1, Examples: []string{
		`failed: entry "` + entries[2].ID + `" of project "red": a text of the batch is not allowed`,
	}}
	dry := b.rebuild(t, RebuildInput{DryRun: true})
	require.Equal(t, want, dry)
	require.Equal(t, before, b.statuses(t))

	texts := b.embedder.texts
	want.Switched = true
	require.Equal(t, want, b.rebuild(t, RebuildInput{}))
	require.Equal(t, 1, b.embedder.texts-texts)
	require.Equal(t, before, b.statuses(t))
	require.Equal(t, schema.OutboxPending, rowOf(t, b, waiting).Status)
	require.Equal(t, 1, rowOf(t, b, entries[2].ID).Attempts)

	require.Equal(t, Result{Indexed: 1}, b.index(t, 10))
	b.embedder.refuse = ""
	require.Equal(t, 1, b.reconcile(t).Failed)
	require.Equal(t, Result{Indexed: 1}, b.index(t, 10))
	b.requireWhole(t)
}

// An object whose row is pending keeps its vector if the text is the same, so that searches still find it after a
// switch.
func TestRebuildKeepsVectorsOfStaleObjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "a", "b")
	require.Equal(t, Result{Indexed: 2}, b.index(t, 100))
	row := rowOf(t, b, entries[0].ID)
	require.NoError(t, b.writer.recordDrift(t.Context(), []drift{{row, schema.DriftStale}}))
	object := b.writer.objectOf(entries[0].ID)
	stale := storedOf(t, b, object).item("red")
	stale.Agent = "another"
	_, err := b.client.Put(t.Context(), b.writer.Collection(), "red", []Object{stale.object(b.embedder.version, storedOf(t, b, object).Additional.Vector)})
	require.NoError(t, err)

	texts := b.embedder.texts
	require.Equal(t, RebuildResult{Collection: b.writer.Collection(), Items: 2, Copied: 2, Switched: true}, b.rebuild(t, RebuildInput{}))
	require.Zero(t, b.embedder.texts-texts)
	require.Equal(t, EntryItem(entries[0]).ContentHash(), storedOf(t, b, object).hash("red"))
	require.Equal(t, schema.OutboxDone, rowOf(t, b, entries[0].ID).Status)
	b.requireWhole(t)
}

func storedOf(t *testing.T, b *bench, id string) storedItem {
	t.Helper()
	found, err := b.client.fetch(t.Context(), b.writer.Collection(), "red", []string{id})
	require.NoError(t, err)
	return found[id]
}

// A class that an earlier rebuild left may contain a project that was erased since.
func TestRebuildDropsUnknownProjects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a")
	require.Equal(t, Result{Indexed: 1}, b.index(t, 100))
	left := schema.VectorGeneration(b.writer.Collection(), generation(b.class(t))+1)
	require.NoError(t, b.client.ensureClass(t.Context(), schema.EntryClass(left)))
	require.NoError(t, b.client.EnsureTenant(t.Context(), left, "erased"))
	b.rebuild(t, RebuildInput{})
	require.Equal(t, left, b.class(t))
	tenants, err := b.client.Tenants(t.Context(), left)
	require.NoError(t, err)
	require.Equal(t, []string{schema.VectorTenant("red")}, tenants)
}

// While the embedder is unavailable, the rebuild fails, and no row is marked as failed.
func TestRebuildInAnOutage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "a", "b", "c")
	b.index(t, 100)
	require.NoError(t, b.client.remove(t.Context(), b.writer.Collection(), "red", b.writer.objectOf(entries[1].ID)))
	b.embedder.fail = context.DeadlineExceeded
	state := Rebuilding{RebuildInput: RebuildInput{Collection: b.writer.Collection()}}
	_, err := b.writer.Rebuild(t.Context(), state)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	for id, status := range b.statuses(t) {
		require.Equal(t, schema.OutboxDone, status, id)
	}
	b.embedder.fail = nil
	result := b.rebuild(t, RebuildInput{})
	require.Equal(t, 3, result.Items)
	require.Equal(t, 1, result.Embedded)
	b.requireWhole(t)
}

// A rebuild replaces a collection from before there were generations, and keeps its objects.
func TestRebuildTakesOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.NoError(t, b.client.writer.CreateClass(t.Context(), schema.EntryClass(b.writer.Collection())))
	b.add(t, "red", "a", "b", "c")
	require.Equal(t, Result{Indexed: 3}, b.index(t, 10))
	require.Equal(t, b.writer.Collection(), b.class(t), "it stays in use")
	require.Len(t, b.search(t, "red", "a"), 3)
	b.requireWhole(t)

	result := b.rebuild(t, RebuildInput{Verify: true})
	require.Equal(t, RebuildResult{Collection: b.writer.Collection(), Items: 3, Copied: 3, Switched: true}, result)
	require.Equal(t, schema.VectorGeneration(b.writer.Collection(), 1), b.class(t))
	require.Len(t, b.search(t, "red", "a"), 3)
	b.requireWhole(t)

	// After a stop between the deletion of the plain class and the creation of the alias, the new class is found.
	require.NoError(t, b.client.request(t.Context(), "test", http.MethodDelete, "/aliases/"+b.writer.Collection(), nil, nil))
	again, err := b.client.EnsureCollection(t.Context(), b.writer.Collection())
	require.NoError(t, err)
	require.Equal(t, schema.VectorGeneration(b.writer.Collection(), 1), again)
	b.requireWhole(t)
}

// A collection with other settings can't be written. A rebuild replaces it with one that has ours.
func TestRebuildMendsSettings(t *testing.T) {
	t.Parallel()
	for name, class := range map[string]map[string]any{
		"no tenants":    {"vectorizer": "none"},
		"no properties": {"vectorizer": "none", "vectorIndexType": "flat", "multiTenancyConfig": map[string]any{"enabled": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.add(t, "red", "a", "b")
			class["class"] = b.writer.Collection()
			require.NoError(t, b.client.request(t.Context(), "test", http.MethodPost, "/schema", class, nil))
			_, err := b.writer.IndexPending(t.Context(), 10)
			require.ErrorIs(t, err, ErrCollection)
			require.ErrorContains(t, err, "rebuild vectors")
			require.Equal(t, RebuildResult{Collection: b.writer.Collection(), Pending: 2, Switched: true}, b.rebuild(t, RebuildInput{}))
			require.Equal(t, Result{Indexed: 2}, b.index(t, 10))
			b.requireWhole(t)
		})
	}
}

// Weaviate keeps the alias when its class is deleted. The class is created again under it.
func TestDeletedClassComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a", "b")
	b.index(t, 10)
	require.NoError(t, b.client.deleteClass(t.Context(), b.class(t)))
	require.Empty(t, b.search(t, "red", "a"))
	b.add(t, "red", "c")
	require.Equal(t, Result{Indexed: 1}, b.index(t, 10))
	require.Equal(t, 2, b.reconcile(t).Missing)
	require.Equal(t, Result{Indexed: 2}, b.index(t, 10))
	b.requireWhole(t)

	require.NoError(t, b.client.deleteClass(t.Context(), b.class(t)))
	texts := b.embedder.texts
	result := b.rebuild(t, RebuildInput{Verify: true})
	require.Equal(t, 3, result.Missing)
	require.Equal(t, 3, result.Embedded)
	require.Equal(t, texts+3, b.embedder.texts)
	b.requireWhole(t)
}

// A rebuild continues with the class that an earlier one left, unless the settings have changed. It repairs wrong
// objects in it.
func TestRebuildGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entries := b.add(t, "red", "a", "b", "c", "d", "e", "f", "g", "h", "i")
	b.index(t, 100)
	b.writer.opts.Turn = time.Nanosecond
	state, err := b.writer.Rebuild(t.Context(), Rebuilding{RebuildInput: RebuildInput{Collection: b.writer.Collection()}})
	require.NoError(t, err)
	require.Equal(t, 4, state.Result.Copied)
	vectors, err := b.embedder.Embed(t.Context(), []string{"x"})
	require.NoError(t, err)
	stray := EntryItem(entries[0])
	stray.ID = "stray"
	lying := EntryItem(entries[8]).object(b.embedder.version, vectors[0])
	lying.Properties[schema.PropertyTitle] = "not i, but the hash of i"
	_, err = b.client.Put(t.Context(), state.New, "red", []Object{stray.object(b.embedder.version, vectors[0]), lying})
	require.NoError(t, err)

	result := b.rebuild(t, RebuildInput{})
	require.GreaterOrEqual(t, result.Kept, 4)
	require.Equal(t, 9, result.Items)
	require.Equal(t, state.New, b.class(t))
	b.requireWhole(t)

	other := schema.EntryClass(schema.VectorGeneration(b.writer.Collection(), 7))
	other.Description = "made by another release"
	require.NoError(t, b.client.ensureClass(t.Context(), other))
	require.Equal(t, 9, b.rebuild(t, RebuildInput{}).Copied)
	require.Equal(t, schema.VectorGeneration(b.writer.Collection(), 8), b.class(t))
	b.requireWhole(t)
}

// If the new class is deleted meanwhile, it is created again. If the collection is switched to another class, the
// rebuild fails.
func TestRebuildMeetsOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.add(t, "red", "a", "b", "c", "d", "e", "f")
	b.index(t, 100)
	deleted := false
	result := b.turns(t, b.writer, RebuildInput{}, func(s Rebuilding) {
		if !deleted {
			deleted = true
			require.NoError(t, b.client.deleteClass(t.Context(), s.New))
		}
	})
	require.Equal(t, 6, result.Items)
	b.requireWhole(t)

	state, err := b.writer.Rebuild(t.Context(), Rebuilding{RebuildInput: RebuildInput{Collection: b.writer.Collection()}})
	require.NoError(t, err)
	other := schema.VectorGeneration(b.writer.Collection(), 9)
	require.NoError(t, b.client.ensureClass(t.Context(), schema.EntryClass(other)))
	require.NoError(t, b.client.Point(t.Context(), b.writer.Collection(), other))
	_, err = b.writer.Rebuild(t.Context(), state)
	require.ErrorIs(t, err, ErrCollectionChanged)
	require.Error(t, b.client.Point(t.Context(), b.writer.Collection(), other+"0"), "it does not exist")
}

// hostileVersions are names of embedding versions.
var hostileVersions = []string{"g1", "_g1", "a_g2", `"}){x}/../`, "한국어 v2", strings.Repeat("long_g1/", 60), "\x00\x7f"}

func TestRebuildOfAnyVersion(t *testing.T) {
	t.Parallel()
	rebuildOfVersions(t, stacktest.Sample(t, 2, hostileVersions))
}

// Any name of an embedding version gives a collection that can be rebuilt.
func rebuildOfVersions(t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		b := newBench(t)
		b.embedder.version = name + version(t)
		b.projector = NewOutboxProjector(b.conn, b.embedder.version)
		b.writer = b.newWriter(t, b.log)
		b.add(t, "red", "a", "b")
		require.Equal(t, Result{Indexed: 2}, b.index(t, 10), "%q", name)
		require.Equal(t, 2, b.rebuild(t, RebuildInput{Verify: true}).Copied, "%q", name)
		b.requireWhole(t)
		require.NoError(t, b.client.DeleteCollection(t.Context(), b.writer.Collection()))
		require.Empty(t, b.classes(t))
		require.Equal(t, b.writer.Collection(), b.class(t), "the name is gone, too")
	}
}
