// Package tasks has the commands of tasks and their blockers.
package tasks

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		tasksCommand(a), blockedCommand(a),
		a.Parent("task", "show and change tasks", taskShowCommand(a), taskSetCommand(a), taskConfirmCommand(a), taskMergeCommand(a)),
		a.Parent("conditions", "list conditions: blockers of tasks in words, without an address", conditionsResolvedCommand(a)),
		a.Parent("condition", "change conditions: blockers of tasks in words, without an address", conditionResolveCommand(a)),
		a.Parent("artifact", "change artifacts: blockers of tasks with an address, such as a pull request", artifactCloseCommand(a)),
	}
}
