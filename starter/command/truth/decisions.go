package truth

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/graduate"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

func decisionsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "decisions", Short: "list decisions, and those whose grounds no longer hold",
	}
	f := cmd.Flags()
	q := graduate.DecisionQuery{}
	f.StringVar(&q.Project, "project", "default", "project of the decisions")
	all := f.Bool("all", false, "include repeats of the same decision")
	return command.Listing[graduate.Decision]{
		Order: "the latest first", Print: printDecisions,
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]graduate.Decision, string, error) {
			q.Limit, q.Folded = p.Rows(), !*all
			decisions, err := graduate.NewLedgers(conn).Decisions(ctx, q)
			return command.After(p, decisions), "no decision is recorded in project " + command.Unbroken(q.Project), err
		},
	}.Command(a, cmd)
}

func printDecisions(b *strings.Builder, decisions []graduate.Decision) {
	command.Table(b, "decision, made, by, action, rests on, state", decisions, func(d graduate.Decision) []any {
		grounds := make(command.ManyLines, len(d.Evidence))
		for i, g := range d.Evidence {
			grounds[i] = command.ShortID(g.EntryID)
		}
		action := command.OneLine(d.Action, 70)
		if n := len(d.SaidAlso); n > 0 {
			action += fmt.Sprintf(" (said %d times)", n+1)
		}
		return []any{
			command.ShortID(d.ID), show.DayOf(d.At), command.OneLine(d.By, 30), action, grounds, decisionState(d),
		}
	})
}

// decisionState describes whether all grounds of a decision are still valid.
func decisionState(d graduate.Decision) string {
	if len(d.Flagged) == 0 {
		return "stands"
	}
	return "in question"
}
