// Package builds has the commands that show, compare, retry and replay builds.
package builds

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		a.Parent("builds", "list, show, compare, retry and replay builds: each run over a session that found something to do",
			listCommand(a), showCommand(a), stepsCommand(a), daysCommand(a), batchesCommand(a), retryCommand(a), replayCommand(a),
			diffCommand(a)),
		backfillCommand(a),
	}
}
