package fact_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// sections makes the entries of the batch summaries of sections of the profile, one after the other.
func sections(batch fact.Batch, names ...string) fact.Batch {
	for i, name := range names {
		batch.Entries[i].Section = name
		batch.Entries[i].OccurredAt = noon.Add(time.Duration(i) * time.Minute)
	}
	return batch
}

func (b *bench) profile(t *testing.T, user, agent string) []string {
	t.Helper()
	profile, err := b.tables.Profile(t.Context(), user, agent)
	require.NoError(t, err)
	var out []string
	for _, s := range profile {
		out = append(out, s.Name+": "+s.Summary)
	}
	return out
}

// A section has the last summary whose entry is believed, and is rebuilt from the log as it was (I3).
func TestProfileStandsAsItsEntries(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	user, agent := `ann/'"\`, "코더"
	batch := sections(batchOf(user, agent, "s1", "Builds compilers", "Builds 메모리 <b>", "Lives in \"Bonn\"\x01"), "work", "work", "personal")
	b.materialize(t, batch)
	done, err := b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, fact.Result{Events: 3, Entries: 3, Sections: 3, LastSeq: 3}, done)
	require.Equal(t, []string{"work: Builds 메모리 <b>", "personal: Lives in \"Bonn\"\x01"}, b.profile(t, user, agent))
	require.Empty(t, b.profile(t, "ann", agent), "I10")
	require.Empty(t, b.contents(t, user, agent))
	done, err = b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, fact.Result{Entries: 3}, done, "I1")

	b.graduate(t, noon.Add(time.Hour), schema.EntryRetiredPayload{
		Scope: batch.Entries[1].Scope, EntryID: batch.Entries[1].ID, Status: schema.StatusDeprecated, Because: "so", By: "ann",
	})
	require.Equal(t, []string{"work: Builds compilers", "personal: Lives in \"Bonn\"\x01"}, b.profile(t, user, agent))

	set := func(request, section, summary string) (fact.Result, error) {
		return b.writer.Do(t.Context(), fact.Command{
			User: user, Agent: agent, RequestID: request, Actor: "ann", At: noon.Add(time.Hour), Op: fact.OpSection, Section: section, Content: &summary,
		})
	}
	_, err = set("1", "work", "Rests")
	require.NoError(t, err)
	_, err = set("2", "personal", "")
	require.NoError(t, err)
	require.Equal(t, []string{"work: Rests"}, b.profile(t, user, agent))
	version, err := b.tables.Version(t.Context(), user, agent)
	require.NoError(t, err)
	require.Equal(t, uint64(5), version)

	before := b.rows(t, "profile_raw")
	_, err = stacktest.Rebuild(t.Context(), b.conn, fact.NewProjector(b.conn))
	require.NoError(t, err)
	require.Equal(t, before, b.rows(t, "profile_raw"))
}

// Facts that a person had forgotten stay forgotten, also if another build reads them from the log again. A session that
// is read for the first time since is remembered, however old.
func TestForgottenStaysForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	started := time.Now().UTC().Truncate(time.Microsecond)
	ingested := func(build string, at time.Time) string {
		stream := "session/red/" + build
		start, err := schema.NewEvent(schema.BuildStartedPayload{}, schema.Event{TS: at, Actor: "test", DedupeKey: schema.BuildStartedKey(build)})
		require.NoError(t, err)
		read, err := schema.NewEvent(schema.SessionIngestedPayload{}, schema.Event{TS: noon, Actor: "test", BuildID: build, DedupeKey: "read " + build})
		require.NoError(t, err)
		_, err = b.log.AppendAll(t.Context(), stream, []schema.Event{start, read})
		require.NoError(t, err)
		return schema.EventID("read " + build)
	}
	known, late := ingested("b1", started), ingested("b2", started.Add(time.Hour))
	first := batchOf("ann", "coder", "s1", "Likes Go", "Owns a cat")
	first.Entries[0].Evidence, first.Entries[1].Evidence = []schema.Evidence{{EventID: known}}, []schema.Evidence{{EventID: known}}
	running := first
	first.Entries = first.Entries[:1]
	_, err := b.writer.ApplyOne(t.Context(), first)
	require.NoError(t, err)

	clearing := fact.Command{User: "ann", Agent: "coder", RequestID: "clear", Actor: "ann", At: started.Add(time.Minute), Op: fact.OpClear}
	done, err := b.writer.Do(t.Context(), clearing)
	require.NoError(t, err)
	require.Equal(t, 1, done.Deleted)
	again, err := b.writer.Do(t.Context(), clearing)
	require.NoError(t, err)
	require.Zero(t, again.Events)

	_, err = b.writer.ApplyOne(t.Context(), running)
	require.NoError(t, err)
	require.Empty(t, b.contents(t, "ann", "coder"), "the extraction ran while everything was forgotten")
	old := batchOf("ann", "coder", "s2", "Owned a dog")
	old.Entries[0].Evidence = []schema.Evidence{{EventID: late}}
	_, err = b.writer.ApplyOne(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, []string{"Owned a dog"}, b.contents(t, "ann", "coder"))
	before := b.rows(t, "memory_cleared_raw")
	require.Len(t, before, 1)
	_, err = stacktest.Rebuild(t.Context(), b.conn, fact.NewProjector(b.conn))
	require.NoError(t, err)
	require.Equal(t, before, b.rows(t, "memory_cleared_raw"))
}

// A large memory is forgotten in several blocks. After a crash, the next attempt forgets the rest.
func TestClearOfManyFacts(t *testing.T) {
	t.Parallel()
	const many = 3000
	b := newBench(t, fact.Options{MaxFacts: many})
	for n := range many / 1000 {
		contents := make([]string, 1000)
		for i := range contents {
			contents[i] = fmt.Sprint("Fact ", n, " ", i)
		}
		_, err := b.writer.ApplyOne(t.Context(), batchOf("ann", "", fmt.Sprint("s", n), contents...))
		require.NoError(t, err)
	}
	done, err := b.writer.Do(t.Context(), fact.Command{User: "ann", RequestID: "r", Actor: "ann", At: noon.Add(time.Hour), Op: fact.OpClear})
	require.NoError(t, err)
	require.Equal(t, many, done.Deleted)
	require.Empty(t, b.contents(t, "ann", ""))
}

func TestImportIsDoneOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	c := fact.Command{User: "ann", RequestID: "r", Actor: "ann", At: noon, Op: fact.OpImport, Items: []fact.Item{
		{Content: "Likes Go"}, {Content: "likes GO"}, {Section: "work", Content: "Builds"},
	}}
	for range 2 {
		done, err := b.writer.Do(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, [3]int{1, 1, 1}, [3]int{done.Created, done.Sections, done.Skipped[schema.SkippedDuplicate]})
	}
	require.Len(t, b.contents(t, "ann", ""), 1)
	c.RequestID, c.ExpectVersion = "r2", 99
	_, err := b.writer.Do(t.Context(), c)
	require.ErrorIs(t, err, fact.ErrStale)
}

// The policy hybrid-v1 takes repeated statements and search results into account.
func TestHybridEviction(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{MaxFacts: 3, Eviction: schema.EvictHybrid, Reserve: -1})
	batch := batchOf("ann", "", "s1", "Used", "Said again", "Neither", "New")
	for i := range batch.Entries {
		batch.Entries[i].Confidence, batch.Entries[i].OccurredAt = p(0.7), time.Now().AddDate(-3, 0, 0)
	}
	newest := batch
	newest.Entries, batch.Entries = batch.Entries[3:], batch.Entries[:3]
	_, err := b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	require.NoError(t, b.conn.Exec(t.Context(), "INSERT INTO usage_raw (project, entry_id, stream, seq, ts, means) SELECT 'red', ?, 's', 1, now64(6), 'search'", batch.Entries[0].ID))
	again := batchOf("ann", "", "s2", "said AGAIN")
	again.Entries[0].OccurredAt = time.Now().AddDate(0, -1, 0)
	_, err = b.writer.ApplyOne(t.Context(), again)
	require.NoError(t, err)
	_, err = b.writer.ApplyOne(t.Context(), newest)
	require.NoError(t, err)
	require.Equal(t, []string{"Used", "Said again", "New"}, b.contents(t, "ann", ""))
}

func TestMergeAsksTheEmbedder(t *testing.T) {
	t.Parallel()
	_, err := fact.NewWriter(nil, nil, fact.Options{MergeOverlap: 0.7})
	require.ErrorContains(t, err, "embedder")
	embedder, err := llm.NewEmbedder(context.Background(), llm.EmbedderConfig{})
	require.NoError(t, err)
	b := newBench(t, fact.Options{MergeOverlap: 0.7, Embedder: embedder})
	_, err = b.writer.ApplyOne(t.Context(), batchOf("ann", "", "s1", "The user prefers tabs over spaces in Go", "The build takes 8 minutes on CI"))
	require.NoError(t, err)
	done, err := b.writer.ApplyOne(t.Context(), batchOf("ann", "", "s2", "User prefers tabs over spaces in Go.", "The build takes 9 minutes on CI"))
	require.NoError(t, err)
	require.Equal(t, [2]int{1, 1}, [2]int{done.Merged, done.Created})
	done, err = b.writer.ApplyOne(t.Context(), batchOf("ann", "", "s2", "User prefers tabs over spaces in Go."))
	require.NoError(t, err)
	require.Zero(t, done.Events, "I1")
}
