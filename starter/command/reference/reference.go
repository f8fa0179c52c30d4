// Package reference has the commands that describe the program: event types, completion, manual pages.
package reference

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		a.Parent("events", "list the types of events in the log", eventTypesCommand(a)), completionCommand(a), manCommand(a),
	}
}
