package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/pflag"

	"axiommind/activities/eventlog"
)

type rebuildOptions struct {
	verify, now bool
}

func (a *app) rebuildCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	o := &rebuildOptions{}
	f.BoolVar(&o.verify, "verify", false, "compare the rows before and after, table by table, and fail where they differ")
	f.BoolVar(&o.now, "now", false, "don't wait for workers to end what they are writing: no worker runs")
	return func(ctx context.Context, names []string) error { return a.rebuild(ctx, o, names) }
}

// rebuilt is what became of one projection.
type rebuilt struct {
	Name    string         `json:"name"`
	Streams int            `json:"streams"`
	Events  int            `json:"events"`
	Rows    uint64         `json:"rows"`
	Seconds float64        `json:"seconds"`
	Tables  []rebuiltTable `json:"tables"`

	projector eventlog.Projector
}

type rebuiltTable struct {
	Name  string          `json:"name"`
	After eventlog.Digest `json:"after"`
	// Before and Difference are there with --verify, the first unless the table was not there, the second where
	// the rows are not the same.
	Before     *eventlog.Digest `json:"before,omitempty"`
	Difference *difference      `json:"difference,omitempty"`

	table    eventlog.Table
	snapshot *snapshot
}

// rebuildReport is what the command prints.
type rebuildReport struct {
	// Restored are the tables and views that were not there.
	Restored    []string   `json:"restored,omitempty"`
	Projections []*rebuilt `json:"projections"`
}

// rebuild makes the projections anew. Killed at any moment it is finished by calling it again.
func (a *app) rebuild(ctx context.Context, o *rebuildOptions, names []string) error {
	if err := a.checkFamilies(ctx, names); err != nil {
		return err
	}
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	log := eventlog.New(conn, eventlog.Options{})
	var report rebuildReport
	var projectors []eventlog.Projector
	if report.Restored, projectors, err = a.restore(ctx, conn, log, names); err != nil {
		return err
	}
	standings, err := log.Standings(ctx, projectors...)
	if err != nil {
		return err
	}
	total := 0
	for i, p := range projectors {
		r := &rebuilt{Name: p.Name(), projector: p}
		for _, t := range p.Tables() {
			r.Tables = append(r.Tables, rebuiltTable{Name: t.Name, table: t})
		}
		report.Projections = append(report.Projections, r)
		total += int(standings[i].Events)
	}
	if o.verify {
		defer report.forget()
		if err := report.remember(ctx, log); err != nil {
			return err
		}
	}
	if err := a.emptyProjections(ctx, log, o, projectors); err != nil {
		return err
	}
	if err := a.applyAll(ctx, log, &report, total); err != nil {
		return fmt.Errorf("%w\nThe projections are incomplete: run the command again", err)
	}
	if err := report.compare(ctx, log); err != nil {
		return err
	}
	if err := a.print(report, func(w io.Writer) error { return printRebuild(w, report, o.verify) }); err != nil {
		return err
	}
	if n := report.differing(); n > 0 {
		return fmt.Errorf("%s not the same after the rebuild", plural(n, "table is", "tables are"))
	}
	return nil
}

// restore makes what is not there, and returns the projectors with the names. A table that was dropped comes back
// empty, and so its projection has to be among them.
func (a *app) restore(ctx context.Context, conn driver.Conn, log *eventlog.Store, names []string) ([]string, []eventlog.Projector, error) {
	if _, err := eventlog.Migrate(ctx, conn); err != nil {
		return nil, nil, err
	}
	missing, err := eventlog.MissingTables(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	if err := a.checkLeftOut(ctx, missing, names); err != nil {
		return nil, nil, err
	}
	restored, err := eventlog.RestoreTables(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	projectors, err := a.projections(ctx, conn, log)
	if err != nil {
		return nil, nil, err
	}
	projectors, err = named(projectors, names)
	return restored, projectors, err
}

// emptyProjections empties the tables when nobody writes them.
func (a *app) emptyProjections(ctx context.Context, log *eventlog.Store, o *rebuildOptions, projectors []eventlog.Projector) error {
	var err error
	if o.now {
		err = log.RenewNow(ctx, projectors...)
	} else {
		_, _ = fmt.Fprintf(a.errOut, "waiting %s for workers to end what they are writing\n", log.Drain())
		err = log.Renew(ctx, projectors...)
	}
	if errors.Is(err, eventlog.ErrRebuilding) {
		return fmt.Errorf("%w: wait for it, or run the command again", err)
	}
	return err
}

func (a *app) applyAll(ctx context.Context, log *eventlog.Store, report *rebuildReport, total int) error {
	bar := a.newProgress(total, "events applied")
	defer bar.finish()
	before := 0
	for _, r := range report.Projections {
		bar.describe(r.Name)
		began := time.Now()
		progress, err := log.ProjectAll(ctx, r.projector, func(p eventlog.Progress) { bar.reached(before+p.Events, false) })
		if err != nil {
			return err
		}
		before += progress.Events
		r.Streams, r.Events, r.Seconds = progress.Streams, progress.Events, time.Since(began).Seconds()
	}
	return nil
}

// remember notes the rows as they are. What is behind the log is brought up to date first, or the rebuild
// would differ by what nobody has projected.
func (r *rebuildReport) remember(ctx context.Context, log *eventlog.Store) error {
	for _, p := range r.Projections {
		standings, err := log.Standings(ctx, p.projector)
		if err != nil {
			return err
		}
		if s := standings[0]; !s.Rebuilding && !s.Stale() {
			if _, err := log.ProjectAll(ctx, p.projector); err != nil {
				return err
			}
		}
		for i := range p.Tables {
			t := &p.Tables[i]
			if slices.Contains(r.Restored, t.Name) {
				continue
			}
			before, err := log.Digest(ctx, t.table)
			if err != nil {
				return err
			}
			t.Before = &before
			if t.snapshot, err = takeSnapshot(log.RowHashes(ctx, t.table)); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare reads the rows that there are now.
func (r *rebuildReport) compare(ctx context.Context, log *eventlog.Store) error {
	for _, p := range r.Projections {
		for i := range p.Tables {
			t := &p.Tables[i]
			var err error
			if t.After, err = log.Digest(ctx, t.table); err != nil {
				return err
			}
			p.Rows += t.After.Rows
			if t.Before == nil || *t.Before == t.After {
				continue
			}
			if t.Difference, err = t.snapshot.compare(log.RowHashes(ctx, t.table)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rebuildReport) forget() {
	for _, p := range r.Projections {
		for _, t := range p.Tables {
			t.snapshot.remove()
		}
	}
}

func (r *rebuildReport) differing() int {
	n := 0
	for _, p := range r.Projections {
		for _, t := range p.Tables {
			if t.Difference != nil {
				n++
			}
		}
	}
	return n
}

func printRebuild(w io.Writer, r rebuildReport, verify bool) error {
	var b strings.Builder
	if len(r.Restored) > 0 {
		say(&b, "%s not there and made: %s\n", plural(len(r.Restored), "table or view was", "tables or views were"), strings.Join(r.Restored, ", "))
	}
	for _, p := range r.Projections {
		say(&b, "%s: %s of %s, %s, %.1f s\n", p.Name, plural(p.Events, "event", "events"), plural(p.Streams, "stream", "streams"),
			plural(int(p.Rows), "row", "rows"), p.Seconds)
		if !verify {
			continue
		}
		for _, t := range p.Tables {
			if t.Before == nil {
				say(&b, "  %s: was not there (now %s, hash %016x)\n", t.Name, plural(int(t.After.Rows), "row", "rows"), t.After.Sum)
				continue
			}
			if t.Difference == nil {
				say(&b, "  %s: same (%s, hash %016x)\n", t.Name, plural(int(t.After.Rows), "row", "rows"), t.After.Sum)
				continue
			}
			d := t.Difference
			say(&b, "  %s: differs: %s only before, %d only after, %d changed\n", t.Name, plural(d.OnlyBefore, "row", "rows"), d.OnlyAfter, d.Changed)
			for _, example := range d.Examples {
				say(&b, "    %s %s\n", example.What, oneLine(example.Key, 160))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
