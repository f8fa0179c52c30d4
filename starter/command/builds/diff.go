package builds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/schema"
	"axiommind/starter/command"
)

func diffCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff BUILD OTHER", Short: "show how two builds of a session differ, by model or by prompt",
		Example: "starter builds diff 04a5ad1b 7c20e9f4",
	}
	a.Answers(cmd, build.Diff{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		d, err := build.Compare(ctx, conn, args[0], args[1])
		if errors.Is(err, build.ErrOtherSession) {
			return command.BadUsage(err)
		}
		if err != nil {
			return err
		}
		return a.Print(d, func(b *strings.Builder) { printDiff(b, d) })
	})
}

func printDiff(b *strings.Builder, d build.Diff) {
	command.Say(b, "session  %s of project %s\n", d.A.SessionID, d.A.Project)
	for _, side := range []struct {
		name string
		s    build.Side
	}{{"A", d.A}, {"B", d.B}} {
		x := side.s.Extractor
		command.Say(b, "%s        build %s (no. %d, %s), %s, prompt %s (%s), schema %s", side.name, command.ShortID(side.s.BuildID), side.s.Ordinal, side.s.Status,
			modelText(x), x.PromptVersion, x.PromptHash, x.SchemaVersion)
		if x.Tools {
			b.WriteString(", with tools")
		}
		b.WriteString("\n")
	}
	if d.A.Extractor == d.B.Extractor {
		b.WriteString("both have the same extractor\n")
	}
	b.WriteString("\n")
	command.Table(b, ", A, B", numbersOf(d), func(row [3]string) []any { return []any{row[0], row[1], row[2]} })
	command.Say(b, "\n%s only in A, %d only in B, %d changed, %d the same\n", command.Plural(len(d.OnlyA), "entry", "entries"), len(d.OnlyB), len(d.Changed), d.Same)
	sayOnly(b, "only in A", "-", d.OnlyA)
	sayOnly(b, "only in B", "+", d.OnlyB)
	sayChanged(b, d.Changed)
}

// numbersOf returns the numbers of both builds, side by side.
func numbersOf(d build.Diff) [][3]string {
	row := func(name string, of func(build.Side) string) [3]string { return [3]string{name, of(d.A), of(d.B)} }
	number := func(name string, of func(build.Side) int) [3]string {
		return row(name, func(s build.Side) string { return fmt.Sprint(of(s)) })
	}
	return [][3]string{
		number("entries stated so far", func(s build.Side) int { return s.Entries }),
		number("of this build: windows", func(s build.Side) int { return s.Counts.Windows }),
		number("without a whole answer", func(s build.Side) int { return s.Counts.Quarantined }),
		number("items rejected", func(s build.Side) int { return s.Counts.Rejected }),
		number("new entries", func(s build.Side) int { return s.Counts.NewEntries }),
		number("superseded", func(s build.Side) int { return s.Counts.SupersededEntries }),
		number("active again", func(s build.Side) int { return s.Counts.RestoredEntries }),
		number("model calls", func(s build.Side) int { return s.Usage.Calls }),
		row("tokens in", func(s build.Side) string { return fmt.Sprint(s.Usage.InputTokens) }),
		row("tokens out", func(s build.Side) string { return fmt.Sprint(s.Usage.OutputTokens + s.Usage.ThoughtTokens) }),
		row("cost", func(s build.Side) string {
			if s.Usage.CostUSD == 0 {
				return "-"
			}
			return fmt.Sprintf("$%.4f", s.Usage.CostUSD)
		}),
		row("took", func(s build.Side) string { return took(s.Run) }),
		row("extracting took", func(s build.Side) string {
			for _, m := range s.Steps {
				if m.Step == schema.StepExtract {
					return fmt.Sprintf("%.1fs", m.LatencyMS/1000)
				}
			}
			return "-"
		}),
	}
}

func sayOnly(b *strings.Builder, title, mark string, entries []schema.Entry) {
	if len(entries) == 0 {
		return
	}
	command.Say(b, "\n%s\n", title)
	for _, e := range entries[:min(len(entries), command.MaxListed)] {
		command.Say(b, "  %s %s: %s (%s)\n", mark, e.Type, command.OneLine(e.Title, 200), placeText(e))
	}
	command.SayMore(b, "  ", len(entries)-command.MaxListed)
}

// placeText describes the place of an entry's evidence.
func placeText(e schema.Entry) string {
	for _, p := range e.Evidence {
		if p.Found {
			return fmt.Sprintf("message %d", p.MessageIndex)
		}
	}
	return "not found"
}

func sayChanged(b *strings.Builder, changed []build.ChangedEntry) {
	if len(changed) == 0 {
		return
	}
	b.WriteString("\nchanged\n")
	for _, c := range changed[:min(len(changed), command.MaxListed)] {
		what := "of the same sentences"
		if c.SameID {
			what = "the same entry"
		}
		command.Say(b, "  ~ %s: %s (%s, %s)\n", c.A.Type, command.OneLine(c.A.Title, 200), placeText(c.A), what)
		for _, f := range c.Fields {
			command.Say(b, "      %-13s - %s\n", f.Name, command.OneLine(cmp.Or(f.A, "(nothing)"), 200))
			command.Say(b, "      %-13s + %s\n", "", command.OneLine(cmp.Or(f.B, "(nothing)"), 200))
		}
	}
	command.SayMore(b, "  ", len(changed)-command.MaxListed)
}
