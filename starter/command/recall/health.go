package recall

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/activities/graduate"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// Values of health's --by.
const (
	byProject = "project"
	byScope   = "scope"
)

func healthCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "health", Short: "count proven, contested, superseded and unused memories, and name the remedies",
		Example: "starter health\n" +
			"starter health --project demo --list unproven\n" +
			"starter health --project demo --by scope",
	}
	f := cmd.Flags()
	project := f.String("project", "", "memories of one project (default: all)")
	by := f.String("by", byProject, "count by project, or by scope: by project, user and agent")
	measure := f.String("list", "", "list the memories of one count instead, such as unproven or never_retrieved")
	p := &command.Page{}
	p.Add(f, command.DefaultPage, command.MaxPage, "the newest first, with --list")
	a.Complete(cmd, "by", command.Fixed(byProject, byScope))
	a.Complete(cmd, "list", command.Fixed(graduate.MeasureNames()...))
	a.Answers(cmd, []graduate.Health{}, []graduate.Counted{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		err := command.OneOf("by", *by, []string{byProject, byScope})
		if err == nil {
			err = command.OneOfOrNone("list", *measure, graduate.MeasureNames())
		}
		if err == nil {
			err = p.Check()
		}
		if err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		q := graduate.HealthQuery{Project: *project, AllProjects: !f.Changed("project"), ByOwner: *by == byScope}
		nothing := "nothing is remembered yet; process a transcript with: starter process FILE"
		if !q.AllProjects {
			nothing = "nothing is remembered in project " + command.Unbroken(*project)
		}
		if *measure != "" {
			listed, err := graduate.ListMeasured(ctx, conn, *measure, q, p.Ask(), p.Offset)
			if err != nil {
				return err
			}
			return command.List(a, cmd, p, listed, "no memory is counted as "+words(*measure), printMeasured)
		}
		counted, err := graduate.ReadHealth(ctx, conn, q)
		if err != nil {
			return err
		}
		if counted == nil {
			counted = []graduate.Health{}
		}
		return a.Print(counted, func(b *strings.Builder) {
			if len(counted) == 0 {
				fmt.Fprintln(b, nothing)
				return
			}
			printHealth(b, counted, *by == byScope)
		})
	})
}

// words returns a measure's name as words.
func words(measure string) string { return strings.ReplaceAll(measure, "_", " ") }

func printHealth(b *strings.Builder, counted []graduate.Health, byOwner bool) {
	if len(counted) == 1 {
		printOneHealth(b, counted[0])
		return
	}
	titles := "project"
	if byOwner {
		titles += ", user, agent"
	}
	for _, m := range graduate.Measures() {
		titles += ", >" + words(m.Name)
	}
	total := graduate.Health{}
	command.Table(b, titles, counted, func(h graduate.Health) []any {
		total = total.Plus(h)
		row := []any{command.OneLine(h.Project, 40)}
		if byOwner {
			row = append(row, command.OneLine(h.User, 40), command.OneLine(h.Agent, 40))
		}
		for _, m := range graduate.Measures() {
			row = append(row, m.Count(h))
		}
		return row
	})
	total.Project = "PROJECT"
	b.WriteString(mends(total))
}

// printOneHealth prints each measure's count with its meaning, and the remedies.
func printOneHealth(b *strings.Builder, h graduate.Health) {
	command.Say(b, "project %s", h.Project)
	if h.User != "" {
		command.Say(b, ", %s", (&command.Owner{User: h.User, Agent: h.Agent}).String())
	}
	b.WriteString("\n")
	for _, m := range graduate.Measures() {
		command.Say(b, "  %-16s %7d  %s\n", words(m.Name), m.Count(h), m.Meaning)
	}
	b.WriteString(mends(h))
}

// mends lists the commands that reduce counts, and those that list the counted memories.
func mends(h graduate.Health) string {
	var b strings.Builder
	for _, m := range graduate.Measures() {
		if m.Count(h) == 0 || len(m.Remedies) == 0 {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\n")
		}
		command.Say(&b, "%s: %s\n", words(m.Name), command.Plural(m.Count(h), "memory", "memories"))
		for _, remedy := range append([]string{"starter health --list " + m.Name}, m.Remedies...) {
			command.Say(&b, "   → %s\n", remedy+strings.TrimPrefix(build.Command("--project", h.Project), "starter"))
		}
	}
	return b.String()
}

func printMeasured(b *strings.Builder, listed []graduate.Counted) {
	command.Table(b, "entry, project, type, stage, when, title", listed, func(c graduate.Counted) []any {
		return []any{command.ShortID(c.EntryID), command.OneLine(c.Project, 40), c.Type, show.StageText(c.Stage, c.Status), command.When(c.OccurredAt), command.OneLine(c.Title, 80)}
	})
}
