package clickhouse

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Gathered are rows that [Insert] has kept back, to be written together.
type Gathered struct {
	// rounds are written one after the other, and the blocks of a round at the same time.
	rounds [][]*block
	// next is the round of the next insert.
	next int
}

// block has rows for the same columns of a table.
type block struct {
	conn Conn
	into string
	rows [][]any
}

type gatheredKey struct{}

// Gather returns a context in which [Insert] keeps the rows back until [Gathered.Write]. It is for one goroutine.
func Gather(ctx context.Context) (context.Context, *Gathered) {
	g := &Gathered{}
	return context.WithValue(ctx, gatheredKey{}, g), g
}

// Begin begins a series of inserts. Those of a series are written in their order, each together with the same one of
// other series.
func (g *Gathered) Begin() { g.next = 0 }

// add keeps the rows for the round.
func (g *Gathered) add(conn Conn, into string, rows [][]any) {
	if g.next == len(g.rounds) {
		g.rounds = append(g.rounds, nil)
	}
	round := g.rounds[g.next]
	at := slices.IndexFunc(round, func(b *block) bool { return b.conn == conn && b.into == into })
	if at < 0 {
		at, round = len(round), append(round, &block{conn: conn, into: into})
	}
	round[at].rows = append(round[at].rows, rows...)
	g.rounds[g.next] = round
	g.next++
}

// Write writes the rows. After an error, some of them may be written.
func (g *Gathered) Write(ctx context.Context) error {
	for _, round := range g.rounds {
		writes, ctx := errgroup.WithContext(ctx)
		for _, b := range round {
			writes.Go(func() error { return grouped(ctx, b.conn, b.into, b.rows) })
		}
		if err := writes.Wait(); err != nil {
			return err
		}
	}
	return nil
}
