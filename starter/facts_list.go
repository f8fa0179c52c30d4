package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
)

// withFacts runs fn with the tables of facts.
func (a *app) withFacts(ctx context.Context, fn func(conn driver.Conn, t *fact.Tables) error) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return fn(conn, fact.NewTables(conn))
}

func (a *app) factsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "facts", Short: "list the facts about a user",
	}
	f := cmd.Flags()
	o, p, s := &owner{}, &page{}, fact.Selection{}
	o.add(f)
	f.StringVar(&s.Project, "project", "", "only facts that were learned in the project")
	f.StringVar(&s.Category, "category", "", "only facts of the category: "+strings.Join(schema.FactCategories(), ", "))
	f.BoolVar(&s.Gone, "all", false, "include deleted and evicted facts, with the reasons")
	p.add(f, defaultPage, maxPage, "the oldest first")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		if err := oneOfOrNone("category", s.Category, schema.FactCategories()); err != nil {
			return err
		}
		s.User, s.Agent, s.Limit, s.Offset = o.user, o.agent, p.ask(), p.offset
		s.AllProjects = !f.Changed("project")
		return a.withFacts(ctx, func(conn driver.Conn, t *fact.Tables) error {
			// The version is read first: a stale version is refused later, a version newer than the rows would not be.
			version, err := t.Version(ctx, o.user, o.agent)
			if err != nil {
				return err
			}
			facts, err := readFacts(ctx, conn, o, func(t *fact.Tables) ([]fact.Fact, error) { return t.Select(ctx, s) })
			if err != nil {
				return err
			}
			none := "nothing is remembered of " + unbroken(o.String())
			if s.Project != "" || s.Category != "" {
				none = "no such fact is remembered of " + unbroken(o.String())
			}
			return list(a, p, facts, none, func(w io.Writer, facts []fact.Fact) error { return printFacts(w, facts, version) })
		})
	})
}

// printFacts prints a page of the facts of a memory with the version.
func printFacts(w io.Writer, facts []fact.Fact, version uint64) error {
	t := newTable(w, "fact", "category", "confidence", "content", "entry")
	for _, x := range facts {
		from := short(x.EntryID)
		if from == "" {
			from = x.Source()
		}
		t.AppendRow([]any{
			x.ID, x.Category, fmt.Sprintf("%.2f", x.Confidence), oneLine(x.Content, 80), from + goneText(x) + factText(x.Entry),
		})
	}
	t.Render()
	_, err := fmt.Fprintf(w, "the memory has version %d\n", version)
	return err
}

// goneText describes why the fact is no longer remembered. It is empty if it is.
func goneText(f fact.Fact) string {
	switch {
	case f.Status == fact.Active || f.Status == "":
		return ""
	case f.GoneReason == "":
		return ", " + string(f.Status)
	}
	return ", " + string(f.Status) + ": " + oneLine(f.GoneReason, 60)
}

// factText describes whether the fact is no longer believed, or contested. It is empty otherwise.
func factText(s *fact.EntryStatus) string {
	switch {
	case s.Ended() && s.SupersededBy != "":
		return ", superseded by " + short(s.SupersededBy)
	case s.Ended():
		return ", retired: " + oneLine(s.EndedBecause, 60)
	case s.Contested():
		return ", contested"
	}
	return ""
}
