package projection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// pollEvery is how often a program that waits for a rebuild checks for its end.
const pollEvery = 100 * time.Millisecond

// patience is how many times the time of [Store.Drain] a program waits for new tables before it takes the rebuild for
// gone. Temporal starts an activity again before that whose worker was killed.
const patience = 8

var (
	// ErrRebuilding is returned if another program starts to rebuild the same projection.
	ErrRebuilding = clickhouse.Temporary("another rebuild of the projection has begun")
	errRenewed    = errors.New("projection was rebuilt meanwhile")
)

// generation is the period between two rebuilds of a projector's tables.
type generation struct {
	number uint64
	// ready is true once the tables of this generation are in place. Until then no program writes them.
	ready   bool
	version uint32
	// shadow is the id of the [Shadow] that the tables come from. It is empty for the first generation.
	shadow string
}

// lease is the right to write the tables of a generation. Others do not take their place before it expires.
type lease struct {
	generation  uint64
	from, until time.Time
	// exclusive is true if no other program may write: the lease needs no renewal.
	exclusive bool
}

// exclusive returns the lease of a program that alone writes the generation.
func exclusive(generation uint64) lease { return lease{generation: generation, exclusive: true} }

// leases are the newest generations of all projectors, as the server last reported them.
type leases struct {
	mu sync.Mutex
	of map[string]generation
	at time.Time
}

// cachedGeneration returns the projector's generation and the time when the server was asked for it, if that was less
// than half of a lease ago.
func (s *Store) cachedGeneration(name string) (generation, time.Time, bool) {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	g, ok := s.leases.of[name]
	return g, s.leases.at, ok && time.Since(s.leases.at) < s.opts.Lease/2
}

// leasable returns the newest generation of the projector, and the time when the server was asked for it. One request
// returns the generations of all projectors.
func (s *Store) leasable(ctx context.Context, p Projector) (generation, time.Time, error) {
	if g, at, ok := s.cachedGeneration(p.Name()); ok && g.ready && g.version == p.Version() {
		return g, at, nil
	}
	// One caller asks the server and the others reuse its answer. No caller waits longer than its own deadline.
	unlock, err := s.locks.Lock(ctx, "generations")
	if err != nil {
		return generation{}, time.Now(), err
	}
	defer unlock()
	if g, at, ok := s.cachedGeneration(p.Name()); ok && g.ready && g.version == p.Version() {
		return g, at, nil
	}
	now := time.Now()
	all, err := s.refreshGenerations(ctx)
	return all[p.Name()], now, err
}

// refreshGenerations asks the server for the generations of all projectors, and at the same time for erasures, and caches both. Its
// caller has the lock "generations".
func (s *Store) refreshGenerations(ctx context.Context) (map[string]generation, error) {
	now := time.Now()
	all, err := s.generations(ctx)
	if err != nil {
		return nil, err
	}
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	s.leases.of, s.leases.at = maps.Clone(all), now // The caller reads all without the lock.
	return all, nil
}

// askForErasures has the log ask for erasures in the request for the generations. An answer to another caller that this one
// has waited for will do.
func (s *Store) askForErasures(ctx context.Context) error {
	began := time.Now()
	unlock, err := s.locks.Lock(ctx, "generations")
	if err != nil {
		return err
	}
	defer unlock()
	s.leases.mu.Lock()
	asked := s.leases.at
	s.leases.mu.Unlock()
	if asked.After(began) {
		return nil
	}
	_, err = s.refreshGenerations(ctx)
	return err
}

// begin records the first generation of a projector.
func (l *leases) begin(name string, g generation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[name] = g
}

// expire makes the next lease last for its whole time.
func (l *leases) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = time.Time{}
}

// forget drops the remembered state of the projector.
func (s *Store) forget(p Projector) {
	s.leases.mu.Lock()
	delete(s.leases.of, p.Name())
	s.leases.mu.Unlock()
	s.offsets.forget(p.Name())
}

// generation returns the projector's newest generation. Its number is 0 if there is none.
func (s *Store) generation(ctx context.Context, name string) (generation, error) {
	all, err := s.generations(ctx)
	return all[name], err
}

// generations returns the newest generation of each projector. It compares the rows here, of which each rebuild leaves three
// a projector: every store asks in each half of a lease, and an aggregation would double the time. The same request shows
// whether the store knows all erasures, and it reads the missing ones.
func (s *Store) generations(ctx context.Context) (map[string]generation, error) {
	out := map[string]generation{}
	now, audit := time.Now(), uint64(0)
	err := s.db.Query(ctx, func(rows driver.Rows) error {
		var name string
		var g generation
		var ready uint64
		err := rows.Scan(&name, &g.number, &ready, &g.version, &g.shadow)
		g.ready = ready == 1
		old := out[name]
		switch {
		case name == "":
			audit = g.number
		case g.number > old.number, g.number == old.number && g.ready:
			out[name] = g
		}
		return err
	}, `SELECT toString(projector_name), generation, last_seq, version, last_event_id FROM `+s.offsetsTable+` WHERE stream = ''
		UNION ALL SELECT '', seq, toUInt64(0), toUInt32(0), '' FROM (`+eventlog.LastPosition+`)`, schema.AuditStream())
	if err != nil {
		return nil, fmt.Errorf("read generations: %w", err)
	}
	return out, s.LearnErasures(ctx, audit, now)
}

// numberAfter returns a number above the last one. Rebuilds that begin at the same time get different numbers, even if
// the clocks of their machines differ.
func (s *Store) numberAfter(last uint64) uint64 {
	const apart = 1 << 20
	// It is even: the odd one that follows is for calling the rebuild off.
	return (max(last, uint64(s.opts.Now().UnixMicro())) + 2 + 2*rand.Uint64N(apart)) &^ 1
}

// note records the generation.
func (s *Store) note(ctx context.Context, p Projector, g generation) error {
	row := offsetRow{version: g.version, Offset: Offset{LastEventID: g.shadow}}
	if g.ready {
		row.LastSeq = 1
	}
	err := s.writeOffsets(ctx, map[offsetKey]offsetRow{{p.Name(), "", g.number}: row})
	if err != nil {
		return fmt.Errorf("note generation of %q: %w", p.Name(), err)
	}
	return nil
}
