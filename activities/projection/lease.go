package projection

import (
	"context"
	"fmt"
	"time"
)

// acquireLease returns the right to write the newest generation, once its tables are in place. If the rebuild that
// should swap them in is gone, acquireLease calls it off, or finishes it. A lease of which less than half has passed is
// reused.
func (s *Store) acquireLease(ctx context.Context, p Projector) (lease, error) {
	var waitsFor uint64
	var since time.Time
	for {
		g, now, err := s.leasable(ctx, p)
		if err != nil {
			return lease{}, err
		}
		if g.number == 0 {
			// This is the first generation. Another program that records it at the same time writes the same row.
			g = generation{number: 1, ready: true, version: p.Version()}
			if err := s.note(ctx, p, g); err != nil {
				return lease{}, err
			}
			s.leases.begin(p.Name(), g)
		}
		if g.number != waitsFor {
			waitsFor, since = g.number, now
		}
		abandoned := now.Sub(since) > patience*s.Drain()
		switch {
		case g.version != p.Version() && g.ready:
			return lease{}, &StaleError{p.Name(), g.version, p.Version()}
		case g.ready:
			return lease{generation: g.number, from: now, until: now.Add(s.opts.Lease)}, nil
		case abandoned:
			if err := s.takeOver(ctx, p, g.number); err != nil {
				return lease{}, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return lease{}, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// takeOver ends a switch to new tables whose program is gone.
func (s *Store) takeOver(ctx context.Context, p Projector, number uint64) error {
	unlock, err := s.locks.Lock(ctx, "generation of "+p.Name())
	if err != nil {
		return err
	}
	defer unlock()
	g, err := s.generation(ctx, p.Name())
	if err != nil || g.number != number || g.ready {
		return err
	}
	defer s.leases.expire()
	if err := s.resolveSwitch(ctx, p, g); err != nil {
		return fmt.Errorf("end a rebuild of %q that broke off: %w", p.Name(), err)
	}
	return nil
}

// renewLease renews the lease, or returns [errRenewed] if a rebuild has begun. It asks the server only after half of
// the time has passed.
func (s *Store) renewLease(ctx context.Context, p Projector, l *lease) error {
	if l.exclusive || time.Since(l.from) < s.opts.Lease/2 {
		return nil
	}
	g, now, err := s.leasable(ctx, p)
	if err != nil {
		return err
	}
	if g.number != l.generation {
		s.forget(p)
		return errRenewed
	}
	l.from, l.until = now, now.Add(s.opts.Lease)
	return nil
}

// Drain is how long a rebuild waits for other writers: the time of a lease, and that of a request sent at its end.
func (s *Store) Drain() time.Duration { return s.opts.Lease + s.opts.Lease/4 }

// EndSwitch ends an interrupted switch of the rebuild with the id: it calls it off, unless tables were exchanged
// already.
func (s *Store) EndSwitch(ctx context.Context, id string, projectors ...Projector) error {
	return s.endSwitches(ctx, projectors, func(of string) bool { return of == id })
}

// endSwitches ends the interrupted switches of the projectors to the tables of some shadows.
func (s *Store) endSwitches(ctx context.Context, projectors []Projector, of func(shadow string) bool) error {
	current, err := s.generations(ctx)
	if err != nil {
		return err
	}
	for _, p := range projectors {
		if g := current[p.Name()]; g.number > 0 && !g.ready && of(g.shadow) {
			if err := s.takeOver(ctx, p, g.number); err != nil {
				return err
			}
		}
	}
	return nil
}
