package truth

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// shownDecision is a decision with the evidence of its entries, by their ids.
type shownDecision struct {
	graduate.Decision
	Quotes map[string][]schema.Evidence `json:"quotes"`
}

func decisionsShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show DECISION", Short: "show a decision and the memories it rests on, with their evidence",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the decision")
	a.Answers(cmd, shownDecision{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		d, err := graduate.NewLedgers(conn).Decision(ctx, *project, args[0])
		if err != nil {
			return err
		}
		ids := make([]string, len(d.Evidence))
		for i, g := range d.Evidence {
			ids[i] = g.EntryID
		}
		rows, err := entry.NewReader(conn).ByID(ctx, entry.InProject(*project).IDs(ids), entry.Whole)
		if err != nil {
			return err
		}
		quotes := map[string][]schema.Evidence{}
		for id, row := range rows {
			quotes[id] = row.Evidence
		}
		return a.Print(shownDecision{d, quotes}, func(b *strings.Builder) { printDecision(b, d, rows) })
	})
}

func printDecision(b *strings.Builder, d graduate.Decision, rows map[string]entry.Row) {
	command.Say(b, "%s\n\ndecision  %s\nmade      %s by %s", d.Action, d.ID, command.When(d.At), d.By)
	if d.Confidence != nil {
		command.Say(b, ", confidence %.2f", *d.Confidence)
	}
	command.Say(b, "\nstate     %s\n", decisionState(d))
	for _, why := range d.Flagged {
		command.Say(b, "          %s\n", why)
	}
	if len(d.SaidAlso) > 0 {
		command.Say(b, "the same  %s\n", strings.Join(d.SaidAlso, "\n          "))
	}
	for _, g := range d.Evidence {
		name := map[string]string{schema.RoleStatement: "stated in", schema.RoleGround: "rests on"}[g.Role]
		command.Say(b, "\n%-10s%s\n", name, g.Title)
		if g.Kind == schema.GroundEntity {
			command.Say(b, "          task %s · %s, since %s\n", command.ShortID(g.EntryID), show.StageText(g.Stage, g.Status), command.When(g.OccurredAt))
		} else {
			saySide(b, g.Side, rows[g.EntryID])
		}
		command.Say(b, "          it was %s when the decision was recorded\n", g.Recorded)
	}
}
