package clickhouse

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Gathered are rows that [Insert] has kept back, to be written in blocks as large as they come.
type Gathered struct {
	mu     sync.Mutex
	blocks []*block
	// rank is that of the next insert.
	rank int
}

// block has rows for the same columns of a table. It is written after all blocks of a lower rank.
type block struct {
	conn Conn
	into string
	rows [][]any
	rank int
}

type gatheredKey struct{}

// Gather returns a context in which [Insert] keeps the rows back until [Gathered.Write].
func Gather(ctx context.Context) (context.Context, *Gathered) {
	g := &Gathered{}
	return context.WithValue(ctx, gatheredKey{}, g), g
}

// Begin begins a series of inserts. Every series of a projector inserts into all of its tables in the same order, even no
// rows, and the tables are written in that order. Those of different projectors are written at the same time.
func (g *Gathered) Begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rank = 0
}

// add keeps the rows.
func (g *Gathered) add(conn Conn, into string, rows [][]any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.blocks, func(b *block) bool { return b.conn == conn && b.into == into })
	if at < 0 {
		at, g.blocks = len(g.blocks), append(g.blocks, &block{conn: conn, into: into})
	}
	b := g.blocks[at]
	b.rows, b.rank = append(b.rows, rows...), max(b.rank, g.rank)
	g.rank = b.rank + 1
}

// Write writes the rows. After an error, some of them may be written.
func (g *Gathered) Write(ctx context.Context) error {
	slices.SortStableFunc(g.blocks, func(a, b *block) int { return cmp.Compare(a.rank, b.rank) })
	for len(g.blocks) > 0 {
		n := 1
		for n < len(g.blocks) && g.blocks[n].rank == g.blocks[0].rank {
			n++
		}
		writes, ctx := errgroup.WithContext(ctx)
		for _, b := range g.blocks[:n] {
			writes.Go(func() error { return Insert(ctx, b.conn, b.into, b.rows) })
		}
		if err := writes.Wait(); err != nil {
			return err
		}
		g.blocks = g.blocks[n:]
	}
	return nil
}
