package projection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
)

// ErrSwitchAborted is returned if another program has called a switch off, because it took too long. Nothing has changed:
// try again.
var ErrSwitchAborted = clickhouse.Temporary("the switch to the new tables was called off by a program that had waited too long")

// SwitchOptions are the options of [Shadow.Switch].
type SwitchOptions struct {
	// Compare keeps a copy of the rows of then, old and new, for [Shadow.Compare].
	Compare bool
	// DryRun leaves the tables in use where they are.
	DryRun bool
}

// Switched is the result of [Shadow.Switch].
type Switched struct {
	// Generation is the number of the switch. [Shadow.Compare] wants it.
	Generation uint64
	// Events counts the late events, which were applied while writers waited.
	Events int
	// Waited is how long writers of the projections had to wait.
	Waited time.Duration
}

// decision is the outcome of a switch. The name of an empty table in the shadow records it, because the server renames
// a table once: of several programs that decide, only one succeeds.
type decision string

const (
	undecided  decision = "open"
	committed  decision = "decided"
	aborted    decision = "undone"
	noDecision decision = ""
)

func (sh *Shadow) decisionTable(number uint64, d decision) string {
	return fmt.Sprintf("switch_%d_%s", number, d)
}

// Switch swaps the tables of the shadow in. Programs that write the projections wait until it is done. Readers always
// find complete tables, old or new. It can be called again after a crash at any moment. If it is not, a waiting program
// either calls the switch off or finishes it. In the first case Switch returns [ErrSwitchAborted]. The projectors made
// write through the shadow's Conn, and those in use through the connection of the store.
func (sh *Shadow) Switch(ctx context.Context, o SwitchOptions, made, inUse []Projector) (Switched, error) {
	if err := sh.complete(ctx, made); err != nil {
		return Switched{}, err
	}
	if err := sh.approach(ctx, o, made, inUse); err != nil {
		return Switched{}, err
	}
	began := time.Now()
	number, d, err := sh.announce(ctx, made)
	if err != nil {
		return Switched{}, err
	}
	out := Switched{Generation: number}
	if d == undecided {
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-time.After(sh.current.Drain()):
		}
		if out.Events, err = sh.lastRows(ctx, o, number, made, inUse); err != nil {
			return out, err
		}
		d = committed
		if o.DryRun {
			d = aborted
		}
		if d, err = sh.decide(ctx, number, d); err != nil {
			return out, err
		}
	}
	if d == aborted {
		for _, p := range made {
			if err := sh.current.restore(ctx, p, number); err != nil {
				return out, err
			}
		}
		out.Waited = time.Since(began)
		if o.DryRun {
			return out, nil
		}
		return out, ErrSwitchAborted
	}
	err = sh.adoptAll(ctx, made, number)
	out.Waited = time.Since(began)
	return out, err
}

// approach applies the backlog before other programs have to wait, unless the switch has begun already.
func (sh *Shadow) approach(ctx context.Context, o SwitchOptions, made, inUse []Projector) error {
	current, err := sh.current.generations(ctx)
	if err != nil {
		return err
	}
	for _, p := range made {
		if current[p.Name()].shadow == sh.id {
			return nil
		}
	}
	for _, p := range made {
		if _, err := sh.catchUp(ctx, p); err != nil {
			return err
		}
	}
	if !o.Compare {
		return nil
	}
	for _, p := range inUse {
		var stale *StaleError
		if _, err := sh.current.ProjectAll(ctx, p); err != nil && !errors.As(err, &stale) {
			return err
		}
	}
	return nil
}

// announce records the generation that the switch begins, or finds the one of an interrupted call. From here on,
// programs that want to write wait.
func (sh *Shadow) announce(ctx context.Context, projectors []Projector) (uint64, decision, error) {
	current, err := sh.current.generations(ctx)
	if err != nil {
		return 0, noDecision, err
	}
	last, mine := uint64(0), uint64(0)
	for _, p := range projectors {
		g := current[p.Name()]
		last = max(last, g.number)
		if g.shadow == sh.id {
			mine = max(mine, g.number)
		}
	}
	d := aborted
	if mine > 0 {
		if d, err = sh.decision(ctx, mine); err != nil || d == committed {
			return mine, d, err
		}
	}
	if d != undecided {
		mine = sh.current.numberAfter(last)
		if err := sh.Home.Exec(ctx, "CREATE TABLE "+sh.table(sh.decisionTable(mine, undecided))+" (x UInt8) ENGINE = Null"); err != nil {
			return 0, noDecision, fmt.Errorf("begin a switch: %w", err)
		}
	}
	for _, p := range projectors {
		sh.current.forget(p)
		g := current[p.Name()]
		if g.number > mine {
			return 0, noDecision, fmt.Errorf("switch projection %q: %w", p.Name(), ErrRebuilding)
		}
		if g.number == mine {
			continue
		}
		if err := sh.current.note(ctx, p, generation{number: mine, version: p.Version(), shadow: sh.id}); err != nil {
			return 0, noDecision, err
		}
	}
	return mine, undecided, nil
}

// decision returns the outcome of the switch.
func (sh *Shadow) decision(ctx context.Context, number uint64) (decision, error) {
	tables, err := sh.current.tablesOf(ctx, sh.Database)
	if err != nil {
		return noDecision, err
	}
	for _, d := range []decision{undecided, committed, aborted} {
		if _, ok := tables[sh.decisionTable(number, d)]; ok {
			return d, nil
		}
	}
	return noDecision, nil
}

// decide decides about the switch, unless another program has, and returns the decision.
func (sh *Shadow) decide(ctx context.Context, number uint64, d decision) (decision, error) {
	err := sh.Home.Exec(ctx, "RENAME TABLE "+sh.table(sh.decisionTable(number, undecided))+" TO "+sh.table(sh.decisionTable(number, d)))
	if err != nil && !clickhouse.HasCode(err, clickhouse.CodeUnknownTable, clickhouse.CodeTableExists) {
		return noDecision, fmt.Errorf("decide about a switch: %w", err)
	}
	return sh.decision(ctx, number)
}

// lastRows applies the last events, to the tables in use too if they are compared. No other program writes rows
// meanwhile, but some append events: both tables get the same ones, so that no reader sees a row that is gone later.
func (sh *Shadow) lastRows(ctx context.Context, o SwitchOptions, number uint64, made, inUse []Projector) (events int, err error) {
	if begun, err := sh.backUpBegan(ctx, number); err != nil || begun {
		// The attempt that began the copies had applied the last events. Later ones must be in none of them.
		return 0, errors.Join(err, sh.backUpAll(ctx, tableNames(made), number))
	}
	for _, p := range made {
		done, err := sh.catchUp(ctx, p)
		if err != nil {
			return events, err
		}
		events += done.Events
	}
	if !o.Compare {
		return events, nil
	}
	for _, p := range inUse {
		g, err := sh.current.readyBefore(ctx, p.Name(), number)
		if err != nil {
			return events, err
		}
		if g.version != p.Version() {
			continue // Other code has made the rows, and no other may add to them.
		}
		if err := sh.current.newPass(p, exclusive(g.number)).all(ctx, p.StreamPrefix(), sh.ends(p)); err != nil {
			return events, err
		}
	}
	return events, sh.backUpAll(ctx, tableNames(made), number)
}

// ends are the ends up to which the projector's streams are applied in the shadow.
func (sh *Shadow) ends(p Projector) streamEnds {
	return func(prefix, after string) (string, []any) {
		return `SELECT stream AS name, max(last_seq) AS last FROM ` + sh.shadow.offsetsTable + ` WHERE projector_name = ? AND generation = ?
			AND startsWith(stream, ?) AND stream > ? GROUP BY stream`, []any{p.Name(), uint64(shadowGeneration), prefix, after}
	}
}

// tablesAtOnce is how many tables are marked, copied or exchanged at a time: each takes a few statements that have
// little to do.
const tablesAtOnce = 4

// adoptAll puts the tables of the projectors in place, for which writers wait. Those that share a table take turns.
func (sh *Shadow) adoptAll(ctx context.Context, projectors []Projector, number uint64) error {
	adoptions, ctx := errgroup.WithContext(ctx)
	adoptions.SetLimit(tablesAtOnce)
	for len(projectors) > 0 {
		sharing := projectors[:1]
		for n := 0; n < len(sharing); {
			n, sharing = len(sharing), RebuildSet(projectors, sharing)
		}
		projectors = slices.DeleteFunc(slices.Clone(projectors), func(p Projector) bool {
			return slices.ContainsFunc(sharing, func(s Projector) bool { return s.Name() == p.Name() })
		})
		adoptions.Go(func() error {
			for _, p := range sharing {
				if err := sh.adopt(ctx, p, number); err != nil {
					return fmt.Errorf("put projection %q in place: %w", p.Name(), err)
				}
			}
			return nil
		})
	}
	return adoptions.Wait()
}

// adopt swaps the projector's tables in and records that its generation is ready. Several programs may call it at once.
func (sh *Shadow) adopt(ctx context.Context, p Projector, number uint64) error {
	for _, t := range p.Tables() {
		if err := sh.exchange(ctx, t.Name); err != nil {
			return fmt.Errorf("exchange table %q: %w", t.Name, err)
		}
		if err := sh.copyForeignRows(ctx, t); err != nil {
			return err
		}
	}
	if err := sh.current.copyOffsets(ctx, p.Name(), sh.shadow.offsetsTable, shadowGeneration, number); err != nil {
		return err
	}
	return sh.current.note(ctx, p, generation{number: number, ready: true, version: p.Version(), shadow: sh.id})
}

// exchangeTries bounds how often a table is claimed that others claim too.
const exchangeTries = 20

// exchange exchanges the table in use with that of the shadow, once, even if other programs do the same or are killed
// at any moment. To exchange a table a program first gives it a name that no other program knows. If that program is
// killed, the next one renames the table again: the statement of the first then finds no table.
func (sh *Shadow) exchange(ctx context.Context, name string) error {
	var failed error
	for range exchangeTries {
		from, done, err := sh.claimable(ctx, name)
		if err != nil || done {
			return err
		}
		own := fmt.Sprintf("%s%d", claimPrefix(name), rand.Uint64())
		if failed = sh.Home.Exec(ctx, "RENAME TABLE "+sh.table(from)+" TO "+sh.table(own)); failed != nil {
			if clickhouse.HasCode(failed, clickhouse.CodeUnknownTable) {
				continue
			}
			return failed
		}
		tables, err := sh.current.tablesOf(ctx, sh.Database)
		if err != nil {
			return err
		}
		if tables[own] != sh.mark() {
			continue // An earlier claimant has exchanged it, or a later one has claimed it.
		}
		failed = sh.Home.Exec(ctx, "EXCHANGE TABLES "+clickhouse.Identifier(name)+" AND "+sh.table(own))
		if failed != nil && !clickhouse.HasCode(failed, clickhouse.CodeUnknownTable) {
			return failed
		}
	}
	return failed
}

// claimPrefix is the prefix of the names that programs give to a table of the shadow before they exchange it.
func claimPrefix(name string) string { return name + "_claimed_" }

// claimable returns the name under which a program can claim the table of the shadow, or that it is in use already.
func (sh *Shadow) claimable(ctx context.Context, name string) (from string, done bool, err error) {
	tables, err := sh.current.tablesOf(ctx, sh.Database)
	if err != nil {
		return "", false, err
	}
	for table, comment := range tables {
		switch {
		case table != name && !strings.HasPrefix(table, claimPrefix(name)):
		case comment != sh.mark():
			return "", true, nil
		default:
			from = table
		}
	}
	if from == "" {
		return "", false, fmt.Errorf("table %q of %q: %w", name, sh.Database, ErrShadowGone)
	}
	return from, false, nil
}

// replaced returns the name of the table in the shadow that was in use before, or nothing.
func (sh *Shadow) replaced(ctx context.Context, name string) (string, error) {
	tables, err := sh.current.tablesOf(ctx, sh.Database)
	if err != nil {
		return "", err
	}
	for table, comment := range tables {
		if strings.HasPrefix(table, claimPrefix(name)) && comment != sh.mark() {
			return table, nil
		}
	}
	return "", nil
}

// copyForeignRows copies the rows of projectors that the rebuild did not know from the old table: for example of an
// embedding version that a worker began meanwhile.
func (sh *Shadow) copyForeignRows(ctx context.Context, t Table) error {
	if t.Column == "" {
		return nil
	}
	old, err := sh.replaced(ctx, t.Name)
	if err != nil || old == "" {
		return err
	}
	values, err := sh.valuesOf(ctx, t)
	if err != nil {
		return err
	}
	err = sh.Home.Exec(clickhouse.SyncInsert(ctx), "INSERT INTO "+clickhouse.Identifier(t.Name)+" SELECT * FROM "+sh.table(old)+" WHERE "+clickhouse.Identifier(t.Column)+" NOT IN ?", clickhouse.Set(values))
	if err != nil {
		return fmt.Errorf("copy rows of others in table %q: %w", t.Name, err)
	}
	return nil
}

// valuesOf returns which rows of a shared table the shadow was filled with.
func (sh *Shadow) valuesOf(ctx context.Context, t Table) ([]string, error) {
	filled, err := sh.shadow.generations(ctx)
	if err != nil {
		return nil, err
	}
	out := []string{t.Value}
	for name := range filled {
		// The name of a projector that shares a table ends with the value of its column.
		if _, value, ok := strings.Cut(name, "/"); ok && value != t.Value {
			out = append(out, value)
		}
	}
	return out, nil
}

// Finish drops the leftovers of the rebuild: the tables replaced, or the new ones if they are not used.
func (sh *Shadow) Finish(ctx context.Context, projectors []Projector) error {
	for _, p := range projectors {
		for _, t := range p.Tables() {
			// By now no program writes that did not see the new tables.
			if err := sh.copyForeignRows(ctx, t); err != nil {
				return err
			}
		}
	}
	return sh.Drop(ctx)
}

// resolveSwitch ends a switch whose program is gone: it calls it off, unless tables were exchanged already.
func (s *Store) resolveSwitch(ctx context.Context, p Projector, g generation) error {
	scratch, err := clickhouse.NamedScratch(ctx, s.db.Conn, clickhouse.ScratchKey{Purpose: clickhouse.PurposeRebuild, ID: g.shadow})
	if err != nil {
		return err
	}
	sh := s.shadow(scratch, g.shadow)
	d, err := sh.decide(ctx, g.number, aborted)
	switch {
	case err != nil && !clickhouse.HasCode(err, clickhouse.CodeUnknownDatabase):
		return err
	case d == committed:
		return sh.adopt(ctx, versioned{p, g.version}, g.number)
	default:
		return s.restore(ctx, p, g.number)
	}
}

// restore makes the generation before the number the current one again, under a number of its own.
func (s *Store) restore(ctx context.Context, p Projector, number uint64) error {
	old, err := s.readyBefore(ctx, p.Name(), number)
	if err != nil {
		return err
	}
	next := generation{number: number | 1, ready: true, version: p.Version(), shadow: old.shadow}
	if old.number > 0 {
		next.version = old.version
		if err := s.copyOffsets(ctx, p.Name(), s.offsetsTable, old.number, next.number); err != nil {
			return err
		}
	}
	return s.note(ctx, p, next)
}

// readyBefore returns the newest generation below the number whose tables were in place.
func (s *Store) readyBefore(ctx context.Context, name string, number uint64) (g generation, err error) {
	err = s.db.Query(ctx, func(rows driver.Rows) error {
		g.ready = true
		return rows.Scan(&g.number, &g.version, &g.shadow)
	}, `SELECT generation, version, last_event_id FROM `+s.offsetsTable+` FINAL
		WHERE projector_name = ? AND stream = '' AND last_seq = 1 AND generation < ? ORDER BY generation DESC LIMIT 1`, name, number)
	if err != nil {
		return g, fmt.Errorf("read generations: %w", err)
	}
	return g, nil
}

// copyOffsets copies the projector's offsets of a generation from a table.
func (s *Store) copyOffsets(ctx context.Context, name, table string, from, to uint64) error {
	err := s.db.Conn.Exec(clickhouse.SyncInsert(ctx), `INSERT INTO `+s.offsetsTable+` (projector_name, stream, last_seq, last_ts, last_event_id, generation, version)
		SELECT projector_name, stream, last_seq, last_ts, last_event_id, ?, version FROM `+table+` FINAL
		WHERE projector_name = ? AND generation = ? AND stream != ''`, to, name, from)
	if err != nil {
		return fmt.Errorf("copy offsets of %q: %w", name, err)
	}
	return nil
}

// BeginShadow makes the shadow with the id, which is of letters and digits, and records the end of the log. It can be
// called again. An interrupted switch of another rebuild is ended first.
func (s *Store) BeginShadow(ctx context.Context, id string, projectors ...Projector) (*Shadow, error) {
	if err := s.endSwitches(ctx, projectors, func(other string) bool { return other != id }); err != nil {
		return nil, err
	}
	scratch, err := clickhouse.OpenScratch(ctx, s.db.Conn, clickhouse.ScratchKey{Purpose: clickhouse.PurposeRebuild, ID: id})
	if err != nil {
		return nil, err
	}
	sh := s.shadow(scratch, id)
	if err := sh.begin(ctx, projectors); err != nil {
		_ = sh.Close()
		return nil, fmt.Errorf("begin a rebuild in %q: %w", sh.Database, err)
	}
	return sh, nil
}
