package tasks

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

func taskShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show TASK", Short: "show a task, its blockers and its history with evidence",
	}
	f := cmd.Flags()
	o := &taskFlags{}
	o.add(f)
	a.Answers(cmd, task.Detail{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		detail, err := queries(conn).GetTaskDetail(ctx, task.Selection{Project: o.project, AsOf: o.at}, args[0])
		if err != nil {
			return err
		}
		return a.Print(detail, func(b *strings.Builder) { PrintTask(b, detail) })
	})
}

// PrintTask writes a task with its blockers and history.
func PrintTask(b *strings.Builder, d task.Detail) {
	t := d.Task
	command.Say(b, "%s\n\ntask      %s\nkey       %s\nstatus    %s, %s priority\nstage     %s\nsince     %s, changed %s\n",
		t.Title, t.ID, t.CanonicalKey, StatusText(t), t.Priority, t.Stage, command.When(t.CreatedAt), command.When(t.UpdatedAt))
	for _, alias := range t.Aliases {
		command.Say(b, "also      %s\n", alias.CanonicalKey)
	}
	if t.ResolvesTo != nil {
		command.Say(b, "merged    into %s\n", t.ResolvesTo.ID)
	}
	for _, v := range d.Blockers {
		command.Say(b, "waits for %s\n", BlockerText(v, 100))
	}
	for _, v := range d.Suggestions {
		command.Say(b, "perhaps   %s\n", BlockerText(v, 100))
	}
	b.WriteString("\nhistory\n")
	for _, h := range d.History {
		command.Say(b, "  %s  %s\n", command.When(h.Event.TS), EventText(h.Event))
		switch {
		case h.Act.EntryID != "":
			for _, e := range h.Evidence {
				command.Say(b, "      %s\n", show.EvidenceLine(cmp.Or(h.EvidenceSessionID, h.Event.SessionID), t.Title, e))
			}
		case h.Act.Reason != "":
			command.Say(b, "      by %s: %s\n", h.Event.Actor, h.Act.Reason)
		default:
			command.Say(b, "      by %s\n", h.Event.Actor)
		}
	}
}
