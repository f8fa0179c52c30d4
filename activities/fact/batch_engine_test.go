package fact_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// counted counts the requests of the rooms' tables.
type counted struct {
	clickhouse.Conn
	queries, inserts int
}

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.queries++
	return c.Conn.Query(ctx, query, args...)
}

func (c *counted) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.inserts++
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

func (b *bench) events(t *testing.T, user, agent string) []schema.Event {
	t.Helper()
	var out []schema.Event
	for e, err := range b.log.Stream(t.Context(), schema.MemoryStream(user, agent), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		e.RecordedAt = time.Time{}
		out = append(out, e)
	}
	return out
}

// Sessions in one batch leave the events, rows and results that they leave one after the other, with one query for
// all of them and one insert for each table.
func TestSessionsAtOnce(t *testing.T) {
	t.Parallel()
	const user, agent = "ann/o'neil", "세 \\ \x01"
	var batches []fact.Batch
	for i := range 7 {
		batches = append(batches, batchOf(user, agent, fmt.Sprint("s", i), "Likes Go", fmt.Sprint("one ", i), "?two", fmt.Sprint("three ", i%3)))
	}
	batches[5] = batches[2]
	batches[5].BuildID = "b-again"
	batches[6].Entries = nil

	alone := newBench(t, fact.Options{MaxFacts: 6})
	var want []boundary.Outcome[fact.Result]
	for _, batch := range batches {
		result, err := alone.writer.ApplyOne(t.Context(), batch)
		require.NoError(t, err)
		want = append(want, boundary.Outcome[fact.Result]{Result: result})
	}

	b := newBench(t, fact.Options{MaxFacts: 6})
	conn := &counted{Conn: b.conn}
	writer, err := fact.NewWriter(b.log, conn, fact.Options{MaxFacts: 6})
	require.NoError(t, err)
	got, err := writer.Apply(t.Context(), batches)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, [2]int{0, 2}, [2]int{conn.queries, conn.inserts})
	require.Equal(t, alone.events(t, user, agent), b.events(t, user, agent))
	require.Equal(t, alone.allRows(t), b.allRows(t))
	require.NotEmpty(t, b.rows(t, "facts_gone"))

	// A retry of the whole batch, and of a part of it, changes nothing.
	for _, again := range [][]fact.Batch{batches, batches[3:]} {
		got, err = writer.Apply(t.Context(), again)
		require.NoError(t, err)
		for i, outcome := range got {
			require.Equal(t, fact.Result{Entries: len(again[i].Entries)}, outcome.Result)
		}
	}
	require.Equal(t, alone.allRows(t), b.allRows(t))
}

// appending is a log that calls a function before each append.
type appending struct {
	*projection.Store
	before func()
}

func (a appending) AppendAll(ctx context.Context, stream string, events []schema.Event) (eventlog.Appended, error) {
	a.before()
	return a.Store.AppendAll(ctx, stream, events)
}

// I4: a memory whose events the log remembers is known without a request, and equals the memory in the tables: both give
// the same plan.
func TestPlanFromTheLog(t *testing.T) {
	t.Parallel()
	const user, agent = "ann/o'neil", "세 \\ \x01"
	stream, opts := schema.MemoryStream(user, agent), fact.Options{MaxFacts: 5}
	known, read := newBench(t, opts), newBench(t, opts)
	conn := &counted{Conn: known.conn}
	writer, err := fact.NewWriter(appending{known.log, func() { require.Zero(t, conn.queries) }}, conn, opts)
	require.NoError(t, err)
	var entries []string
	for i := range 8 {
		batch := batchOf(user, agent, fmt.Sprint("s", i), "Likes Go", fmt.Sprint("one ", i), "?two", fmt.Sprint("three ", i%3))
		if i%2 == 1 {
			batch = sections(batch, "work", "personal")
		}
		want, err := read.writer.ApplyOne(t.Context(), batch)
		require.NoError(t, err)
		head, err := known.log.Load(t.Context(), stream)
		require.NoError(t, err)
		ctx := eventlog.WithHead(t.Context(), stream, head)
		conn.queries = 0
		outcomes, err := writer.Apply(ctx, []fact.Batch{batch})
		require.NoError(t, err)
		require.Equal(t, want, outcomes[0].Result)
		for _, w := range []*fact.Writer{read.writer, known.writer} {
			_, err = w.Do(t.Context(), fact.Command{User: user, Agent: agent, RequestID: fmt.Sprint("c", i), Actor: "ann", At: noon.Add(time.Duration(i) * time.Minute),
				Op: []fact.Op{fact.OpCreate, fact.OpSection, fact.OpCreate, fact.OpClear}[i%4], Section: []string{"", "work", "", ""}[i%4],
				Content: []*string{p(fmt.Sprint("said ", i)), p([]string{"", "Rests"}[i/4]), p("Likes Go"), nil}[i%4]})
			if i%4 != 2 {
				require.NoError(t, err)
			}
		}
		for _, e := range batch.Entries {
			entries = append(entries, e.ID)
		}
		m, err := known.tables.Load(t.Context(), fact.Needs{User: user, Agent: agent, Entries: entries, All: true, Profile: true, Version: true})
		require.NoError(t, err)
		folded, err := fact.FoldMemory(known.events(t, user, agent))
		require.NoError(t, err)
		delete(folded.Done, "") // Of commands.
		for i, f := range folded.Facts {
			folded.Facts[i] = planned(f)
		}
		for name, s := range folded.Sections {
			folded.Sections[name] = fact.Section{Name: s.Name, Summary: s.Summary, Confidence: s.Confidence, UpdatedAt: s.UpdatedAt, Version: s.Version}
		}
		require.Equal(t, m, folded)
	}
	require.Equal(t, read.events(t, user, agent), known.events(t, user, agent))
	require.Equal(t, read.allRows(t), known.allRows(t))
}

// A memory that was filled under a larger maximum shrinks to the one that holds now.
func TestLowerMaximum(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{MaxFacts: 40})
	var contents []string
	for i := range 40 {
		contents = append(contents, fmt.Sprint("number ", i))
	}
	_, err := b.writer.ApplyOne(t.Context(), batchOf("ann", "coder", "s1", contents...))
	require.NoError(t, err)
	writer, err := fact.NewWriter(b.log, b.conn, fact.Options{MaxFacts: 5})
	require.NoError(t, err)
	done, err := writer.ApplyOne(t.Context(), batchOf("ann", "coder", "s2", "one more"))
	require.NoError(t, err)
	require.Equal(t, 36, done.Evicted)
	require.Len(t, b.contents(t, "ann", "coder"), 5)
}

// The size of a plan's input does not grow with the memory.
func TestLoadOfManyFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	require.NoError(t, b.conn.Exec(t.Context(), `INSERT INTO facts_raw (fact_id, user, agent, content, content_key, confidence, status,
		created_at, created_seq, updated_at, gone_at, version)
		SELECT concat('fact_', toString(number)), 'ann', 'coder', concat('Number ', toString(number)) AS content, lower(content),
		1 - number / 100000, if(number % 2 = 0, 'active', 'deleted'), now64(6), number + 1, now64(6),
		if(number % 2 = 0, NULL, now64(6)), number + 1 FROM numbers(20000)`))
	m, err := b.tables.Load(t.Context(), fact.Needs{
		User: "ann", Agent: "coder", Contents: []string{"number 7", "NUMBER 10", "none"}, IDs: []string{"fact_11", "fact_x"}, Evictions: 3,
	})
	require.NoError(t, err)
	require.Equal(t, 10000, m.Active)
	ids := map[string]fact.Status{}
	for _, f := range m.Facts {
		ids[f.ID] = f.Status
	}
	require.Len(t, m.Facts, len(ids))
	require.Equal(t, map[string]fact.Status{
		"fact_7": fact.Deleted, "fact_10": fact.Active, "fact_11": fact.Deleted,
		"fact_19998": fact.Active, "fact_19996": fact.Active, "fact_19994": fact.Active,
	}, ids)
	for _, f := range m.Facts {
		same, err := b.tables.Get(t.Context(), "ann", "coder", f.ID)
		require.NoError(t, err)
		require.Equal(t, planned(same), f)
	}
	none, err := b.tables.Load(t.Context(), fact.Needs{User: "nobody"})
	require.NoError(t, err)
	require.Equal(t, fact.Memory{Done: map[string]bool{}, Sections: map[string]fact.Section{}}, none)
}

// planned returns the fields of the fact that a plan requires.
func planned(f fact.Fact) fact.Fact {
	return fact.Fact{
		ID: f.ID, Content: f.Content, Category: f.Category, Confidence: f.Confidence, Status: f.Status, EntryID: f.EntryID,
		CreatedAt: f.CreatedAt, CreatedSeq: f.CreatedSeq, GoneAt: f.GoneAt, Version: f.Version,
	}
}

// A memory is read whole, in one query, up to a number of rows. With more it is read in part: of the facts that a plan
// names it learns the same.
func TestLoadOfFewFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t, fact.Options{})
	conn := &counted{Conn: b.conn}
	tables := fact.NewTables(conn)
	insert := func(from, n, version int) {
		require.NoError(t, b.conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO facts_raw (fact_id, user, agent, content, content_key,
			confidence, status, entry_id, created_at, created_seq, updated_at, gone_at, version)
			SELECT concat('fact_', toString(number)), 'a\'nn', '', concat('Number ', toString(number)) AS content, lower(content),
			1 - number / 1000, if(%[3]d = 1 OR number %% 2 = 0, 'active', 'deleted') AS status, concat('e', toString(number)),
			now64(6), number + 1, now64(6), if(status = 'active', NULL, now64(6)), number + %[3]d FROM numbers(%[1]d, %[2]d)`, from, n, version)))
	}
	require.NoError(t, b.conn.Exec(t.Context(), "SYSTEM STOP MERGES facts_raw"))
	require.NoError(t, b.conn.Exec(t.Context(), "INSERT INTO facts_skipped_raw (user, agent, seq, entry_id) VALUES ('a\\'nn', '', 9000, 'skipped'), ('ann', '', 1, 'e500')"))
	needs := fact.Needs{
		User: "a'nn", Contents: []string{"number 7", "NUMBER 10", "none"}, IDs: []string{"fact_11", "fact_8"},
		Entries: []string{"e8", "e11", "skipped", "e500", "e9000"}, Evictions: 3,
	}
	// Newer rows of facts come in parts of their own, an older one last.
	insert(6, 6, 1)
	insert(0, fact.WholeFacts-8, 1000)
	insert(2, 2, 1)
	require.EqualValues(t, fact.WholeFacts, b.count(t, "facts_raw"))
	for _, whole := range []bool{true, false} {
		conn.queries = 0
		m, err := tables.Load(t.Context(), needs)
		require.NoError(t, err)
		part, err := b.tables.LoadPart(t.Context(), needs)
		require.NoError(t, err)
		if whole {
			require.EqualValues(t, 1, conn.queries)
			require.Len(t, m.Facts, fact.WholeFacts-8)
		} else {
			require.EqualValues(t, 2, conn.queries)
			require.Len(t, m.Facts, 4+3)
		}
		require.Equal(t, map[string]bool{"e8": true, "e11": true, "skipped": true}, m.Done)
		require.Equal(t, part.Done, m.Done)
		require.Equal(t, (fact.WholeFacts-8)/2, m.Active)
		require.Equal(t, part.Active, m.Active)
		require.Subset(t, m.Facts, part.Facts)
		var ids []string
		for _, f := range m.Facts {
			ids = append(ids, f.ID)
		}
		same, err := b.tables.Find(t.Context(), "a'nn", "", ids)
		require.NoError(t, err)
		require.Len(t, same, len(ids))
		byID := map[string]fact.Fact{}
		for _, f := range same {
			byID[f.ID] = planned(f)
		}
		for _, f := range m.Facts {
			require.Equal(t, byID[f.ID], f)
		}
		insert(20, 1, 1)
	}
}

func (b *bench) count(t *testing.T, from string) (n uint64) {
	require.NoError(t, b.conn.QueryRow(t.Context(), "SELECT count() FROM "+from).Scan(&n))
	return n
}
