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
	o := &taskFlags{}
	o.add(cmd.Flags())
	return listing(o, printConditions, func(ctx context.Context, q *task.Queries, s task.Selection) ([]task.ResolvedCondition, string, error) {
		conditions, err := q.ListResolvedConditions(ctx, s)
		return conditions, "no condition is resolved in " + o.place(), err
	}).Command(a, cmd)
}

func printConditions(b *strings.Builder, conditions []task.ResolvedCondition) {
	command.Table(b, "condition, text, turned out to be", conditions, func(c task.ResolvedCondition) []any {
		return []any{command.ShortID(c.Condition.ID), command.OneLine(c.Condition.Title, 70), fmt.Sprintf("%s (%s %s)",
			command.OneLine(c.Target.Title, 70), c.Target.Type, command.ShortID(c.Target.ID))}
	})
}
