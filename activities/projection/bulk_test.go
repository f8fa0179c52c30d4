package projection_test

import (
	"context"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// noted records the inserts through it.
type noted struct {
	driver.Conn
	blocks *[]string
	rows   *[]int
}

func (c noted) PrepareBatch(_ context.Context, query string, _ ...driver.PrepareBatchOption) (driver.Batch, error) {
	return &notedBatch{c: c, query: query}, nil
}

type notedBatch struct {
	driver.Batch
	c     noted
	query string
	rows  int
}

func (b *notedBatch) Append(...any) error { b.rows++; return nil }
func (b *notedBatch) Close() error        { return nil }
func (b *notedBatch) Send() error {
	*b.c.blocks, *b.c.rows = append(*b.c.blocks, b.query), append(*b.c.rows, b.rows)
	return nil
}

// twoTables is a projector whose first table records the applied events.
type twoTables struct{ projection.Projector }

func (twoTables) Name() string                                { return "two" }
func (twoTables) Apply(context.Context, []schema.Event) error { return nil }
func (twoTables) Tables() []projection.Table {
	return []projection.Table{{Name: "first"}, {Name: "second"}}
}

// Rows of many streams are inserted as one block for each table. The table that records the applied events comes last.
// Otherwise rows would be missing for good after a crash in between.
func TestBulk(t *testing.T) {
	t.Parallel()
	var blocks []string
	var rows []int
	bulk := clickhouse.NewBulk(noted{blocks: &blocks, rows: &rows})
	flush := func() error { return bulk.Flush(t.Context(), projection.TablesLastFirst(twoTables{})) }
	insert := func(query string, n int) {
		batch, err := bulk.PrepareBatch(t.Context(), query)
		require.NoError(t, err)
		for i := range n {
			require.NoError(t, batch.Append(i))
		}
		require.NoError(t, batch.Send())
		require.NoError(t, batch.Close())
	}
	insert("INSERT INTO first (a)", 1)
	insert("INSERT INTO second (a)", 2)
	insert("INSERT INTO first (a)", 3)
	require.Empty(t, blocks)
	require.NoError(t, flush())
	require.Equal(t, []string{"INSERT INTO second (a)", "INSERT INTO first (a)"}, blocks)
	require.Equal(t, []int{2, 4}, rows)
	require.NoError(t, flush())
	require.Len(t, blocks, 2)
	insert("INSERT INTO firstborn (a)", 1)
	require.ErrorContains(t, flush(), "no table is named")
}
