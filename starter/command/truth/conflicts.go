package truth

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/projection"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// keepBoth is the value of --keep when neither side is wrong. It can't be mistaken for an entry id.
const keepBoth = "both"

// withLedgers runs fn with the ledgers and a reader of their entries. An unknown id is a usage error.
func withLedgers(ctx context.Context, a *command.App, fn func(*graduate.Ledgers, *entry.Reader) error) error {
	return withLog(ctx, a, func(l *graduate.Ledgers, r *entry.Reader, _ *eventlog.Store) error { return fn(l, r) })
}

// withLog is like withLedgers, and also passes the log.
func withLog(ctx context.Context, a *command.App, fn func(*graduate.Ledgers, *entry.Reader, *eventlog.Store) error) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	err = fn(graduate.NewLedgers(conn), entry.NewReader(conn), projection.New(conn, eventlog.Options{}).Store)
	for _, mistake := range []error{graduate.ErrNoConflict, graduate.ErrNoDecision, graduate.ErrNoProposal, clickhouse.ErrAmbiguous, entry.ErrNotFound} {
		if errors.Is(err, mistake) {
			return command.BadUsage(err)
		}
	}
	return err
}

func conflictsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "conflicts", Short: "list memories that contradict each other",
	}
	f := cmd.Flags()
	q, p := graduate.ConflictQuery{}, &command.Page{}
	f.StringVar(&q.Project, "project", "default", "project of the memories")
	f.BoolVar(&q.Resolved, "all", false, "include resolved conflicts")
	p.Add(f, command.DefaultPage, command.MaxPage, "open ones and the latest first")
	a.Answers(cmd, []graduate.Conflict{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.Check(); err != nil {
			return err
		}
		q.Limit = p.Rows()
		return withLedgers(ctx, a, func(l *graduate.Ledgers, _ *entry.Reader) error {
			conflicts, err := l.Conflicts(ctx, q)
			if err != nil {
				return err
			}
			none := "nothing contradicts anything in project " + command.Unbroken(q.Project)
			if !q.Resolved {
				none += "; --all includes resolved conflicts"
			}
			if len(conflicts) == 0 {
				known, err := knows(ctx, a, q.Project)
				if err != nil {
					return err
				}
				if !known {
					none = nothingKnown(q.Project)
				}
			}
			return command.List(a, cmd, p, command.After(p, conflicts), none, func(b *strings.Builder, shown []graduate.Conflict) {
				printConflicts(b, q.Project, shown)
			})
		})
	})
}

func printConflicts(b *strings.Builder, project string, conflicts []graduate.Conflict) {
	command.Table(b, "conflict, differs in, entry, said, statement, state", conflicts, func(c graduate.Conflict) []any {
		return []any{
			command.ShortID(c.ID), c.Type, command.ManyLines{command.ShortID(c.Older.EntryID), command.ShortID(c.Newer.EntryID)},
			command.ManyLines{show.DayOf(c.Older.OccurredAt), show.DayOf(c.Newer.OccurredAt)},
			command.ManyLines{command.OneLine(c.Older.Title, 70), command.OneLine(c.Newer.Title, 70)}, command.OneLine(conflictState(c), 60),
		}
	})
	if slices.ContainsFunc(conflicts, graduate.Conflict.Open) {
		command.Say(b, "to resolve one: %s\n", InProject(project, "conflicts", "resolve", "CONFLICT", "--keep=ENTRY"))
	}
}

// conflictState describes whether a conflict is open, or how it was resolved.
func conflictState(c graduate.Conflict) string {
	text := "open"
	switch {
	case c.Open():
		return text
	case c.ResolvedBy == graduate.ResolvedByGraduation:
		return command.ShortIDs(c.Resolution)
	case c.Kept != "":
		text = command.ShortID(c.Kept) + " is right"
	default:
		text = "neither is wrong"
	}
	if c.Resolution != "" {
		text += ": " + c.Resolution
	}
	return text
}

// saySide writes the current state of an entry and its evidence.
func saySide(b *strings.Builder, s graduate.Side, row entry.Row) {
	command.Say(b, "          entry %s · %s · %s · %s, session %s\n", command.ShortID(s.EntryID), s.Type, show.StageText(s.Stage, s.Status), command.When(s.OccurredAt), s.SessionID)
	for _, e := range row.Evidence {
		command.Say(b, "          %s\n", show.EvidenceLine(row.EvidenceSessionID, row.Title, e))
	}
}
