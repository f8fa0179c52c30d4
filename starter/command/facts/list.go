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

// withFacts runs fn with the tables of facts.
func withFacts(ctx context.Context, a *command.App, fn func(conn driver.Conn, t *fact.Tables) error) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	return fn(conn, fact.NewTables(conn))
}

func listCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "facts", Short: "list the facts about a user",
	}
	f := cmd.Flags()
	o, p, s := &command.Owner{}, &command.Page{}, fact.Selection{}
	o.Add(f)
	f.StringVar(&s.Project, "project", "", "only facts that were stated in the project")
	f.StringVar(&s.Category, "category", "", "only facts of the category: "+strings.Join(schema.FactCategories(), ", "))
	f.BoolVar(&s.Gone, "all", false, "include deleted and evicted facts, with the reasons")
	p.Add(f, command.DefaultPage, command.MaxPage, "the oldest first")
	a.Answers(cmd, []fact.Fact{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.Check(); err != nil {
			return err
		}
		if err := command.OneOfOrNone("category", s.Category, schema.FactCategories()); err != nil {
			return err
		}
		s.User, s.Agent, s.Limit, s.Offset = o.User, o.Agent, p.Ask(), p.Offset
		s.AllProjects = !f.Changed("project")
		return withFacts(ctx, a, func(_ driver.Conn, t *fact.Tables) error {
			// The version is read first: a stale version is refused later, a version newer than the rows would not be.
			version, err := t.Version(ctx, o.User, o.Agent)
			if err != nil {
				return err
			}
			facts, err := t.Select(ctx, s)
			switch {
			case err != nil:
			case s.AllProjects:
				err = t.Judge(ctx, o.User, o.Agent, facts)
			default:
				err = t.JudgeIn(ctx, o.User, o.Agent, s.Project, facts)
			}
			if err != nil {
				return err
			}
			none := "nothing is remembered of " + command.Unbroken(o.String())
			if s.Project != "" || s.Category != "" {
				none = "no such fact is remembered of " + command.Unbroken(o.String())
			}
			return command.List(a, cmd, p, facts, none, func(b *strings.Builder, facts []fact.Fact) { printFacts(b, facts, version) })
		})
	})
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
