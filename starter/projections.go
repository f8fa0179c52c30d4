package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/vector"
)

// projections lists all projectors, with the outbox of the configured embedder.
func (a *app) projections(ctx context.Context, conn driver.Conn, log *eventlog.Store) ([]eventlog.Projector, error) {
	embedder, err := llm.NewEmbedder(ctx, a.cfg.Embedder)
	if err != nil {
		return nil, usageError{err}
	}
	return build.StoredProjections(ctx, conn, log, embedder.Version())
}

// configured lists the projectors of this program's settings, which ask no server.
func (a *app) configured(ctx context.Context) ([]eventlog.Projector, error) {
	embedder, err := llm.NewEmbedder(ctx, a.cfg.Embedder)
	if err != nil {
		return nil, usageError{err}
	}
	return build.Projections(nil, embedder.Version()), nil
}

// checkFamilies refuses names of no projection before any server is asked. Which embedding versions have an
// outbox only the database knows.
func (a *app) checkFamilies(ctx context.Context, names []string) error {
	projectors, err := a.configured(ctx)
	if err != nil {
		return err
	}
	families := make([]string, len(names))
	for i, name := range names {
		families[i] = name
		if strings.HasPrefix(name, vector.OutboxPrefix) {
			families[i] = strings.TrimSuffix(vector.OutboxPrefix, "/")
		}
	}
	_, err = named(projectors, families)
	return err
}

// checkLeftOut refuses the names where another projection lacks a table, which would come back empty.
func (a *app) checkLeftOut(ctx context.Context, missing, names []string) error {
	if len(missing) == 0 || len(names) == 0 {
		return nil
	}
	projectors, err := a.configured(ctx)
	if err != nil {
		return err
	}
	for _, p := range projectors {
		if slices.ContainsFunc(names, func(name string) bool { return goesBy(p, name) }) {
			continue
		}
		for _, t := range p.Tables() {
			if slices.Contains(missing, t.Name) {
				return usagef("table %q of projection %q is not there: name that projection too, or none to rebuild all", t.Name, p.Name())
			}
		}
	}
	return nil
}

// named returns the projectors that go by the names, or all where none is given.
func named(projectors []eventlog.Projector, names []string) ([]eventlog.Projector, error) {
	if len(names) == 0 {
		return projectors, nil
	}
	known := make([]string, len(projectors))
	for i, p := range projectors {
		known[i] = p.Name()
	}
	chosen := map[string]bool{}
	for _, name := range names {
		found := false
		for _, p := range projectors {
			if goesBy(p, name) {
				chosen[p.Name()], found = true, true
			}
		}
		if !found {
			return nil, usagef("there is no projection %q; there are: %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(projectors), func(p eventlog.Projector) bool { return !chosen[p.Name()] }), nil
}

// goesBy reports whether the name is the projector's, or what stands before the slash of it.
func goesBy(p eventlog.Projector, name string) bool {
	family, _, _ := strings.Cut(p.Name(), "/")
	return name == p.Name() || name == family
}

// checkProjections says how each projection stands to the log.
func (a *app) checkProjections(ctx context.Context, conn driver.Conn) []check {
	log := eventlog.New(conn, eventlog.Options{})
	embedder, err := llm.NewEmbedder(ctx, a.cfg.Embedder)
	var standings []eventlog.Standing
	if err == nil {
		// The outboxes of other embedding versions are nobody's work.
		standings, err = log.Standings(ctx, build.Projections(conn, embedder.Version())...)
	}
	if err != nil {
		return []check{bad("projections", err, "see the checks of clickhouse and the embedder")}
	}
	checks := make([]check, len(standings))
	for i, s := range standings {
		checks[i] = standingCheck(s)
	}
	return checks
}

func standingCheck(s eventlog.Standing) check {
	c := check{Name: "projection " + s.Name, Mend: "run: " + build.Command("rebuild", s.Name)}
	switch {
	case s.Rebuilding:
		c.Note = "is being rebuilt, or a rebuild broke off"
		c.Mend = "wait for it; if nobody is at it, " + c.Mend
	case s.Stale() && s.Stored > s.Program:
		c.Note = fmt.Sprintf("made by version %d of its code, newer than this program's %d: nothing is added to it", s.Stored, s.Program)
		c.Mend = "use the newer program; to go back, stop its workers and " + c.Mend
	case s.Stale():
		c.Note = fmt.Sprintf("made by version %d of its code, this program has version %d: nothing is added to it until it is made anew", s.Stored, s.Program)
	case s.Behind > 0:
		c.Note = fmt.Sprintf("%s behind the log", plural(int(s.Behind), "stream is", "streams are"))
		c.Mend = "wait for the sessions that are being processed; if none is, " + c.Mend
	default:
		c.OK, c.Mend = true, ""
		c.Note = fmt.Sprintf("up to date: %s of %s", plural(int(s.Events), "event", "events"), plural(int(s.Streams), "stream", "streams"))
	}
	return c
}
