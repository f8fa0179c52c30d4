package tier

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// flushBench updates the memory of ann by coder, in a database of its own.
type flushBench struct {
	t    *testing.T
	conn driver.Conn
	*Activities
	opts        Options
	factOptions fact.Options
	model       llm.Model
	head        schema.StreamHead
	// logged counts the messages of each session.
	logged map[string]int
	// lease is that of the log's projectors, zero for the default.
	lease time.Duration
}

func newFlushBench(t *testing.T) *flushBench { return newFlushBenchOf(t, llm.NewRules(), Options{}) }

func newFlushBenchOf(t *testing.T, model llm.Model, opts Options) *flushBench {
	t.Helper()
	b := &flushBench{t: t, conn: stacktest.Migrated(t), model: model, opts: opts, logged: map[string]int{}}
	return b.over(b.conn)
}

// over is the bench in a new process, over another connection.
func (b *flushBench) over(conn driver.Conn) *flushBench {
	b.t.Helper()
	out := *b
	log := projection.New(conn, eventlog.Options{Lease: b.lease})
	writer, err := fact.NewWriter(log, conn, b.factOptions)
	require.NoError(b.t, err)
	facts, err := fact.NewActivities(log, writer, nil)
	require.NoError(b.t, err)
	temporal, err := client.NewLazyClient(client.Options{})
	require.NoError(b.t, err)
	b.t.Cleanup(temporal.Close)
	opts := b.opts
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	out.Activities, err = NewActivities(log, conn, b.model, facts, temporal, &Root{}, opts)
	require.NoError(b.t, err)
	out.head = schema.StreamHead{}
	return &out
}

func (b *flushBench) restarted() *flushBench { return b.over(b.conn) }

// brokenConn refuses to insert into a table.
type brokenConn struct {
	driver.Conn
	table string
}

func (c brokenConn) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if strings.Contains(query, c.table) {
		return nil, errors.New("disk full")
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// hookedConn calls before ahead of each of the first n inserts into the log.
type hookedConn struct {
	driver.Conn
	n      int
	before func() error
}

func (c *hookedConn) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if c.n > 0 && strings.Contains(query, "events_raw") {
		c.n--
		if err := c.before(); err != nil {
			return nil, err
		}
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// broken is the bench in a process that can't append to the log.
func (b *flushBench) broken() *flushBench { return b.over(brokenConn{b.conn, "events_raw"}) }

var evening = time.Date(2026, 6, 7, 21, 45, 10, 0, time.UTC)

func said(role schema.Role, text string) schema.Message {
	return schema.Message{Role: role, Kind: schema.KindText, Text: text}
}

func (b *flushBench) key(id string) schema.SessionKey {
	return schema.SessionKey{Scope: schema.Scope{Project: "red", User: "ann", Agent: "coder"}, SessionID: id}
}

// session adds messages to a session, as one build brings them, and returns that build's input for the writer.
func (b *flushBench) session(id string, messages ...schema.Message) FlushRequest {
	b.t.Helper()
	return b.sessionOf(b.key(id), messages...)
}

func (b *flushBench) sessionOf(key schema.SessionKey, messages ...schema.Message) FlushRequest {
	b.t.Helper()
	stream := key.Stream()
	in := FlushRequest{SessionKey: key, BuildID: fmt.Sprint("build-", key.SessionID, "-", b.logged[stream]), At: evening}
	for i := range messages {
		messages[i].Index, messages[i].Key = b.logged[stream], fmt.Sprint(b.logged[stream])
		b.logged[stream]++
	}
	in.Messages = b.logged[stream]
	event, err := schema.NewEvent(schema.SessionIngestedPayload{SessionKey: key, Messages: messages}, schema.Event{
		TS: evening, Actor: "test", SessionID: key.SessionID, BuildID: in.BuildID, DedupeKey: schema.SessionIngestedKey(key, messages),
	})
	require.NoError(b.t, err)
	ctx, err := b.log.AsWriter(b.t.Context(), stream, schema.StreamHead{})
	require.NoError(b.t, err)
	_, err = b.log.Append(ctx, stream, []schema.Event{event})
	require.NoError(b.t, err)
	in.Head = b.log.Head(stream)
	return in
}

// update has the writer update the memory, as one batch.
func (b *flushBench) update(items ...FlushRequest) ([]boundary.Outcome[SessionResult], error) {
	b.t.Helper()
	out, err := b.updateMemory(b.t.Context(), boundary.Batch[FlushRequest]{Head: b.head, Items: items})
	if err == nil {
		require.True(b.t, out.Head.Known)
		b.head = out.Head
	}
	return out.Items, err
}

// must is update for inputs that succeed.
func (b *flushBench) must(items ...FlushRequest) []SessionResult {
	b.t.Helper()
	out, err := b.update(items...)
	require.NoError(b.t, err)
	results := make([]SessionResult, len(out))
	for i, o := range out {
		require.Nil(b.t, o.Failed)
		results[i] = o.Result
	}
	return results
}

// records are the daily records of the memory.
func (b *flushBench) records() []Record {
	b.t.Helper()
	records, err := b.tables.Records(b.t.Context(), "ann", "coder", schema.RecordDaily)
	require.NoError(b.t, err)
	return records
}

// flushes are the payloads of the flushes in the log of the memory, in order.
func (b *flushBench) flushes() (out []schema.ContextFlushedPayload) {
	b.t.Helper()
	options := eventlog.StreamOptions{Types: []string{schema.ContextFlushed}}
	for event, err := range b.restarted().log.Stream(b.t.Context(), schema.MemoryStream("ann", "coder"), options) {
		require.NoError(b.t, err)
		p, err := schema.Decode[schema.ContextFlushedPayload](event)
		require.NoError(b.t, err)
		out = append(out, p)
	}
	return out
}

// types are the types of the events in the log of the memory, in order.
func (b *flushBench) types() (out []string) {
	b.t.Helper()
	for event, err := range b.restarted().log.Stream(b.t.Context(), schema.MemoryStream("ann", "coder"), eventlog.StreamOptions{}) {
		require.NoError(b.t, err)
		out = append(out, event.Type)
	}
	return out
}

// countedConn counts the requests that are about one of the tables. A store asks others in the background.
type countedConn struct {
	driver.Conn
	mu               sync.Mutex
	queries, inserts map[string]int
}

// reset begins to count anew, and returns the queries and inserts until now.
func (c *countedConn) reset() (queries, inserts map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	queries, inserts = c.queries, c.inserts
	c.queries, c.inserts = map[string]int{}, map[string]int{}
	return queries, inserts
}

func (c *countedConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.count(&c.queries, query)
	return c.Conn.Query(ctx, query, args...)
}

func (c *countedConn) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	c.count(&c.inserts, query)
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

func (c *countedConn) count(into *map[string]int, query string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := *into
	for _, table := range []string{"events_raw", "facts_raw", "records_raw"} {
		if strings.Contains(query, table) {
			counts[table]++
		}
	}
}
