package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/schema"
)

func (a *app) decisionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "decisions", Short: "list decisions, and those whose grounds no longer hold",
	}
	f := cmd.Flags()
	q, p := graduate.DecisionQuery{}, &page{}
	f.StringVar(&q.Project, "project", "default", "project of the decisions")
	all := f.Bool("all", false, "include repeats of the same decision")
	p.add(f, defaultPage, maxPage, "the latest first")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		q.Limit, q.Folded = p.rows(), !*all
		return a.withLedgers(ctx, func(l *graduate.Ledgers, _ *entry.Reader) error {
			decisions, err := l.Decisions(ctx, q)
			if err != nil {
				return err
			}
			return list(a, p, after(p, decisions), "no decision is recorded in project "+unbroken(q.Project), printDecisions)
		})
	})
}

func printDecisions(w io.Writer, decisions []graduate.Decision) error {
	t := newTable(w, "decision", "made", "by", "action", "rests on", "state")
	for _, d := range decisions {
		grounds := make(manyLines, len(d.Evidence))
		for i, g := range d.Evidence {
			grounds[i] = short(g.EntryID)
		}
		action := oneLine(d.Action, 70)
		if n := len(d.SaidAlso); n > 0 {
			action += fmt.Sprintf(" (said %d times)", n+1)
		}
		t.AppendRow([]any{
			short(d.ID), dayOf(d.At), oneLine(d.By, 30), action, grounds, decisionState(d),
		})
	}
	t.Render()
	return nil
}

// decisionState describes whether all grounds of a decision are still valid.
func decisionState(d graduate.Decision) string {
	if len(d.Flagged) == 0 {
		return "stands"
	}
	return "in question"
}

func (a *app) decisionsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show DECISION", Short: "show a decision and the memories it rests on, with their evidence",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the decision")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withLedgers(ctx, func(l *graduate.Ledgers, r *entry.Reader) error {
			d, err := l.Decision(ctx, *project, args[0])
			if err != nil {
				return err
			}
			ids := make([]string, len(d.Evidence))
			for i, g := range d.Evidence {
				ids[i] = g.EntryID
			}
			rows, err := r.ByID(ctx, entry.InProject(*project).IDs(ids), entry.Whole)
			if err != nil {
				return err
			}
			quotes := map[string][]schema.Evidence{}
			for id, row := range rows {
				quotes[id] = row.Evidence
			}
			out := struct {
				graduate.Decision
				// Quotes are the evidence of the entries, by their ids.
				Quotes map[string][]schema.Evidence `json:"quotes"`
			}{d, quotes}
			return a.print(out, func(w io.Writer) error { return printDecision(w, d, rows) })
		})
	})
}

func printDecision(w io.Writer, d graduate.Decision, rows map[string]entry.Row) error {
	var b strings.Builder
	say(&b, "%s\n\ndecision  %s\nmade      %s by %s", d.Action, d.ID, when(d.At), d.By)
	if d.Confidence != nil {
		say(&b, ", confidence %.2f", *d.Confidence)
	}
	say(&b, "\nstate     %s\n", decisionState(d))
	for _, why := range d.Flagged {
		say(&b, "          %s\n", why)
	}
	if len(d.SaidAlso) > 0 {
		say(&b, "the same  %s\n", strings.Join(d.SaidAlso, "\n          "))
	}
	for _, g := range d.Evidence {
		name := map[string]string{schema.RoleStatement: "stated in", schema.RoleGround: "rests on"}[g.Role]
		say(&b, "\n%-10s%s\n", name, g.Title)
		if g.Kind == schema.GroundEntity {
			say(&b, "          task %s · %s, since %s\n", short(g.EntryID), stageText(g.Stage, g.Status), when(g.OccurredAt))
		} else {
			saySide(&b, g.Side, rows[g.EntryID])
		}
		say(&b, "          it was %s when the decision was recorded\n", g.Recorded)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *app) decisionsRecordCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "record TEXT", Short: "record a decision and the verified memories it rests on",
		Example: "starter decisions record 'Move the event log to ClickHouse' --because-of 04a5ad1b --because-of 7c20e9f4 --confidence 0.9",
	}
	f := cmd.Flags()
	c := graduate.Command{Op: graduate.OpDecide}
	f.StringVar(&c.Project, "project", "default", "project of the decision")
	grounds := f.StringArray("because-of", nil, "a verified memory that the decision rests on (may be repeated; needed)")
	taskGrounds := f.StringArray("because-of-task", nil, "a task, stated by a verified memory, that the decision rests on, too (may be repeated)")
	confidence := f.Float64("confidence", 0, "how sure you are, from 0 to 1")
	a.complete(cmd, "because-of", entryIDs)
	a.complete(cmd, "because-of-task", entityIDs(schema.EntityTask))
	return a.online(cmd, func(ctx context.Context, args []string) error {
		switch {
		case len(*grounds) == 0:
			return usagef("say with --because-of which verified memories the decision rests on")
		case !(*confidence >= 0 && *confidence <= 1):
			return usagef("--confidence %v: want 0 to 1", *confidence)
		}
		if f.Changed("confidence") {
			c.Confidence = confidence
		}
		rows, err := a.namedEntries(ctx, c.Project, *grounds)
		if err != nil {
			return err
		}
		if c.TaskIDs, err = a.namedTasks(ctx, c.Project, *taskGrounds); err != nil {
			return err
		}
		// A decision belongs to the user and agent of its grounds.
		c.Action, c.EntryIDs, c.User, c.Agent = args[0], idsOfRows(rows), rows[0].User, rows[0].Agent
		return a.rule(ctx, c)
	})
}
