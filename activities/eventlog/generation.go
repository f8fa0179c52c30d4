package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// DefaultLease is how long a program may write a projection's tables before it looks again whether they
// are being rebuilt.
const DefaultLease = 8 * time.Second

// pollEvery is how often a program that waits for a rebuild looks.
const pollEvery = 100 * time.Millisecond

// Table is a table that a projector writes.
type Table struct {
	Name string
	// Column and Value select the projector's rows of a table that several projectors share.
	Column, Value string
	// Hidden is the SQL condition of rows that are stored and that no view shows.
	Hidden string
	// Varying are the columns that no view shows and that depend on how the events were paged.
	Varying []string
}

// StaleError refuses to add rows of one version of a projector to those of another.
type StaleError struct {
	Projector string
	// Stored is the version that made the rows, Program that of this program.
	Stored, Program uint32
}

func (e *StaleError) Error() string {
	if e.Stored > e.Program {
		return fmt.Sprintf("projection %q was made by version %d of its code, which is newer than this program's %d: run the newer program, or make it anew with: starter rebuild %s",
			e.Projector, e.Stored, e.Program, e.Projector)
	}
	return fmt.Sprintf("projection %q was made by version %d of its code, and this program has version %d: make it anew with: starter rebuild %s",
		e.Projector, e.Stored, e.Program, e.Projector)
}

var (
	// ErrRebuilding is returned when somebody else begins to rebuild the same projection.
	ErrRebuilding = errors.New("another rebuild of the projection has begun")
	errRenewed    = errors.New("projection was emptied by a rebuild")
)

// generation is one life of a projector's tables.
type generation struct {
	number uint64
	// ready is true once the tables were emptied for it.
	ready   bool
	version uint32
}

// hold is the right to write the tables of a generation: they are not emptied before it ends.
type hold struct {
	generation  uint64
	from, until time.Time
}

// generation returns the projector's newest generation; its number is 0 where there is none.
func (s *Store) generation(ctx context.Context, name string) (generation, error) {
	var g generation
	err := s.query(ctx, func(rows driver.Rows) error {
		var ready uint64
		err := rows.Scan(&g.number, &ready, &g.version)
		g.ready = ready == 1
		return err
	}, `SELECT generation, max(last_seq), argMax(version, last_seq) FROM projection_offsets_raw
		WHERE projector_name = ? AND stream = '' GROUP BY generation ORDER BY generation DESC LIMIT 1`, name)
	if err != nil {
		return generation{}, fmt.Errorf("read generation of %q: %w", name, err)
	}
	return g, nil
}

// hold returns the right to write the newest generation, once its tables are empty. A rebuild that broke
// off before that is begun anew.
func (s *Store) hold(ctx context.Context, p Projector) (hold, error) {
	var waitsFor uint64
	var since time.Time
	for {
		now := time.Now()
		g, err := s.generation(ctx, p.Name())
		if err != nil {
			return hold{}, err
		}
		if g.number == 0 {
			// The first one: whoever else writes it writes the same.
			g = generation{number: 1, ready: true, version: p.Version()}
			if err := s.note(ctx, p, g); err != nil {
				return hold{}, err
			}
		}
		if g.number != waitsFor {
			waitsFor, since = g.number, now
		}
		abandoned := now.Sub(since) > 3*s.Drain()
		switch {
		case g.version != p.Version() && (g.ready || abandoned):
			return hold{}, &StaleError{p.Name(), g.version, p.Version()}
		case g.ready:
			return hold{g.number, now, now.Add(s.opts.Lease)}, nil
		case abandoned:
			if err := s.takeOver(ctx, p, g.number); err != nil {
				return hold{}, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return hold{}, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// takeOver does what somebody who is gone has begun.
func (s *Store) takeOver(ctx context.Context, p Projector, number uint64) error {
	unlock, err := s.locks.lock(ctx, "generation of "+p.Name())
	if err != nil {
		return err
	}
	defer unlock()
	g, err := s.generation(ctx, p.Name())
	if err != nil || g.number != number {
		return err
	}
	if err := s.Renew(ctx, p); !errors.Is(err, ErrRebuilding) {
		return err
	}
	return nil
}

// extend makes the hold last, or returns [errRenewed] where a rebuild has begun. It asks the server only
// when half of the time is over.
func (s *Store) extend(ctx context.Context, p Projector, h *hold) error {
	now := time.Now()
	if now.Sub(h.from) < s.opts.Lease/2 {
		return nil
	}
	g, err := s.generation(ctx, p.Name())
	if err != nil {
		return err
	}
	if g.number != h.generation {
		return errRenewed
	}
	h.from, h.until = now, now.Add(s.opts.Lease)
	return nil
}

// Drain is how long a rebuild waits for those who write: the time of a hold, and that of a request which was
// sent at its end.
func (s *Store) Drain() time.Duration { return s.opts.Lease + s.opts.Lease/4 }

// Renew begins a rebuild: it has everybody who runs the projectors wait, lets end what they are at, and
// empties the tables. After that everybody applies the events again: [Store.ProjectAll] all of them,
// [Store.Project] those of its stream. A call that broke off is made good by the next one, or after a while
// by who waits for it. Where two do it at once, one gets [ErrRebuilding].
func (s *Store) Renew(ctx context.Context, projectors ...Projector) error {
	return s.renew(ctx, s.Drain(), projectors...)
}

// RenewNow is [Store.Renew] where nobody else runs the projectors: it waits for no one.
func (s *Store) RenewNow(ctx context.Context, projectors ...Projector) error {
	return s.renew(ctx, 0, projectors...)
}

func (s *Store) renew(ctx context.Context, wait time.Duration, projectors ...Projector) error {
	next := make([]generation, len(projectors))
	for i, p := range projectors {
		g, err := s.generation(ctx, p.Name())
		if err != nil {
			return err
		}
		// Two that begin at once take different numbers: the time tells them apart.
		next[i] = generation{number: max(g.number+1, uint64(s.opts.Now().UnixMicro())), version: p.Version()}
		// Noted before anything is lost: from here on nobody takes the tables for complete.
		if err := s.note(ctx, p, next[i]); err != nil {
			return err
		}
	}
	if wait > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
	for i, p := range projectors {
		if err := s.empty(ctx, p, next[i]); err != nil {
			return fmt.Errorf("empty projection %q: %w", p.Name(), err)
		}
	}
	return nil
}

// empty empties the tables for the generation, if it is the newest still.
func (s *Store) empty(ctx context.Context, p Projector, g generation) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Lease)
	defer cancel()
	newest, err := s.generation(ctx, p.Name())
	if err != nil {
		return err
	}
	if newest.number != g.number {
		return ErrRebuilding
	}
	for _, t := range p.Tables() {
		if t.Column == "" {
			err = s.conn.Exec(ctx, "TRUNCATE TABLE "+t.Name)
		} else {
			err = s.conn.Exec(ctx, "DELETE FROM "+t.Name+" WHERE "+t.Column+" = ?", t.Value)
		}
		if err != nil {
			return fmt.Errorf("empty table %q: %w", t.Name, err)
		}
	}
	g.ready = true
	return s.note(ctx, p, g)
}

func (s *Store) note(ctx context.Context, p Projector, g generation) error {
	w := offsetWriter{s: s, p: p, generation: g.number}
	row := offsetRow{stream: ""}
	if g.ready {
		row.LastSeq = 1
	}
	return w.write(ctx, []offsetRow{row})
}
