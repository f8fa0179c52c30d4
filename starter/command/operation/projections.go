package operation

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/vector"
	"axiommind/starter/command"
)

// configured lists the projectors of this program's settings. It contacts no server.
func configured(ctx context.Context, a *command.App) ([]projection.Projector, error) {
	embedder, err := llm.NewEmbedder(ctx, a.Cfg.Embedder)
	if err != nil {
		return nil, command.BadUsage(err)
	}
	return build.Projections(nil, embedder.Version()), nil
}

// checkFamilies refuses unknown projection names before any server is contacted. Only the database knows which embedding
// versions have an outbox.
func checkFamilies(ctx context.Context, a *command.App, names []string) error {
	projectors, err := configured(ctx, a)
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
	if _, absent := build.Named(projectors, families); absent != "" {
		known := []string{vectorsWord}
		for _, p := range projectors {
			known = append(known, p.Name())
		}
		return command.Usagef("there is no projection %q; there are: %s", absent, strings.Join(known, ", "))
	}
	return nil
}

// checkProjections reports how far each projection is behind the log.
func checkProjections(ctx context.Context, a *command.App, conn driver.Conn) []command.Check {
	log := projection.New(conn, eventlog.Options{})
	embedder, err := llm.NewEmbedder(ctx, a.Cfg.Embedder)
	var versions []string
	if err == nil {
		versions, err = Indexes(a, conn, nil, embedder).Versions(ctx)
	}
	var standings []projection.Status
	if err == nil {
		// Outboxes of other embedding versions have no consumer, and a new one is not behind: see checkInUse.
		standings, err = log.ProjectionStatuses(ctx, build.Projections(conn, versions[0])...)
	}
	if err != nil {
		return []command.Check{command.FailedCheck("projections", err, "see the checks of clickhouse and the embedder")}
	}
	checks := make([]command.Check, len(standings))
	for i, s := range standings {
		checks[i] = standingCheck(s)
	}
	return checks
}

func standingCheck(s projection.Status) command.Check {
	c := command.Check{Name: "projection " + s.Name, Mend: "run: " + build.Command("rebuild", s.Name)}
	switch {
	case s.Rebuilding:
		c.Note = "a rebuild is swapping in new tables, or was interrupted: sessions wait, and finish it if no one else does"
		c.Mend = "wait a minute; if it stays so, " + c.Mend
	case s.Stale() && s.Stored > s.Program:
		c.Note = fmt.Sprintf("made by version %d of its code, newer than this program's %d: nothing is added to it", s.Stored, s.Program)
		c.Mend = "use the newer program; to go back, stop its workers and " + c.Mend
	case s.Stale():
		c.Note = fmt.Sprintf("made by version %d of its code, this program has version %d: nothing is added to it until it is rebuilt",
			s.Stored, s.Program)
	case s.Behind > 0 && s.Name == graduate.ProjectorName:
		// These sessions need no action: a pass of graduation follows within half a minute.
		c.OK, c.Mend = true, ""
		c.Note = fmt.Sprintf("%s for graduation", command.Plural(int(s.Behind), "session waits", "sessions wait"))
	case s.Behind > 0:
		c.Note = fmt.Sprintf("%s behind the log", command.Plural(int(s.Behind), "stream is", "streams are"))
		c.Mend = "wait for the sessions that are being processed; if none is, " + c.Mend
	default:
		c.OK, c.Mend = true, ""
		c.Note = fmt.Sprintf("up to date: %s of %s", command.Plural(int(s.Events), "event", "events"), command.Plural(int(s.Streams), "stream", "streams"))
	}
	return c
}
