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
)

// shownConflict is a conflict with the evidence of its sides.
type shownConflict struct {
	graduate.Conflict
	OlderEvidence []schema.Evidence `json:"older_evidence"`
	NewerEvidence []schema.Evidence `json:"newer_evidence"`
}

func conflictsShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show CONFLICT", Short: "show both sides of a conflict, with their evidence",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the memories")
	a.Answers(cmd, shownConflict{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		c, err := graduate.NewLedgers(conn).Conflict(ctx, *project, args[0])
		if err != nil {
			return err
		}
		sides, err := entry.NewReader(conn).ByID(ctx, entry.InProject(*project).IDs([]string{c.Older.EntryID, c.Newer.EntryID}), entry.Whole)
		if err != nil {
			return err
		}
		out := shownConflict{c, sides[c.Older.EntryID].Evidence, sides[c.Newer.EntryID].Evidence}
		return a.Print(out, func(b *strings.Builder) { printConflict(b, *project, c, sides) })
	})
}

func printConflict(b *strings.Builder, project string, c graduate.Conflict, sides map[string]entry.Row) {
	command.Say(b, "conflict  %s\ndiffers   in %s: %s\nfound     %s, by %s\n", c.ID, c.Type, c.Reason, command.When(c.DetectedAt), foundBy(c))
	if c.Open() {
		b.WriteString("state     open: both sides are contested\n")
	} else {
		command.Say(b, "state     resolved on %s by %s: %s\n", command.When(c.ResolvedAt), c.ResolvedBy, conflictState(c))
	}
	for _, side := range []struct {
		name string
		graduate.Side
	}{{"older", c.Older}, {"newer", c.Newer}} {
		command.Say(b, "\n%s     %s\n", side.name, side.Title)
		saySide(b, side.Side, sides[side.EntryID])
	}
	if c.Open() {
		command.Say(b, "\nto resolve it: %s\n", InProject(project, "conflicts", "resolve", command.ShortID(c.ID), "--keep="+command.ShortID(c.Newer.EntryID)))
		command.Say(b, "or keep %s, or keep %s if they do not contradict each other\n", command.ShortID(c.Older.EntryID), keepBoth)
	}
}

// foundBy names the model or rule that found a conflict.
func foundBy(c graduate.Conflict) string {
	if c.Model != "" {
		return "the model " + c.Model
	}
	return "rule"
}
