package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/starter/command"
)

func listCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "facts", Short: "list the facts about a user",
	}
	f := cmd.Flags()
	o, s := &command.Owner{}, fact.Selection{}
	o.Add(f)
	f.StringVar(&s.Project, "project", "", "only facts that were stated in the project")
	f.StringVar(&s.Category, "category", "", "only facts of the category: "+strings.Join(schema.FactCategories(), ", "))
	f.BoolVar(&s.Gone, "all", false, "include deleted and evicted facts, with the reasons")
	var version uint64
	return command.Listing[fact.Fact]{
		Order: "the oldest first",
		Check: func() error { return command.OneOfOrNone("category", s.Category, schema.FactCategories()) },
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) (facts []fact.Fact, none string, err error) {
			s.User, s.Agent, s.Limit, s.Offset = o.User, o.Agent, p.Ask(), p.Offset
			s.AllProjects = !f.Changed("project")
			none = "nothing is remembered of " + command.Unbroken(o.String())
			if s.Project != "" || s.Category != "" {
				none = "no such fact is remembered of " + command.Unbroken(o.String())
			}
			t := fact.NewTables(conn)
			// The version is read first: a stale version is refused later, a version newer than the rows would not be.
			if version, err = t.Version(ctx, o.User, o.Agent); err != nil {
				return nil, none, err
			}
			facts, err = t.Select(ctx, s)
			switch {
			case err != nil:
			case s.AllProjects:
				err = t.Judge(ctx, o.User, o.Agent, facts)
			default:
				err = t.JudgeIn(ctx, o.User, o.Agent, s.Project, facts)
			}
			return facts, none, err
		},
		Print: func(b *strings.Builder, facts []fact.Fact) { printFacts(b, facts, version) },
	}.Command(a, cmd)
}

// printFacts prints a page of the facts of a memory with the version.
func printFacts(b *strings.Builder, facts []fact.Fact, version uint64) {
	command.Table(b, "fact, category, confidence, content, entry", facts, func(x fact.Fact) []any {
		from := command.ShortID(x.EntryID)
		if from == "" {
			from = x.Source()
		}
		return []any{
			x.ID, x.Category, fmt.Sprintf("%.2f", x.Confidence), command.OneLine(x.Content, 80), from + command.GoneText(x) + factText(x.Entry),
		}
	})
	fmt.Fprintf(b, "the memory has version %d\n", version)
}

// factText describes whether the fact is no longer believed, or contested. It is empty otherwise.
func factText(s *fact.EntryStatus) string {
	switch {
	case s.Ended() && s.SupersededBy != "":
		return ", superseded by " + command.ShortID(s.SupersededBy)
	case s.Ended():
		return ", retired: " + command.OneLine(s.EndedBecause, 60)
	case s.Contested():
		return ", contested"
	}
	return ""
}
