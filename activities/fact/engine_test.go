package fact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

type bench struct {
	conn   driver.Conn
	log    *projection.Store
	writer *fact.Writer
	tables *fact.Tables
}

func newBench(t *testing.T, opts fact.Options) *bench {
	t.Helper()
	conn := stacktest.Migrated(t)
	b := &bench{conn: conn, log: projection.New(conn, eventlog.Options{}), tables: fact.NewTables(conn)}
	var err error
	b.writer, err = fact.NewWriter(b.log, conn, opts)
	require.NoError(t, err)
	return b
}

func batchOf(user, agent, session string, contents ...string) fact.Batch {
	batch := fact.Batch{User: user, Agent: agent, Project: "red", SessionID: session, BuildID: "b-" + session}
	for i, content := range contents {
		confidence := 0.6 + float64(i%4)/10
		batch.Entries = append(batch.Entries, schema.Entry{
			ID: schema.DerivedID("entry", user, agent, session, content), Type: schema.EntryFact, SessionID: session,
			Scope: schema.Scope{Project: "red", User: user, Agent: agent}, Title: content, Category: schema.CategoryGoal,
			Confidence: &confidence, EvidenceAligned: !strings.HasPrefix(content, "?"), OccurredAt: noon,
		})
	}
	return batch
}

func (b *bench) rows(t *testing.T, view string) []string {
	t.Helper()
	rows, err := b.conn.Query(t.Context(), "SELECT toString(tuple(*)) FROM "+view+" ORDER BY ALL")
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var row string
		require.NoError(t, rows.Scan(&row))
		out = append(out, row)
	}
	require.NoError(t, rows.Err())
	return out
}

func (b *bench) allRows(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, view := range []string{"facts", "facts_gone", "facts_skipped"} {
		for _, row := range b.rows(t, view) {
			out = append(out, view+" "+row)
		}
	}
	return out
}

func (b *bench) contents(t *testing.T, user, agent string) []string {
	t.Helper()
	facts, err := b.tables.List(t.Context(), user, agent)
	require.NoError(t, err)
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = f.Content
	}
	return out
}

func p[T any](v T) *T { return &v }

func TestWriter(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{MaxFacts: 4})
	batch := batchOf("ann", "coder", "s1", "Likes Go", "likes GO", "?Likes Perl", "Owns a cat", "Lives in Bonn")
	done, err := b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, fact.Result{
		Events: 5, Entries: 5, Created: 3, LastSeq: 5,
		Skipped: map[string]int{schema.SkippedDuplicate: 1, schema.SkippedUnaligned: 1},
	}, done)

	// I1: the same session again changes nothing.
	before := b.allRows(t)
	done, err = b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, fact.Result{Entries: 5}, done)
	require.Equal(t, before, b.allRows(t))

	// A session that grew adds its new facts, and makes room for them.
	batch.Entries = append(batch.Entries, batchOf("ann", "coder", "s1", "Drinks tea", "Runs").Entries...)
	done, err = b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, fact.Result{Events: 3, Entries: 7, Created: 2, Evicted: 1, LastSeq: 8}, done)
	require.Equal(t, []string{"Owns a cat", "Lives in Bonn", "Drinks tea", "Runs"}, b.contents(t, "ann", "coder"))

	// The tables contain the fold of the stream.
	stream := schema.MemoryStream("ann", "coder")
	folded, err := fact.Replay(b.log.Stream(t.Context(), stream, eventlog.StreamOptions{Types: fact.EventTypes()}), time.Time{})
	require.NoError(t, err)
	require.Len(t, folded, 5)
	for _, f := range folded {
		got, err := b.tables.Get(t.Context(), "ann", "coder", f.ID)
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
}

func TestDo(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	command := fact.Command{User: "ann", Agent: "coder", RequestID: "r1", Actor: "ann", At: noon, Op: fact.OpCreate, Content: p("Likes Go"), Confidence: p(0.1)}
	created, err := b.writer.Do(t.Context(), command)
	require.NoError(t, err)
	require.Equal(t, 1, created.Created)
	again, err := b.writer.Do(t.Context(), command)
	require.NoError(t, err)
	require.Equal(t, fact.Result{FactID: created.FactID}, again)

	other := command
	other.RequestID, other.Content = "r2", p("LIKES go")
	for range 2 {
		_, err = b.writer.Do(t.Context(), other)
		require.ErrorIs(t, err, fact.ErrDuplicate)
	}
	require.Len(t, b.rows(t, "facts_skipped"), 1, "the refusal is recorded, once")

	update := fact.Command{User: "ann", Agent: "coder", RequestID: "r3", Actor: "ann", At: noon.Add(time.Hour), Op: fact.OpUpdate, FactID: created.FactID, Category: p("goal")}
	_, err = b.writer.Do(t.Context(), update)
	require.NoError(t, err)
	facts, err := b.tables.List(t.Context(), "ann", "coder")
	require.NoError(t, err)
	require.Equal(t, []fact.Fact{{
		ID: created.FactID, Content: "Likes Go", Category: "goal", Confidence: 0.1, Status: fact.Active, Actor: "ann",
		CreatedAt: noon, CreatedSeq: 1, UpdatedAt: noon.Add(time.Hour), Version: 3,
	}}, facts)
	require.Equal(t, fact.SourceManual, facts[0].Source())

	remove := fact.Command{User: "ann", Agent: "coder", RequestID: "r4", Actor: "ann", At: noon.Add(2 * time.Hour), Op: fact.OpDelete, FactID: created.FactID, Reason: "moved on"}
	for range 2 {
		gone, err := b.writer.Do(t.Context(), remove)
		require.NoError(t, err)
		require.Equal(t, created.FactID, gone.FactID)
	}
	require.Empty(t, b.contents(t, "ann", "coder"))
	remove.RequestID = "r5"
	_, err = b.writer.Do(t.Context(), remove)
	require.ErrorIs(t, err, fact.ErrFactNotFound)

	// I12 and D3 hold for deleted facts in the tables: a fact said before its deletion stays deleted.
	done, err := b.writer.ApplyOne(t.Context(), batchOf("ann", "coder", "s1", "likes go"))
	require.NoError(t, err)
	require.Equal(t, map[string]int{schema.SkippedDeleted: 1}, done.Skipped)
	_, err = b.writer.Do(t.Context(), fact.Command{User: "ann", Op: "clear"})
	require.ErrorIs(t, err, fact.ErrInvalid)
}

// TestI3 drops the tables and rebuilds them.
func TestI3(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{MaxFacts: 5})
	for i := range 6 {
		_, err := b.writer.ApplyOne(t.Context(), batchOf("ann", "a/b", fmt.Sprint("s", i), "Likes Go", fmt.Sprint("one ", i), fmt.Sprint("?two ", i), fmt.Sprint("three ", i)))
		require.NoError(t, err)
		facts, err := b.tables.List(t.Context(), "ann", "a/b")
		require.NoError(t, err)
		_, err = b.writer.Do(t.Context(), fact.Command{
			User: "ann", Agent: "a/b", RequestID: fmt.Sprint(i), Actor: "ann", At: noon,
			Op: []fact.Op{fact.OpDelete, fact.OpUpdate}[i%2], FactID: facts[0].ID, Content: []*string{nil, p(fmt.Sprint("new ", i))}[i%2],
		})
		require.NoError(t, err)
	}
	before := b.allRows(t)
	require.NotEmpty(t, b.rows(t, "facts_gone"))
	progress, err := stacktest.Rebuild(t.Context(), b.conn, fact.NewProjector(b.conn))
	require.NoError(t, err)
	require.Positive(t, progress.Events)
	require.Equal(t, before, b.allRows(t))
}

var errKilled = errors.New("killed")

// killed is a log whose caller dies at a step.
type killed struct {
	*projection.Store
	at string
}

func (k killed) AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error) {
	if k.at == "before append" {
		return eventlog.Appended{}, errKilled
	}
	appended, err := k.Store.AppendAll(ctx, stream, events)
	if k.at == "after append" {
		return eventlog.Appended{}, errKilled
	}
	return appended, err
}

// TestI2 kills the writer of a full memory before and after it appends, and runs another: it evicts the same facts.
func TestI2(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{MaxFacts: 2})
	first, second := batchOf("ann", "coder", "s1", "Likes Go", "Owns a cat"), batchOf("ann", "coder", "s2", "Runs", "Swims", "Likes go")
	_, err := b.writer.ApplyOne(t.Context(), first)
	require.NoError(t, err)
	for _, at := range []string{"before append", "after append"} {
		dying, err := fact.NewWriter(killed{b.log, at}, b.conn, fact.Options{MaxFacts: 2})
		require.NoError(t, err)
		_, err = dying.ApplyOne(t.Context(), second)
		require.ErrorIs(t, err, errKilled)
	}
	_, err = b.writer.ApplyOne(t.Context(), second)
	require.NoError(t, err)
	got := b.allRows(t)

	whole := newBench(t, fact.Options{MaxFacts: 2})
	for _, batch := range []fact.Batch{first, second} {
		_, err = whole.writer.ApplyOne(t.Context(), batch)
		require.NoError(t, err)
	}
	require.Equal(t, whole.allRows(t), got)
}

func TestManyFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	var contents []string
	for i := range 2500 {
		contents = append(contents, fmt.Sprintf("Fact number %d of a long session", i))
	}
	batch := batchOf("ann", "coder", "s1", contents...)
	start := time.Now()
	done, err := b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	t.Logf("2,500 facts: %v", time.Since(start).Round(time.Millisecond))
	require.Equal(t, 2500, done.Created)
	require.Equal(t, 2500-fact.DefaultMaxFacts, done.Evicted)
	require.Len(t, b.contents(t, "ann", "coder"), fact.DefaultMaxFacts)
	start = time.Now()
	done, err = b.writer.ApplyOne(t.Context(), batch)
	require.NoError(t, err)
	t.Logf("again: %v", time.Since(start).Round(time.Millisecond))
	require.Zero(t, done.Events)
	start = time.Now()
	_, err = b.writer.ApplyOne(t.Context(), batchOf("ann", "coder", "s2", "One more"))
	require.NoError(t, err)
	t.Logf("one more: %v", time.Since(start).Round(time.Millisecond))
}
