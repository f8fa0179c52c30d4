// Package dreams has the commands of dreams, core memory and schedules.
package dreams

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		command.With(dreamCommand(a), dreamShowCommand(a), dreamListCommand(a)),
		a.Parent("memory", "show, compare and restore core memory", memoryShowCommand(a), memoryHistoryCommand(a),
			memoryDiffCommand(a), memoryRestoreCommand(a)),
		a.Parent("schedule", "create and watch schedules of nightly dreams; the only one needs no name", scheduleApplyCommand(a),
			scheduleListCommand(a), scheduleShowCommand(a), schedulePauseCommand(a), scheduleResumeCommand(a),
			scheduleTriggerCommand(a), scheduleBackfillCommand(a), scheduleDeleteCommand(a)),
	}
}
