package clickhouse_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
)

// held is a connection whose first insert waits.
type held struct {
	driver.Conn
	inserts        atomic.Int64
	begun, release chan struct{}
}

func (c *held) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	if c.inserts.Add(1) == 1 {
		close(c.begun)
		<-c.release
	}
	return c.Conn.PrepareBatch(ctx, query, opts...)
}

// holdOne begins an insert and returns the connection, once it runs. The returned function lets it go on.
func holdOne(t *testing.T) (*held, func()) {
	c := &held{Conn: withWords(t), begun: make(chan struct{}), release: make(chan struct{})}
	first := make(chan error, 1)
	go func() {
		first <- clickhouse.Insert(context.WithoutCancel(t.Context()), c, "words (n, word)", [][]any{{uint32(0), "first"}})
	}()
	<-c.begun
	return c, func() {
		close(c.release)
		require.NoError(t, <-first)
	}
}

// insertAtOnce inserts each of the lists of rows, and lets the held insert go on when all of them wait.
func insertAtOnce(t *testing.T, c *held, release func(), lists [][][]any) []error {
	errs := make([]error, len(lists))
	var wait sync.WaitGroup
	for i, rows := range lists {
		wait.Go(func() { errs[i] = clickhouse.Insert(t.Context(), c, "words (n, word)", rows) })
	}
	require.Eventually(t, func() bool { return clickhouse.Waiting(c, "words (n, word)") == len(lists) }, time.Minute, time.Millisecond)
	release()
	wait.Wait()
	return errs
}

// Inserts that wait for one another are one block.
func TestInsertTogether(t *testing.T) {
	t.Parallel()
	c, release := holdOne(t)
	var lists [][][]any
	for i := range 20 {
		lists = append(lists, [][]any{{uint32(i), "x"}, {uint32(100 + i), "x"}})
	}
	for _, err := range insertAtOnce(t, c, release, lists) {
		require.NoError(t, err)
	}
	require.Len(t, read(t, c.Conn, "x"), 40)
	require.EqualValues(t, 2, c.inserts.Load())
	require.NoError(t, clickhouse.Insert(t.Context(), c, "words (n, word)", [][]any{{uint32(7), "after"}}))
	require.EqualValues(t, 3, c.inserts.Load())
	require.Equal(t, -1, clickhouse.Waiting(c, "words (n, word)"), "nothing is left")
}

// Rows that cannot be inserted fail their own caller alone, and a caller that is gone inserts nothing.
func TestInsertTogetherFails(t *testing.T) {
	t.Parallel()
	c, release := holdOne(t)
	var lists [][][]any
	for i := range 5 {
		var n any = uint32(i)
		if i == 2 {
			n = "no number"
		}
		lists = append(lists, [][]any{{n, "x"}})
	}
	gone, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- clickhouse.Insert(gone, c, "words (n, word)", [][]any{{uint32(99), "x"}}) }()
	require.Eventually(t, func() bool { return clickhouse.Waiting(c, "words (n, word)") == 1 }, time.Minute, time.Millisecond)
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	lists = append(lists, [][]any{{uint32(5), "x"}})
	errs := make([]error, len(lists))
	var wait sync.WaitGroup
	for i, rows := range lists {
		wait.Go(func() { errs[i] = clickhouse.Insert(t.Context(), c, "words (n, word)", rows) })
	}
	require.Eventually(t, func() bool { return clickhouse.Waiting(c, "words (n, word)") == 1+len(lists) }, time.Minute, time.Millisecond)
	release()
	wait.Wait()
	for i, err := range errs {
		if i == 2 {
			require.ErrorContains(t, err, "insert into words: ")
			continue
		}
		require.NoError(t, err)
	}
	require.Equal(t, []uint32{0, 1, 3, 4, 5}, read(t, c.Conn, "x"))
}

// panicking is a connection that panics over a word.
type panicking struct{ driver.Conn }

type panickingBatch struct{ driver.Batch }

func (c panicking) PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error) {
	batch, err := c.Conn.PrepareBatch(ctx, query, opts...)
	return panickingBatch{batch}, err
}

func (b panickingBatch) Append(v ...any) error {
	if v[1] == "panic" {
		panic("cannot encode")
	}
	return b.Batch.Append(v...)
}

// A panic over rows is an error for their caller alone, whoever inserts them, and blocks no other insert.
func TestInsertPanics(t *testing.T) {
	t.Parallel()
	held, release := holdOne(t)
	held.Conn = panicking{held.Conn}
	errs := insertAtOnce(t, held, release, [][][]any{{{uint32(1), "p"}}, {{uint32(2), "panic"}}, {{uint32(3), "p"}}})
	require.NoError(t, errs[0])
	require.ErrorContains(t, errs[1], "insert into words: panic: cannot encode")
	require.NoError(t, errs[2])
	require.ErrorContains(t, clickhouse.Insert(t.Context(), held, "words (n, word)", [][]any{{uint32(4), "panic"}}), "panic")
	require.Equal(t, -1, clickhouse.Waiting(held, "words (n, word)"), "nothing is left")
	require.Equal(t, []uint32{1, 3}, read(t, held.Conn, "p"))
}
