// Package recall has the commands that find, show and correct memories.
package recall

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group, but mcp.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		searchCommand(a),
		a.Parent("entry", "show, confirm, correct and retire memories", entryShowCommand(a), entryCorrectCommand(a),
			entryConfirmCommand(a), entryRetireCommand(a), entryRestoreCommand(a)),
		contextCommand(a), healthCommand(a),
	}
}
