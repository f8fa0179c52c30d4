package clickhouse

import (
	"context"
	"sync"
	"time"
)

// While an insert into a table runs, others into the same columns wait, and are then done together: for the server,
// a block of one row is as much work as one of a hundred. No insert waits longer than for one other insert.

// groups holds the statements that are being inserted. An entry is there while its insert runs.
var groups = struct {
	sync.Mutex
	of map[groupKey]*group
}{of: map[groupKey]*group{}}

type groupKey struct {
	conn Conn
	into string
}

// group holds the rows that wait for the end of an insert.
type group struct{ waiting []*pendingRows }

// pendingRows are the rows of one caller.
type pendingRows struct {
	ctx  context.Context
	rows [][]any
	done chan error
}

// maxGroup bounds the rows of callers that are inserted together.
const maxGroup = 10_000

// grouped inserts the rows, together with those of other callers if another insert runs.
func grouped(ctx context.Context, conn Conn, into string, rows [][]any) error {
	key := groupKey{conn, into}
	groups.Lock()
	if g, busy := groups.of[key]; busy {
		mine := &pendingRows{ctx, rows, make(chan error, 1)}
		g.waiting = append(g.waiting, mine)
		groups.Unlock()
		select {
		case err := <-mine.done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	groups.of[key] = &group{}
	groups.Unlock()
	err := insert(ctx, conn, into, rows)
	if key.release() {
		go key.serve()
	}
	return err
}

// release ends the group unless rows are waiting.
func (k groupKey) release() (waiting bool) {
	groups.Lock()
	defer groups.Unlock()
	if len(groups.of[k].waiting) > 0 {
		return true
	}
	delete(groups.of, k)
	return false
}

// next takes the rows to insert now.
func (k groupKey) next() []*pendingRows {
	groups.Lock()
	defer groups.Unlock()
	g := groups.of[k]
	n, rows := 0, 0
	for n < len(g.waiting) && (n == 0 || rows+len(g.waiting[n].rows) <= maxGroup) {
		rows += len(g.waiting[n].rows)
		n++
	}
	batch := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	return batch
}

// serve inserts the waiting rows until none are left.
func (k groupKey) serve() {
	for {
		k.insert(k.next())
		if !k.release() {
			return
		}
	}
}

func (k groupKey) insert(batch []*pendingRows) {
	var together []*pendingRows
	for _, p := range batch {
		if err := p.ctx.Err(); err != nil {
			p.done <- err
			continue
		}
		together = append(together, p)
	}
	if len(together) > 1 && k.insertAll(together) == nil {
		for _, p := range together {
			p.done <- nil
		}
		return
	}
	// Alone, so that each caller gets the error of its own rows. Writing rows twice changes nothing.
	for _, p := range together {
		p.done <- insert(p.ctx, k.conn, k.into, p.rows)
	}
}

// insertAll inserts the rows of all as one block. None is written after the first deadline of them: a caller may no
// longer have the right to write then.
func (k groupKey) insertAll(all []*pendingRows) error {
	ctx := context.WithoutCancel(all[0].ctx)
	var rows [][]any
	var soonest time.Time
	for _, p := range all {
		if at, ok := p.ctx.Deadline(); ok && (soonest.IsZero() || at.Before(soonest)) {
			soonest = at
		}
		rows = append(rows, p.rows...)
	}
	if !soonest.IsZero() {
		limited, cancel := context.WithDeadline(ctx, soonest)
		defer cancel()
		ctx = limited
	}
	return insert(ctx, k.conn, k.into, rows)
}
