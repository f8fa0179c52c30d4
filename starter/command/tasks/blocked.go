package tasks

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
)

func blockedCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "blocked", Short: "list blocked tasks and their blockers",
	}
	f := cmd.Flags()
	o := &taskList{}
	o.add(f)
	a.Answers(cmd, []task.View{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		return o.query(ctx, a, func(q *task.Queries, s task.Selection) error {
			views, err := q.ListBlockedTasks(ctx, s)
			if err != nil {
				return err
			}
			return command.List(a, cmd, &o.Page, views, "nothing is blocked in "+o.place(), printBlocked)
		})
	})
}

func printBlocked(b *strings.Builder, views []task.View) {
	for _, v := range views {
		command.Say(b, "%s  %s%s\n", command.ShortID(v.Task.ID), command.OneLine(v.Task.Title, 120), DoneText(v.Task.DoneReport))
		for _, blocker := range v.Blockers {
			command.Say(b, "          waits for %s\n", BlockerText(blocker, 100))
		}
		for _, suggestion := range v.Suggestions {
			command.Say(b, "          perhaps for %s\n", BlockerText(suggestion, 100))
		}
	}
}
