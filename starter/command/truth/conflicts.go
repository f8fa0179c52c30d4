package truth

import (
	"context"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// keepBoth is the value of --keep when neither side is wrong. It can't be mistaken for an entry id.
const keepBoth = "both"

func conflictsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "conflicts", Short: "list memories that contradict each other",
	}
	f := cmd.Flags()
	q := graduate.ConflictQuery{}
	f.StringVar(&q.Project, "project", "default", "project of the memories")
	f.BoolVar(&q.Resolved, "all", false, "include resolved conflicts")
	return command.Listing[graduate.Conflict]{
		Order: "open ones and the latest first",
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) (conflicts []graduate.Conflict, none string, err error) {
			q.Limit = p.Rows()
			if conflicts, err = graduate.NewLedgers(conn).Conflicts(ctx, q); err != nil {
				return nil, "", err
			}
			none = "nothing contradicts anything in project " + command.Unbroken(q.Project)
			if !q.Resolved {
				none += "; --all includes resolved conflicts"
			}
			if len(conflicts) == 0 {
				known, err := entry.NewReader(conn).Any(ctx, q.Project)
				if err != nil {
					return nil, "", err
				}
				if !known {
					none = nothingKnown(q.Project)
				}
			}
			return command.After(p, conflicts), none, nil
		},
		Print: func(b *strings.Builder, shown []graduate.Conflict) { printConflicts(b, q.Project, shown) },
	}.Command(a, cmd)
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
