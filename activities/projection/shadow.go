package projection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
)

// shadowGeneration is the only generation of a projection in a shadow.
const shadowGeneration = 1

// horizon is the table of a shadow that records the end of each stream at the start of the rebuild.
const horizon = "rebuild_horizon"

// ErrShadowGone is returned if the tables that a rebuild has filled are not there any more.
var ErrShadowGone = errors.New("the tables of the rebuild are gone")

// Shadow is a scratch database in which projections are rebuilt from the events of the log, while other programs write
// and read the tables in use. [Shadow.Switch] swaps the new tables in.
type Shadow struct {
	*clickhouse.Scratch
	id string
	// current is the store of the database in use. shadow reads the same events and keeps the offsets of the new rows.
	current, shadow *Store
}

// OpenShadow opens the shadow that [Store.BeginShadow] has made, or returns [ErrShadowGone].
func (s *Store) OpenShadow(ctx context.Context, id string) (*Shadow, error) {
	key := clickhouse.ScratchKey{Purpose: clickhouse.PurposeRebuild, ID: id}
	named, err := clickhouse.NamedScratch(ctx, s.db.Conn, key)
	if err != nil {
		return nil, err
	}
	tables, err := s.tablesOf(ctx, named.Database)
	if err != nil {
		return nil, err
	}
	if _, ok := tables[horizon]; !ok {
		return nil, fmt.Errorf("open the rebuild %q: %w", id, ErrShadowGone)
	}
	scratch, err := clickhouse.MakeScratch(ctx, s.db.Conn, key)
	if err != nil {
		return nil, err
	}
	return s.shadow(scratch, id), nil
}

func (s *Store) shadow(scratch *clickhouse.Scratch, id string) *Shadow {
	made := newStore(s.Store, s.db, s.opts)
	made.offsetsTable = clickhouse.Identifier(scratch.Database) + "." + currentOffsets
	return &Shadow{Scratch: scratch, id: id, current: s, shadow: made}
}

// tablesOf returns the comments of the tables of a database by their names. On a cluster the local tables have them.
func (s *Store) tablesOf(ctx context.Context, database string) (map[string]string, error) {
	out := map[string]string{}
	suffix := clickhouse.ClusterOf(s.db.Conn).Local("")
	err := s.db.Query(ctx, clickhouse.Map(out, func(rows driver.Rows, name, comment *string) error { return rows.Scan(name, comment) }),
		`SELECT left(name, length(name) - length(?)), comment FROM system.tables WHERE database = ? AND endsWith(name, ?)`, suffix, database, suffix)
	if err != nil {
		return nil, fmt.Errorf("list tables of %q: %w", database, err)
	}
	return out, nil
}

// mark is the comment of the tables that were made in the shadow, wherever they are now.
func (sh *Shadow) mark() string { return "made by rebuild " + sh.id }

func (sh *Shadow) begin(ctx context.Context, projectors []Projector) error {
	tables, err := sh.current.tablesOf(ctx, sh.Database)
	if err != nil {
		return err
	}
	marks, marking := errgroup.WithContext(ctx)
	marks.SetLimit(tablesAtOnce)
	for _, name := range tableNames(projectors) {
		comment, ok := tables[name]
		if !ok || comment == sh.mark() {
			continue // A table that is gone was put in place already.
		}
		marks.Go(func() error {
			return sh.Home.Exec(marking, "ALTER TABLE "+sh.table(name)+" MODIFY COMMENT "+clickhouse.Literal(sh.mark()))
		})
	}
	if err := marks.Wait(); err != nil {
		return err
	}
	if _, ok := tables[horizon]; ok {
		return nil
	}
	// It must never be replaced by a later one, which knows of events that the tables lack. So it is made under a name of
	// its own: to be given the right one succeeds only once.
	own := fmt.Sprintf("%s_%d", horizon, rand.Uint64())
	err = sh.Home.Exec(ctx, "CREATE TABLE "+sh.table(own)+` (stream String, last_seq UInt64, last_ts DateTime64(6, 'UTC'))
		ENGINE = MergeTree ORDER BY stream`)
	if err != nil {
		return err
	}
	err = sh.Home.Exec(clickhouse.SyncInsert(ctx), "INSERT INTO "+sh.table(own)+` SELECT stream, max(seq), argMax(ts, seq)
		FROM events_raw GROUP BY stream`)
	if err != nil {
		return err
	}
	err = sh.Home.Exec(ctx, "RENAME TABLE "+sh.table(own)+" TO "+sh.table(horizon))
	if clickhouse.HasCode(err, clickhouse.CodeTableExists) {
		return nil
	}
	return err
}

// table returns the name of a table of the shadow as a query on the database in use names it.
func (sh *Shadow) table(name string) string {
	return clickhouse.Identifier(sh.Database) + "." + clickhouse.Identifier(name)
}

// tableNames returns the names of the projectors' tables, each once, in order.
func tableNames(projectors []Projector) []string {
	var out []string
	for _, p := range projectors {
		for _, t := range p.Tables() {
			out = append(out, t.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// RebuildSet returns the projectors to rebuild with the named ones: these, and those that share a table with them.
func RebuildSet(all, named []Projector) []Projector {
	tables := tableNames(named)
	var out []Projector
	for _, p := range all {
		if slices.ContainsFunc(p.Tables(), func(t Table) bool { return slices.Contains(tables, t.Name) }) {
			out = append(out, p)
		}
	}
	return out
}

// Filled is the result of [Shadow.Fill].
type Filled struct {
	// Place is where to go on. Done is true if there is nothing more.
	Place eventlog.Place
	Done  bool
	// Events counts the applied events, and Pages the blocks in which they were read.
	Events, Pages int
}

// Fill makes the projector's rows in the shadow from the events after the place, until the time or the end of the log.
// Called again with the same place it makes the same rows. The projector's connection is the shadow's Conn. Memory is
// bounded by the options of the store: a page of events over many streams, and their rows. It calls report after each
// page.
func (sh *Shadow) Fill(ctx context.Context, p Projector, after eventlog.Place, until time.Time, report func(Filled)) (Filled, error) {
	out, run := Filled{Place: after}, sh.pass(p)
	for page, err := range sh.shadow.Pages(ctx, eventlog.Range{Prefix: p.StreamPrefix(), Types: p.Types(), After: after}) {
		if err != nil {
			return out, fmt.Errorf("fill projection %q: %w", p.Name(), err)
		}
		if err := run.apply(ctx, page.Events); err != nil {
			return out, fmt.Errorf("fill projection %q up to %q: %w", p.Name(), page.Last.Stream, err)
		}
		out.Place = page.Last
		out.Events += len(page.Events)
		out.Pages++
		report(out)
		if page.More && !time.Now().Before(until) {
			return out, nil
		}
	}
	out.Done = true
	return out, sh.filled(ctx, p)
}

// filled records that the projector's rows are complete up to the horizon.
func (sh *Shadow) filled(ctx context.Context, p Projector) error {
	err := sh.Home.Exec(clickhouse.SyncInsert(ctx), `INSERT INTO `+sh.shadow.offsetsTable+` (projector_name, stream, last_seq, last_ts, last_event_id, generation, version)
		SELECT ?, stream, last_seq, last_ts, '', ?, ? FROM `+sh.table(horizon)+` WHERE startsWith(stream, ?)`,
		p.Name(), uint64(shadowGeneration), p.Version(), p.StreamPrefix())
	if err != nil {
		return fmt.Errorf("note offsets of %q: %w", p.Name(), err)
	}
	return sh.shadow.note(ctx, p, generation{number: shadowGeneration, ready: true, version: p.Version()})
}

// complete refuses a projection that was not filled.
func (sh *Shadow) complete(ctx context.Context, projectors []Projector) error {
	filled, err := sh.shadow.generations(ctx)
	if err != nil {
		return err
	}
	for _, p := range projectors {
		if g := filled[p.Name()]; !g.ready || g.version != p.Version() {
			return fmt.Errorf("projection %q was not filled in %q: %w", p.Name(), sh.Database, ErrShadowGone)
		}
	}
	return nil
}
