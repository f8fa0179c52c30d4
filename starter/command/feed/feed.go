// Package feed has the commands that turn sessions into memory.
package feed

import (
	"github.com/spf13/cobra"

	"axiommind/starter/command"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		processCommand(a), migrateCommand(a), enqueueCommand(a),
		command.With(queueCommand(a), command.Repeated(queueCommand(a), "show"), queueFlushCommand(a)), watchCommand(a),
		sessionsCommand(a), a.Parent("session", "read a session, and its originals", sessionShowCommand(a), sessionReadCommand(a)),
	}
}
