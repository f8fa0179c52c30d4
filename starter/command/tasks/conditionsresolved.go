package tasks

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/task"
	"axiommind/starter/command"
)

func conditionsResolvedCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolved", Short: "list resolved conditions and their targets",
	}
	f := cmd.Flags()
	o := &taskList{}
	o.add(f)
	a.Answers(cmd, []task.ResolvedCondition{})
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		return o.query(ctx, a, func(q *task.Queries, s task.Selection) error {
			conditions, err := q.ListResolvedConditions(ctx, s)
			if err != nil {
				return err
			}
			return command.List(a, cmd, &o.Page, conditions, "no condition is resolved in "+o.place(), printConditions)
		})
	})
}

func printConditions(b *strings.Builder, conditions []task.ResolvedCondition) {
	command.Table(b, "condition, text, turned out to be", conditions, func(c task.ResolvedCondition) []any {
		return []any{command.ShortID(c.Condition.ID), command.OneLine(c.Condition.Title, 70), fmt.Sprintf("%s (%s %s)",
			command.OneLine(c.Target.Title, 70), c.Target.Type, command.ShortID(c.Target.ID))}
	})
}
